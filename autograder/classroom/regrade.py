"""Why a submission is graded again, in words for the table."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.classroom.journal import Entry
from autograder.model.limits import Limits
from autograder.pipeline.fingerprint import Parts, limits_matter

#: kind of part -> (one, several)
_WORDS = {
    "rule": ("rule of {}", "rules of {}"),
    "points": ("points of {}", "points of {}"),
    "cell": ("cell {}", "cells {}"),
    "inputs": ("stored inputs of {}", "stored inputs of {}"),
    "expected": ("expected answers of {}", "expected answers of {}"),
    "notebook": ("notebook {}", "notebooks {}"),
    "file": ("file {}", "files {}"),
}
_WHOLE = {
    "grader": "the grader",
    "judge": "how the grader judges",
    "course library": "the course library",
    "environment": "Python or a library",
    "deliverables": "the files to hand in",
}
_NAMED = 3  # so many parts of a kind are named, more are counted


def reasons(entry: Entry, trusted: Parts, submission: Parts, limits: Limits) -> tuple[str, ...]:
    """What has changed since a submission was graded; nothing where its grade still stands."""
    found = ["a new submission"] if entry.submission != submission else []
    changed = [name for name in {**entry.trusted, **trusted} if entry.trusted.get(name) != trusted.get(name)]
    found += [f"{what} changed" for what in described(changed)]
    if limits_matter(entry.limits, entry.cut, entry.slowest, entry.seconds, limits):
        found.append("time limit changed")
    return tuple(found)


def described(changed: list[str]) -> Iterable[str]:
    """Parts of a fingerprint, in words: ``cell mean``."""
    told = set(changed) - ({"judge"} if "grader" in changed else set())  # a new version of it changes both
    yield from (words for part, words in _WHOLE.items() if part in told)
    for kind, (one, several) in _WORDS.items():
        names = [name.removeprefix(f"{kind} ") for name in changed if name.startswith(f"{kind} ")]
        if len(names) == 1:
            yield one.format(names[0])
        elif names:
            yield several.format(", ".join(names) if len(names) <= _NAMED else f"{len(names)} {_counted(kind)}")


def _counted(kind: str) -> str:
    return "" if kind in ("cell", "notebook", "file") else "exercises"
