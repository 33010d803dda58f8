"""Visible checks that are made of packs: the rule that grading has, on public cases.

``autograder references`` writes the packs, and the copy of the rules in ``_rules``. Neither the grader nor a hidden
case is needed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from course.check import _rules
from course.check._rules.model import Case, Rule
from course.check._rules.pack import Found, Pack, judge_public, unpack
from course.check.base import CheckFailed, is_stub, passed, running

FOLDER = Path(__file__).with_name("_packs")
#: Of a row with more numbers the first are shown.
MAX_NUMBERS = 8


def generated(package: str) -> dict[str, Callable[..., Any]]:
    """name -> check, for every pack of an assignment. package: its package of checks, which has a module ``calls``."""
    folder = FOLDER / package.rpartition(".")[2]
    return {path.stem: _check(package, path) for path in sorted(folder.glob("*.npz"))}


def _check(package: str, path: Path) -> Callable[..., None]:
    name = path.stem

    def check(*given: Any) -> None:
        pack = _pack(package, path)
        call = getattr(import_module(f"{package}.calls"), name)

        def called(case: Any) -> Mapping[str, Any]:
            with running(name, _described(pack.cases[case.index])):
                answers: Mapping[str, Any] = call(*given, case)
                return answers

        with _quiet(pack.exercise.framework):
            try:
                found = judge_public(pack, called)
            except CheckFailed as stopped:
                if stopped.__cause__ is not None and not is_stub(stopped.__cause__):
                    _explain(package, name, given)
                raise
        if found.earned < 1:
            first = found.checks[0]
            if not first.mistake:
                _explain(package, name, given)
            raise CheckFailed(name, first.message, _seen(found), first.hint)
        passed(name, *pack.exercise.shows, *_notes(package, name, given))

    check.__name__ = check.__qualname__ = name
    return check


def _explain(package: str, name: str, given: tuple[Any, ...]) -> None:
    """Where no known mistake has been made: raises CheckFailed for a property that the answer lacks.

    Properties are in the package's module ``_properties``, in a function of the exercise's name.
    """
    properties = getattr(import_module(package), "_properties", None)
    if has_property := getattr(properties, name, None):
        try:
            has_property(*given)
        except CheckFailed:
            raise
        except Exception:  # an answer of another shape, say: the rule's own words fit better
            return


def _notes(package: str, name: str, given: tuple[Any, ...]) -> list[str]:
    """What is worth a word where the answer is right: from the properties' function ``<name>_notes``."""
    properties = getattr(import_module(package), "_properties", None)
    notes: Callable[..., list[str]] = getattr(properties, f"{name}_notes", lambda *given: [])
    return notes(*given)


@lru_cache
def _pack(package: str, path: Path) -> Pack:
    def rule(name: str) -> Rule:
        module = _rules if not name.startswith("_rules.") else import_module(f"{package}._rules")
        found: Rule = getattr(module, name.rpartition(".")[2])
        return found

    return unpack(path.read_bytes(), f"{path.parent.name}/{path.stem}", rule)


@contextmanager
def _quiet(framework: str) -> Iterator[None]:
    """A check does not move torch's random numbers on: a seeded notebook stays seeded."""
    if framework != "torch":
        yield
        return
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def _described(case: Case) -> str:
    """The case in a few words: its settings, and the shapes of its inputs, but for those that stand for other parts."""
    settings = [f"{key} = {value}" for key, value in case.config.items() if isinstance(value, int | float | str)]
    shapes = [f"{key} of shape {x.shape}" for key, x in case.inputs.items() if not key.startswith("stand_in")]
    return ", ".join([*settings, *shapes])


def _seen(found: Found) -> str:
    """Where it was seen, with the first row of numbers that differs: the case is a public one."""
    lines = [f"Seen with {_described(found.where)}."]
    for name, want in found.where.expected.items():
        got = found.answers.get(name)
        if got is None or got.shape != want.shape or want.dtype.kind != "f" or not want.ndim:
            continue
        for place in np.ndindex(want.shape[:-1]):
            if not np.allclose(got[place], want[place], atol=1e-4, rtol=1e-3):
                row = f" in row {', '.join(map(str, place))}" if place else ""
                lines.append(f"Yours has {_numbers(got[place])}{row}; right is {_numbers(want[place])}.")
                return "\n".join(lines)
    return "\n".join(lines)


def _numbers(row: np.ndarray) -> str:
    shown = " ".join(f"{value:.3g}" for value in row[:MAX_NUMBERS])
    return shown + (" …" if row.size > MAX_NUMBERS else "")
