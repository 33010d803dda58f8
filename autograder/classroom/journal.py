"""What has been graded already, and from what, so that a killed run goes on and a change is graded again.

One line of JSON per submission, appended and synced after its grades are in the gradebook. A line torn by a crash is
ignored: that submission is graded again. Other lines say what the trusted side was (it is the same for many
submissions) and for whom a run with ``--force`` began.

A class may be large: what is kept in memory of a line is where in the file it begins, and it is read again when it is
asked for.

One run at a time for each assignment: two would write the same folders and the same rows.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from autograder.errors import GradingError
from autograder.files.atomic import append
from autograder.model.limits import Limits
from autograder.pipeline.fingerprint import Parts, digest, limits_matter


@dataclass(frozen=True)
class Entry:
    """How a submission came to its grade.

    ``trusted`` and ``submission`` are the parts it was made from. ``seconds`` is what grading took, ``slowest`` what
    its slowest cell took, ``cut`` is true where a limit ended a cell; ``limits`` tells the limits of then from others.
    """

    trusted: Parts
    submission: Parts
    seconds: float = 0.0
    slowest: float = 0.0
    cut: bool = False
    limits: str = ""


class Journal:
    """The submissions to one assignment that have been graded: what their grades were made from."""

    def __init__(self, root: Path, assignment: str) -> None:
        self.path = root / ".autograder" / f"{assignment}.jsonl"
        self._states: dict[str, Parts] = {}
        self._last: dict[str, int] = {}  # student -> where the line about their last grade begins
        self._without: set[str] = set()  # of those, who has no grade any more
        self._chosen: list[str] = []  # whom the last run with --force was for
        self._forced: set[str] = set()  # of those, whom it is still to grade
        for start, line in self._lines():
            try:
                self._take(json.loads(line), start)
            except (ValueError, KeyError, TypeError, AttributeError):
                continue

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Every line, and where it begins."""
        start = 0
        try:
            with self.path.open("rb") as stream:
                for line in stream:
                    yield start, line.decode(errors="replace")
                    start += len(line)
        except FileNotFoundError:
            return
        except OSError as error:
            raise GradingError(f"{self.path} cannot be read: {error.strerror}") from error

    def _take(self, line: dict[str, Any], start: int) -> None:
        if "parts" in line:
            self._states[str(line["trusted"])] = dict(line["parts"])
        elif "forced" in line:
            self._forget(list(map(str, line["forced"] or ())))
        else:
            student = str(line["student"])
            self._has_none(student)
            if "failed" not in line:
                self._entry_of(line)  # a line that makes no entry is none
                self._has_one(student, start)

    def _entry_of(self, line: dict[str, Any]) -> Entry:
        said = {name: value for name, value in line.items() if name not in ("student", "trusted")}
        return Entry(self._states[str(line["trusted"])], **said)

    def _has_one(self, student: str, start: int) -> None:
        self._last[student] = start
        self._without.discard(student)
        self._forced.discard(student)

    def _has_none(self, student: str) -> None:
        if student in self._last:
            self._without.add(student)
        self._forced.discard(student)

    def _forget(self, chosen: list[str]) -> None:
        self._chosen, self._forced = chosen, self._last.keys() & set(chosen)
        self._without |= self._forced

    def entry(self, student: str) -> Entry | None:
        """What the grade of a student was made from; None where there is no grade, or nobody knows."""
        return None if student in self._without else self.last(student)

    def last(self, student: str) -> Entry | None:
        """How a student was graded last, whether or not that grade still holds."""
        if student not in self._last:
            return None
        with self.path.open("rb") as stream:
            stream.seek(self._last[student])
            line = stream.readline()
        try:
            said = json.loads(line)
            if said["student"] == student:
                return self._entry_of(said)
        except (ValueError, KeyError, TypeError):
            pass
        raise GradingError(f"{self.path} was changed while it was read: start the same command again")

    def graded(self) -> list[str]:
        """The students with a grade; whose was made last comes last."""
        return sorted(self._last.keys() - self._without, key=self._last.__getitem__)

    def saved(self, student: str, entry: Entry) -> None:
        """Note that a submission's grades are in the gradebook. On disk when this returns."""
        state = digest(entry.trusted)
        if state not in self._states:
            self._append({"trusted": state, "parts": entry.trusted})
            self._states[state] = entry.trusted
        line = {field.name: getattr(entry, field.name) for field in fields(entry)}
        self._has_one(student, self._append({"student": student, **line, "trusted": state}))

    def failed(self, student: str, why: str) -> None:
        """Note that a submission has no grade, whatever an earlier line says."""
        self._append({"student": student, "failed": why})
        self._has_none(student)

    def is_forcing(self, students: Iterable[str]) -> bool:
        """Whether a run with ``--force`` for just these students was interrupted."""
        return bool(self._forced) and self._chosen == sorted(students)

    def force(self, students: Iterable[str]) -> None:
        """Forget from what the grades of these students were made, so that they are graded again."""
        chosen = sorted(students)
        self._append({"forced": chosen})
        self._forget(chosen)

    def _append(self, line: Mapping[str, object]) -> int:
        return append(self.path, json.dumps(line).encode() + b"\n")


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
    "groups": "groups.toml",
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
            more = "" if kind in ("cell", "notebook", "file") else "exercises"
            yield several.format(", ".join(names) if len(names) <= _NAMED else f"{len(names)} {more}")


@contextlib.contextmanager
def only_run(root: Path, assignment: str) -> Iterator[None]:
    """Hold the assignment while it is graded. The system lets go of it when this process ends, however it ends.

    Raises GradingError where another run holds it.
    """
    folder = root / ".autograder"
    holder = folder / f"{assignment}.pid"  # beside the lock: whoever asks for that empties it
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{assignment}.lock", timeout=0, mode=0o660)
        lock.acquire()
    except Timeout as error:
        raise GradingError(
            f"another run is grading {assignment} (pid {_read(holder)}): wait until it has ended, or stop it"
        ) from error
    except OSError as error:
        raise GradingError(f"{folder} cannot be written: {error.strerror or error}") from error
    with contextlib.suppress(OSError):
        holder.write_text(str(os.getpid()), encoding="utf-8")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            holder.unlink()
        lock.release()


def _read(holder: Path) -> str:
    try:
        return holder.read_text(encoding="utf-8").strip() or "unknown"
    except OSError:
        return "unknown"
