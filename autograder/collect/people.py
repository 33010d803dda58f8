"""Who sent what: the names that LMSs give to files, and the teacher's own list of names."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from autograder.errors import GradingError

Kind = Literal["canvas", "moodle", "github"]

_SAFE = re.compile(r"\w[\w.@-]{0,99}")
# Canvas's own code (instructure/canvas-lms, app/models/content_zipper.rb) names a file after the sortable name without
# what is no word character, LATE where it was late, the user's id, the attachment's id, and the file's own name.
_CANVAS = re.compile(r"(?=_(?:LATE_)?(\d+)_\d+_(.+)$)")
# Moodle's (moodle/moodle, mod/assign/locallib.php): full name, participant's number, plug-in; then folder or file.
_MOODLE = re.compile(r"(?=_(\d+)_assignsubmission_(?:file|onlinetext)_(.*)$)")
_RESUBMITTED = re.compile(r"(.+)-(\d{1,3})(\.[^.]+)")


@dataclass(frozen=True)
class Person:
    """``id``: the LMS's own, which tells people of the same name apart; ``name``: as the LMS wrote it."""

    id: str
    name: str

    def student(self, names: Mapping[str, str]) -> str:
        """The student's id in the course: the teacher's, or one made of name and number."""
        if self.id in names:
            return names[self.id]
        if self.name == self.id:
            return re.sub(r"[^\w-]", "", self.id).lstrip("-") or "nobody"
        word = re.sub(r"\W", "", unicodedata.normalize("NFC", self.name)).strip("_")[:60]
        return f"{word}-{self.id}" if word else self.id


@dataclass(frozen=True)
class Sent:
    """One file of one person. ``attempt`` counts up where a file was handed in again."""

    person: Person
    filename: str
    attempt: int = 0


def canvas(path: str, expected: frozenset[str]) -> Iterator[Sent]:
    """Every way to read a name from Canvas's zip; more than one where a person's name imitates an id."""
    name = path.rsplit("/", 1)[-1]
    for match in _CANVAS.finditer(name):
        if name[: match.start()].endswith("_LATE"):
            continue  # the same way once more, without its mark
        filename, attempt = match[2], 0
        again = _RESUBMITTED.fullmatch(filename)
        if again and again[1] + again[3] in expected:
            filename, attempt = again[1] + again[3], int(again[2])
        yield Sent(Person(match[1], name[: match.start()]), filename, attempt)


def moodle(path: str, expected: frozenset[str]) -> Iterator[Sent]:
    """Every way to read a path from Moodle's zip, with folders or without."""
    first, _, rest = path.partition("/")
    for match in _MOODLE.finditer(first):
        filename = rest or match[2]
        if filename:
            yield Sent(Person(match[1], first[: match.start()]), filename)


def read_names(path: Path) -> dict[str, str]:
    """LMS id -> student, from a CSV with the columns ``id`` and ``student``. Raises GradingError for a wrong one."""
    names: dict[str, str] = {}
    for number, row in _rows(path, ("id", "student")):
        student = row["student"].strip()
        if not _SAFE.fullmatch(student):
            raise GradingError(f"{path}, line {number}: {student!r} cannot name a folder: letters, digits, . _ @ -")
        if row["id"].strip() in names or student in names.values():
            raise GradingError(f"{path}, line {number}: {row['id']} or {student} is there twice")
        names[row["id"].strip()] = student
    return names


def read_moments(path: Path) -> dict[str, datetime]:
    """LMS id or student -> when it came in, from a CSV with the columns ``id`` and ``time`` (ISO, with a zone)."""
    moments: dict[str, datetime] = {}
    for number, row in _rows(path, ("id", "time")):
        try:
            moment = datetime.fromisoformat(row["time"].strip())
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            expected = "expected a time such as 2026-11-21T18:00:00+01:00"
            raise GradingError(f"{path}, line {number}: {expected}, not {row['time']!r}")
        moments[row["id"].strip()] = moment
    return moments


def _rows(path: Path, columns: tuple[str, str]) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if not set(columns) <= set(reader.fieldnames or ()):
                raise GradingError(f"{path}: expected the columns {' and '.join(columns)}, not {reader.fieldnames}")
            for row in reader:
                yield reader.line_num, {name: row[name] or "" for name in columns}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise GradingError(f"{path} cannot be read: {error}") from error
