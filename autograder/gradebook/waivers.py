"""Waived exercises: what ``waivers.toml`` in the course's folder says, with a reason and a date that everybody reads.

``full`` gives everybody who handed in all points of the exercise; ``drop`` takes the exercise out of every sum.
Verdicts and the gradebook stay as they are, so that a waiver can be taken back.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, cast

from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.gradebook.read import Key
from autograder.model.plain_text import meant, one_line, read_toml, toml_text

NAME = "waivers.toml"
Counts = Literal["full", "drop"]
_COUNTS = ("full", "drop")
_KEYS = {"assignment": str, "notebook": str, "exercise": str, "counts": str, "reason": str, "date": date}
_HEADER = "# Exercises that do not count as they were graded; written by 'autograder waive', read by every command.\n"


@dataclass(frozen=True)
class Waiver:
    """How one exercise counts for everybody, since when and why. Students read the reason."""

    assignment: str
    notebook: str
    exercise: str
    counts: Counts
    reason: str
    date: date

    @property
    def key(self) -> Key:
        return self.notebook, self.exercise

    @property
    def text(self) -> str:
        """In words, for feedback, report and exports."""
        what = "full points for everybody" if self.counts == "full" else "does not count"
        return f"waived, {what} ({self.reason}, {self.date.isoformat()})"


def read_waivers(root: Path) -> tuple[Waiver, ...]:
    """Every waiver of the course, in the file's order. Raises GradingError where the file says something else."""
    path = root / NAME
    try:
        data = read_toml(path)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise GradingError(f"{NAME} cannot be read: {error}; mend it, or delete it") from error
    unknown = set(data) - {"waiver"}
    entries = data.get("waiver", [])
    if unknown or not isinstance(entries, list):
        raise GradingError(f"{NAME}: expected tables [[waiver]] alone, got {', '.join(sorted(unknown)) or 'a value'}")
    found = tuple(_waiver(entry, number) for number, entry in enumerate(entries, start=1))
    seen: set[tuple[str, str, str]] = set()
    for one in found:
        name = (one.assignment, *one.key)
        if name in seen:
            raise GradingError(f"{NAME}: {one.exercise} of {one.assignment} is waived twice; keep one of the two")
        seen.add(name)
    return found


def _waiver(entry: Any, number: int) -> Waiver:
    where = f"{NAME}: waiver {number}"
    if not isinstance(entry, dict):
        raise GradingError(f"{where}: expected a table [[waiver]], got {entry!r}")
    for key in entry:
        if key not in _KEYS:
            near = meant(key, _KEYS)
            raise GradingError(f"{where}: unknown key {key!r}{near and f'; {near}'}")
    for key, kind in _KEYS.items():
        value = entry.get(key)
        if type(value) is not kind or not value:
            expected = "a date such as 2026-11-20" if kind is date else "a text"
            raise GradingError(f"{where}: expected {key} = {expected}, got {value!r}")
    if entry["counts"] not in _COUNTS:
        raise GradingError(f'{where}: expected counts = "full" or "drop", got {entry["counts"]!r}')
    return Waiver(**{**entry, "reason": one_line(entry["reason"])})


def waivers_of(root: Path, assignment: str, exercises: Collection[Key]) -> Mapping[Key, Waiver]:
    """The waivers of one assignment. Raises GradingError for one that names no exercise of it.

    exercises: those that the assignment has; empty where nobody knows, and then every name is taken.
    """
    found = {one.key: one for one in read_waivers(root) if one.assignment == assignment}
    for one in found.values():
        if exercises and one.key not in exercises:
            near = meant(one.exercise, [cell for _, cell in exercises])
            raise GradingError(
                f"{NAME}: {assignment} has no exercise {one.exercise!r} in {one.notebook!r}"
                f"{near and f'; {near}'}: correct the name, or delete the waiver"
            )
    return found


def write_waivers(root: Path, waivers: Sequence[Waiver]) -> None:
    """Replace the file; lines of comment at its top stay. Nothing stays of an empty one."""
    path = root / NAME
    if not waivers:
        path.unlink(missing_ok=True)
        return
    blocks = [_block(one) for one in waivers]
    write_file(path, "\n".join([_comment(path) or _HEADER, *blocks]).encode())


def _comment(path: Path) -> str:
    lines = toml_text(path.read_bytes()).splitlines() if path.is_file() else []
    top = []
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            break
        top.append(line)
    return "\n".join(top).rstrip() + "\n" if any(top) else ""


def _block(one: Waiver) -> str:
    texts = {key: cast(str, getattr(one, key)) for key, kind in _KEYS.items() if kind is str}
    lines = [f"{key} = {_quoted(text)}" for key, text in texts.items()]
    return "\n".join(["[[waiver]]", *lines, f"date = {one.date.isoformat()}", ""])


def _quoted(text: str) -> str:
    """As TOML has it: JSON's rules, and one character more that must be written in digits."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
