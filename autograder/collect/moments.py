"""The instructor's lists: whose LMS id is whose, and when each submission came in."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import datetime, tzinfo
from pathlib import Path

from dateutil import parser

from autograder.errors import GradingError
from autograder.exports.sheet import Sheet, original, read_sheet

_SAFE = re.compile(r"\w[\w.@-]{0,99}")
#: Moodle's grading worksheet: the column with the time, and what says who it is.
MOODLE_TIME = "Last modified (submission)"
_MOODLE_WHO = ("ID number", "Username", "Email address")
_EXAMPLE = "expected a time such as 2026-11-21T18:00:00+01:00"


def read_names(path: Path) -> dict[str, str]:
    """LMS id -> student, from a CSV with the columns ``id`` and ``student``. Raises GradingError for a wrong one."""
    names: dict[str, str] = {}
    for number, (key, student) in _rows(read_sheet(path), path, "id", "student"):
        if not _SAFE.fullmatch(student):
            raise GradingError(f"{path}, line {number}: {student!r} cannot name a folder: letters, digits, . _ @ -")
        if key in names or student in names.values():
            raise GradingError(f"{path}, line {number}: {key} or {student} is there twice")
        names[key] = student
    return names


def read_moments(path: Path, zone: tzinfo | None = None) -> dict[str, datetime]:
    """LMS id or student -> when it came in (aware).

    path: a CSV with the columns ``id`` and ``time``, or Moodle's grading worksheet as it is; commas or semicolons.
    zone: of times that name none. Raises GradingError for a time that can be read in two ways, or in none.
    """
    sheet = read_sheet(path)
    moments: dict[str, datetime] = {}
    for number, (key, text) in (
        _moodle(sheet) if sheet.column(MOODLE_TIME) is not None else _rows(sheet, path, "id", "time")
    ):
        moment = _moment(text, zone, f"{path}, line {number}")
        if moments.setdefault(key, moment) != moment:
            raise GradingError(f"{path}, line {number}: {key} is there twice, with another time")
    return moments


def _rows(sheet: Sheet, path: Path, *columns: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    places = [sheet.column(name) for name in columns]
    if None in places:
        raise GradingError(f"{path}: expected the columns {' and '.join(columns)}, not {', '.join(sheet.header)}")
    for number, line in enumerate(sheet.lines, start=2):
        yield number, tuple(original(line[place]).strip() for place in places if place is not None)


def _moodle(sheet: Sheet) -> Iterator[tuple[int, tuple[str, str]]]:
    """Everybody's participant number, which the zip has too, and whatever else tells who they are."""
    when, participant = sheet.column(MOODLE_TIME), sheet.column("Identifier")
    others = [place for name in _MOODLE_WHO if (place := sheet.column(name)) is not None]
    for number, line in enumerate(sheet.lines, start=2):
        text = line[when or 0].strip()
        if text in ("", "-"):
            continue  # handed in nothing
        digits = re.search(r"\d+\Z", line[participant].strip()) if participant is not None else None
        for key in {digits[0] if digits else "", *(original(line[place]).strip() for place in others)} - {""}:
            yield number, (key, text)


def _moment(text: str, zone: tzinfo | None, where: str) -> datetime:
    moment = _iso(text) or _written_out(text)
    if moment is None:
        raise GradingError(f"{where}: {_EXAMPLE}, not {text!r}")
    if moment.tzinfo is None and zone is None:
        raise GradingError(
            f'{where}: {text!r} names no time zone: add one (+01:00), or timezone = "Europe/Berlin" in late_policy.toml'
        )
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if len(text) > len("2026-11-21") else None  # a day alone is no moment
    except ValueError:
        return None


def _written_out(text: str) -> datetime | None:
    """``Friday, 20 November 2026, 9:00 AM``; None where day and month could be exchanged, or one is missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a time zone that is not known
            found = {
                parser.parse(text, dayfirst=dayfirst, default=default)
                for dayfirst in (True, False)
                for default in (datetime(2000, 1, 1, 0, 0), datetime(2001, 2, 2, 1, 1, 0))
            }
    except (ValueError, OverflowError, Warning):
        return None
    return found.pop() if len(found) == 1 else None
