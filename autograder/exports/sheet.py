"""Tables as CSV: quoted as RFC 4180 has it, in UTF-8, and without a cell that a spreadsheet would take for a formula.

A name such as ``=HYPERLINK(...)`` runs when an instructor opens the file. OWASP ("CSV Injection", owasp.org) puts an
apostrophe before ``=``, ``+``, ``-``, ``@``, tab, carriage return and line feed, and warns of separators inside of a
cell: where a spreadsheet splits at semicolons, what stands after one begins a cell. :func:`neutral` does both,
:func:`original` takes it back: nothing of a name is lost. Numbers that we write are numbers and stay as they are.

Which line of another system's table is which student: nobody is matched by a guess, two that fit are none.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.errors import GradingError
from autograder.gradebook.read import Student
from autograder.gradebook.results import StudentResult
from autograder.gradebook.roster import Roster
from autograder.model.plain_text import one_form

Cell = str | float | None

MAX_BYTES = 32 << 20
_FORMULA = "[ \"']*[=+\\-@＝＋－＠]"
_BEGINS = "[ \"']*[=+\\-@＝＋－＠\\t\\r\\n\\0]"
_DANGER = re.compile(rf"\A(?={_BEGINS})|(?<=[,;\t\r\n])(?={_FORMULA})")
_NEUTRAL = re.compile(rf"\A'(?={_BEGINS})|(?<=[,;\t\r\n])'(?={_FORMULA})")
_SEPARATOR = re.compile(r"\"?sep=([,;\t])\"?\r?\n", re.IGNORECASE)
_WHOLE = re.compile(r"(\d+)[.,]0+")
_SHORTENED = re.compile(r"\d[.,]?\d*E\+\d+", re.IGNORECASE)
_NUMBER = re.compile(r"-|[+-]?\d+([.,]\d+)?%?")


def neutral(text: str) -> str:
    """``text`` with an apostrophe wherever a spreadsheet would begin a formula; a plain number stays."""
    return text if _NUMBER.fullmatch(text) else _DANGER.sub("'", text)


def original(text: str) -> str:
    """The inverse of :func:`neutral`."""
    return _NEUTRAL.sub("", text)


def number(value: float, digits: int = 6) -> str:
    """Without zeros at the end and never as 1e-05; the decimal sign is a point."""
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def to_csv(rows: Iterable[Sequence[Cell]], *, digits: int = 6, bom: bool = False) -> bytes:
    """Lines end in CRLF; None is an empty cell. bom: for a spreadsheet, which takes the file for Latin-1 without it."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    for row in rows:
        writer.writerow([_text(cell, digits) for cell in row])
    return stream.getvalue().encode("utf-8-sig" if bom else "utf-8", "replace")


def _text(cell: Cell, digits: int) -> str:
    if cell is None:
        return ""
    return neutral(cell) if isinstance(cell, str) else number(cell, digits)


@dataclass(frozen=True)
class Sheet:
    """A table that the instructor gave: another system's own export. Every line is as long as the header."""

    name: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]

    def column(self, *names: str) -> int | None:
        """Where the first of these columns stands; capitals do not matter."""
        found = [title.strip().casefold() for title in self.header]
        return next((found.index(name.casefold()) for name in names if name.casefold() in found), None)


def read_sheet(path: Path) -> Sheet:
    """As LMSs and Excel write it: UTF-8, UTF-16 or Windows-1252; commas, semicolons or tabs; perhaps a line ``sep=;``.

    Raises GradingError where the file is no such table.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise GradingError(f"{path}: expected a table of at most {MAX_BYTES >> 20} MB")
        text = one_form(_decoded(data))
        said = _SEPARATOR.match(text)
        text = text[said.end() :] if said else text
        first = text.partition("\n")[0]
        delimiter = said[1] if said else max(",;\t", key=first.count)
        header, *lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise GradingError(f"{path}: expected text: save it as 'CSV UTF-8', not as a workbook") from error
    except (csv.Error, ValueError) as error:
        raise GradingError(f"{path}: expected a CSV file with a line of column names ({error})") from error
    width = len(header)
    whole = [line + [""] * (width - len(line)) for line in lines if any(cell.strip() for cell in line)]
    whole = [line[:width] if not any(line[width:]) else line for line in whole]
    if any(len(line) > width for line in whole):
        raise GradingError(f"{path}: a line has more cells than there are columns; download the file again")
    return Sheet(path.name, tuple(header), tuple(tuple(line) for line in whole))


def _decoded(data: bytes) -> str:
    """Excel writes UTF-16 as "Unicode Text", and Windows-1252 as "CSV"."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if b"\0" in data:
            raise  # a workbook, or another binary file
        return data.decode("cp1252")


def whole_number(text: str) -> str:
    """``101.0`` and ``101,0``, which a spreadsheet makes of the number 101, are ``101``; other texts stay.

    Raises ValueError for a number that a spreadsheet has shortened.
    """
    if _SHORTENED.fullmatch(text):
        raise ValueError(f"{text} was shortened by a spreadsheet: format the column as text, or take the list again")
    found = _WHOLE.fullmatch(text)
    return found[1] if found else text


@dataclass(frozen=True)
class ExportFile:
    """The file's bytes; ``notes`` for the instructor; ``left_out``: students who are not in the template."""

    data: bytes
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def number_in(text: str) -> float | None:
    """``50``, ``50.00`` and ``50,00``; None where it is no number."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def spoilt_keys(lines: Sequence[Sequence[Cell]], keys: Sequence[str]) -> tuple[str, ...]:
    """A note where a key begins like a formula. It is made harmless like every cell; the importer will not know it.

    lines: the header first. keys: the columns by which the importer finds a student.
    """
    header, *rows = lines
    places = [index for index, title in enumerate(header) if str(title).strip() in keys]
    spoilt = [cell for row in rows for index in places if isinstance(cell := row[index], str) and neutral(cell) != cell]
    if not spoilt:
        return ()
    return (f"written with an apostrophe, for they begin like a formula; match them by hand: {', '.join(spoilt[:10])}",)


Line = tuple[str, ...]
#: What a student may be called there, and what the line says.
Pass = tuple[Callable[[StudentResult], set[str]], Callable[[Line], str]]


def match(rows: Sequence[StudentResult], sheet: Sheet, passes: Sequence[Pass]) -> dict[int, StudentResult]:
    """Number of the line -> its student. The passes go from the surest sign to the weakest."""
    found: dict[int, StudentResult] = {}
    left = list(rows)
    for names, said in passes:
        open_lines = {number: said(line) for number, line in enumerate(sheet.lines) if number not in found}
        wanted = {row.student.id: names(row) - {""} for row in left}
        for row in left:
            lines = [number for number, name in open_lines.items() if name in wanted[row.student.id]]
            if len(lines) != 1:
                continue
            rivals = [student for student, called in wanted.items() if open_lines[lines[0]] in called]
            if len(rivals) == 1:
                found[lines[0]] = row
        taken = {row.student.id for row in found.values()}
        left = [row for row in left if row.student.id not in taken]
    return found


def known_as(rows: Iterable[StudentResult], roster: Roster) -> tuple[StudentResult, ...]:
    """The rows with the number by which one LMS knows each student, and its full name where nbgrader has none."""
    numbers = roster.number_of

    def known(student: Student) -> Student:
        called = sorted(roster.names.get(student.id, ()))
        name = student.last_name or ("" if student.first_name or len(called) != 1 else called[0])
        return replace(student, lms_user_id=numbers.get(student.id, ""), last_name=name)

    return tuple(replace(row, student=known(row.student)) for row in rows)


def left_out(rows: Sequence[StudentResult], found: dict[int, StudentResult]) -> tuple[str, ...]:
    matched = {row.student.id for row in found.values()}
    return tuple(row.student.id for row in rows if row.student.id not in matched)


def says(sheet: Sheet, *columns: str, change: Callable[[str], str] = str) -> Callable[[Line], str]:
    """Value of the first of these columns that exists, lower-cased."""
    index = sheet.column(*columns)
    return lambda line: "" if index is None else change(line[index].strip()).casefold()


def ids(row: StudentResult) -> set[str]:
    return {row.student.id.casefold()}


def lms_ids(row: StudentResult) -> set[str]:
    return {row.student.lms_user_id.strip().casefold()}


def emails(row: StudentResult) -> set[str]:
    return {row.student.email.strip().casefold(), row.student.id.casefold() if "@" in row.student.id else ""}


def names(row: StudentResult) -> set[str]:
    """First name first and last name first, and the id itself where it is made of a name."""
    first, last = row.student.first_name, row.student.last_name
    both = {squeezed(first + last), squeezed(last + first)} if last else set()
    return both | {squeezed(row.student.id)}


def local_part(address: str) -> str:
    return address.partition("@")[0] if "@" in address else ""


def digits(text: str) -> str:
    """``Participant 1234`` -> ``1234``."""
    found = re.search(r"\d+\Z", text)
    return found[0] if found else ""


def squeezed(name: str) -> str:
    """Letters and digits alone: ``Doe, Jane`` and ``doejane`` are one name."""
    return re.sub(r"[\W_]", "", one_form(name)).casefold()
