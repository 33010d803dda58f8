"""The instructor's lists: whose LMS number is whose, and when each submission came in.

Both may be the LMS's own table: Moodle's grading worksheet, Canvas's export of the gradebook.

A person chooses the names of their files, and on some servers their own name. So a file belongs to somebody only where
its whole name can be read in one way; :func:`owners` says of every other file why nobody has it.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Literal

from dateutil import parser

from autograder.errors import GradingError
from autograder.exports.sheet import Sheet, original, read_sheet, whole_number
from autograder.gradebook.read import Student
from autograder.model.plain_text import is_folder_name, one_form

Kind = Literal["canvas", "moodle", "github", "exchange"]

# Canvas's own code (instructure/canvas-lms, lib/content_zipper.rb) names a file after the sortable name without what is
# no word character, LATE where it was late, the user's id, the attachment's id, and the file's own name. A name may
# have underscores and digits in it, so the first pair of numbers need not be the ids.
_CANVAS = re.compile(r"(?=_(?:LATE_)?(\d+)_\d+_(.+)$)", re.DOTALL)
# where the assignment is graded anonymously, five letters or digits stand for the user
_ANONYMOUS = re.compile(r"(?:LATE_)?anon_[0-9A-Za-z]{5}_\d+_")
HIDDEN = "Canvas hides whose it is: turn anonymous grading off for this assignment, and download the zip again"
# Moodle's (moodle/moodle, mod/assign): full name without underscores, participant's number, plug-in; then a folder
# (since 4.1 without an underscore at its end), or the file's own name.
_MOODLE = re.compile(r"([^_/]*)_(\d+)_assignsubmission_(?:file|onlinetext)(?:_?/(.+)|_([^/]+))", re.DOTALL)
_RESUBMITTED = re.compile(r"(.+)-(\d{1,3})(\.[^.]+)")
# what browsers make of a file that is downloaded again, and LMSs of the space in it
_DOWNLOADED_AGAIN = re.compile(r"(.+?)(?:[ +_]|%20)*\(\d{1,3}\)(\.[^.]+)")
_SAVED_AS_TEXT = re.compile(r"(.+\.ipynb)\.(?:txt|json)", re.IGNORECASE)


@dataclass(frozen=True)
class Person:
    """``id``: the LMS's own, which tells people of the same name apart; ``name``: as the LMS wrote it.

    ``logins``, ``email``: what a server's API says besides.
    """

    id: str
    name: str
    logins: tuple[str, ...] = ()
    email: str = ""

    def __post_init__(self) -> None:
        for one in ("id", "name"):
            object.__setattr__(self, one, one_form(getattr(self, one)))

    @property
    def fallback(self) -> str:
        """What they are called in a course that has no other name for them."""
        if self.name == self.id:
            return self.id
        word = re.sub(r"\W", "", self.name).strip("_")[:60]
        return f"{word}-{self.id}" if word else self.id


@dataclass(frozen=True)
class UploadedFile:
    """One file of one person. ``attempt`` counts up where it was handed in again; ``late``: so marked by the LMS."""

    person: Person
    filename: str
    attempt: int = 0
    late: bool = False


def owners(kind: Kind, paths: Iterable[str], expected: frozenset[str]) -> dict[str, UploadedFile | str]:
    """Path in the zip of Canvas or Moodle -> whose it is; or the reason why it is nobody's.

    expected: the names of the files that the assignment asks for.
    """
    read = canvas if kind == "canvas" else moodle
    found: dict[str, UploadedFile | str] = {path: _only(list(read(path, expected)), expected) for path in paths}
    if kind == "canvas":
        found |= {path: HIDDEN for path in found if _ANONYMOUS.match(path.rsplit("/", 1)[-1])}
    names: dict[str, set[str]] = {}
    for sent in found.values():
        if isinstance(sent, UploadedFile):
            names.setdefault(sent.person.id, set()).add(sent.person.name)
    for path, sent in found.items():
        if isinstance(sent, UploadedFile) and len(names[sent.person.id]) > 1:
            those = " and ".join(sorted(names[sent.person.id])[:3])
            found[path] = f"the number {sent.person.id} comes under two names, {those}"
    return found


def _only(ways: list[UploadedFile], expected: frozenset[str]) -> UploadedFile | str:
    """The reading, where there is one.

    Of several the first counts where it leaves exactly a file that the assignment asks for: any other would take a
    number out of the instructor's own file name for an attachment's.
    """
    if not ways:
        return "its name does not say whose it is"
    if len(ways) > 1 and ways[0].filename not in expected:
        return "its name can be read in more than one way: rename it in the zip, or collect by the LMS's API"
    return ways[0]


def canvas(path: str, expected: frozenset[str]) -> Iterator[UploadedFile]:
    """Every way to read a name from Canvas's zip, from the left."""
    name = path.rsplit("/", 1)[-1]
    for match in _CANVAS.finditer(name):
        if name[: match.start()].endswith("_LATE"):
            continue  # the same way once more, without its mark
        filename, attempt = match[2], 0
        again = _RESUBMITTED.fullmatch(filename)
        if again and own_name(again[1] + again[3], expected) in expected:
            filename, attempt = again[1] + again[3], int(again[2])
        late = name[match.start() :].startswith("_LATE_")
        yield UploadedFile(Person(match[1], name[: match.start()]), own_name(filename, expected), attempt, late)


def moodle(path: str, expected: frozenset[str]) -> Iterator[UploadedFile]:
    """The way to read a path from Moodle's zip, with folders or without."""
    match = _MOODLE.fullmatch(path)
    if match is not None:
        yield UploadedFile(Person(match[2], match[1]), own_name(match[3] or match[4], expected))


def own_name(path: str, expected: frozenset[str]) -> str:
    """What a browser or an editor made of an expected name, taken back; ``1_attention (1).ipynb`` is one.

    Any other notebook keeps its name, with ``.ipynb`` at its end.
    """
    folder, slash, name = path.rpartition("/")
    known = {one_form(one).casefold(): one for one in expected}
    fitting = (known[form] for form in (one_form(form).casefold() for form in _forms(name)) if form in known)
    return f"{folder}{slash}{next(fitting, None) or _as_notebook(name)}"


def _forms(name: str) -> Iterator[str]:
    bare = _without_second_ending(name.strip())
    again = _DOWNLOADED_AGAIN.fullmatch(bare)
    yield from (name, bare)
    if again:
        yield again[1] + again[2]
    if bare.lower().endswith(".json"):
        yield f"{bare[: -len('.json')]}.ipynb"


def _as_notebook(name: str) -> str:
    bare = _without_second_ending(name.strip())
    return f"{bare[: -len('.ipynb')]}.ipynb" if bare.lower().endswith(".ipynb") else name


def _without_second_ending(name: str) -> str:
    match = _SAVED_AS_TEXT.fullmatch(name)
    return match[1] if match else name


#: Moodle's grading worksheet: the columns with the number, the time, and what says who it is.
MOODLE_NUMBER, MOODLE_TIME = "Identifier", "Last modified (submission)"
_MOODLE_LOGINS, _EMAIL = ("Username", "ID number"), "Email address"
_CANVAS_LOGINS = ("SIS Login ID", "SIS User ID")
_EXAMPLE = "expected a time such as 2026-11-21T18:00:00+01:00"


@dataclass(frozen=True)
class ListedPerson:
    """One line. ``student``: as the instructor calls them; empty where the LMS's own table says who it is.

    ``logins``: ids that an administrator gave; ``name``: the full name; ``first``, ``last``: where they stand apart.
    """

    id: str
    student: str = ""
    logins: tuple[str, ...] = ()
    email: str = ""
    name: str = ""
    first: str = ""
    last: str = ""


@dataclass(frozen=True)
class PeopleList:
    """``kind``: whose own table it is; None for the instructor's. ``people``: by the LMS's number."""

    file: str
    kind: Kind | None = None
    people: Mapping[str, ListedPerson] = field(default_factory=dict)


@dataclass(frozen=True)
class Moments:
    """When submissions came in (aware): by the LMS's number, and by what a student may be called in the course."""

    file: str = ""
    by_number: Mapping[str, datetime] = field(default_factory=dict)
    by_student: Mapping[str, datetime] = field(default_factory=dict)


def read_names(path: Path) -> PeopleList:
    """A CSV with the columns ``id`` and ``student``, or an LMS's own table. Raises GradingError for a wrong one."""
    sheet = read_sheet(path)
    kind: Kind | None = None
    if sheet.column(MOODLE_NUMBER) is not None:
        kind, lines = "moodle", _of_moodle(sheet)
    elif sheet.column("ID") == 1 and sheet.column("Student") == 0 and sheet.column("Section") is not None:
        kind, lines = "canvas", _of_canvas(sheet)
    else:
        lines = _of_instructor(sheet, path)
    people: dict[str, ListedPerson] = {}
    students: set[str] = set()
    for number, one in lines:
        if one.id in people or one.student in students:
            raise GradingError(f"{path}, line {number}: {one.id} or {one.student or one.name} is there twice")
        people[one.id] = one
        students |= {one.student} - {""}
    if not people:
        raise GradingError(f"{path} names nobody")
    return PeopleList(path.name, kind, people)


def read_class(path: Path) -> list[Student]:
    """Who is in the class: columns ``id``, ``first_name``, ``last_name``, ``email``, of which the first must be there;
    or an LMS's own table, by logins. Raises GradingError."""
    sheet = read_sheet(path)
    if sheet.column("id") is None or sheet.column("Section") is not None:
        listed = read_names(path).people.values()
        return [Student([*one.logins, one.email or one.id][0], one.last, one.first, one.email) for one in listed]
    found: dict[str, Student] = {}
    for number, line in enumerate(sheet.lines, start=2):
        said = _reader(sheet, line)
        id = said("id")
        if not is_folder_name(id) or id in found:
            what = "is there twice" if id in found else "cannot name a folder"
            raise GradingError(f"{path}, line {number}: the id {id!r} {what}")
        found[id] = Student(id, said("last_name"), said("first_name"), said("email"))
    return [*found.values()]


def _of_instructor(sheet: Sheet, path: Path) -> Iterator[tuple[int, ListedPerson]]:
    for number, (key, student) in _rows(sheet, path, "id", "student"):
        if not is_folder_name(student):
            raise GradingError(
                f"{path}, line {number}: {student!r} cannot name a folder: expected an id without slashes and control "
                "characters, and no dot or dash at its beginning"
            )
        yield number, ListedPerson(key, student)


def _of_moodle(sheet: Sheet) -> Iterator[tuple[int, ListedPerson]]:
    for number, line in enumerate(sheet.lines, start=2):
        said = _reader(sheet, line)
        digits = re.search(r"\d+\Z", said(MOODLE_NUMBER))
        if digits:
            name = said("Full name") or " ".join(filter(None, (said("First name"), said("Last name", "Surname"))))
            logins = tuple(filter(None, map(said, _MOODLE_LOGINS)))
            first, last = said("First name"), said("Last name", "Surname")
            yield number, ListedPerson(digits[0], "", logins, said(_EMAIL), name, first, last)


def _of_canvas(sheet: Sheet) -> Iterator[tuple[int, ListedPerson]]:
    """A line without a number is none of a student: the points possible, say. The test student has no login."""
    for number, line in enumerate(sheet.lines, start=2):
        said = _reader(sheet, line)
        logins = tuple(filter(None, map(said, _CANVAS_LOGINS)))
        if said("ID").isdigit() and logins:
            last, _, first = said("Student").partition(", ")
            email = next((login for login in logins if "@" in login), "")
            yield number, ListedPerson(said("ID"), "", logins, email, said("Student"), first, last)


def _reader(sheet: Sheet, line: tuple[str, ...]) -> Callable[..., str]:
    def said(*columns: str) -> str:
        place = sheet.column(*columns)
        return "" if place is None else original(line[place]).strip()

    return said


def read_moments(path: Path, zone: tzinfo | None = None) -> Moments:
    """A CSV with the columns ``id`` (the LMS's number, or the student) and ``time``, or Moodle's grading worksheet.

    zone: of times that name none. Raises GradingError for a time that can be read in two ways, or in none.
    """
    sheet = read_sheet(path)
    by_number: dict[str, datetime] = {}
    by_student: dict[str, datetime] = {}
    own = sheet.column(MOODLE_TIME) is None
    for number, key, others, text in _timed(sheet, path) if own else _moodle_times(sheet):
        moment = _moment(text, zone, f"{path}, line {number}")
        if key and by_number.setdefault(key, moment) != moment:
            raise GradingError(f"{path}, line {number}: {key} is there twice, with another time")
        by_student |= {name.casefold(): moment for name in others}
    return Moments(path.name, by_number, by_student)


def has_times(path: Path) -> bool:
    """Whether a list that says whose number is whose also says when submissions came in."""
    sheet = read_sheet(path)
    return sheet.column(MOODLE_TIME) is not None or None not in (sheet.column("id"), sheet.column("time"))


def _timed(sheet: Sheet, path: Path) -> Iterator[tuple[int, str, list[str], str]]:
    for number, (key, text) in _rows(sheet, path, "id", "time"):
        yield number, key, [key], text


def _moodle_times(sheet: Sheet) -> Iterator[tuple[int, str, list[str], str]]:
    """The participant's number, which the zip has too; and what the course may call them by."""
    for number, line in enumerate(sheet.lines, start=2):
        said = _reader(sheet, line)
        text = said(MOODLE_TIME)
        if text not in ("", "-"):  # else they handed in nothing
            digits = re.search(r"\d+\Z", said(MOODLE_NUMBER))
            others = [name for name in map(said, (*_MOODLE_LOGINS, _EMAIL)) if name]
            yield number, digits[0] if digits else "", others, text


def _rows(sheet: Sheet, path: Path, *columns: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The first column holds ids. Raises GradingError where a column is missing, or a spreadsheet has spoilt an id."""
    places = [sheet.column(name) for name in columns]
    if None in places:
        tables = "Moodle's grading worksheet, or Canvas's export of the gradebook; all in English"
        raise GradingError(
            f"{path}: expected the columns {' and '.join(columns)}, or {tables}; found {', '.join(sheet.header[:6])}"
        )
    for number, line in enumerate(sheet.lines, start=2):
        cells = [original(line[place]).strip() for place in places if place is not None]
        try:
            key, other = map(whole_number, cells)
        except ValueError as error:
            raise GradingError(f"{path}, line {number}: {error}") from error
        yield number, (key, other)


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
