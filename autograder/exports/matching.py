"""Which line of another system's table is which student. Nobody is matched by a guess: two that fit are none."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from autograder.exports.sheet import Sheet
from autograder.gradebook.read import Student
from autograder.gradebook.results import StudentResult
from autograder.gradebook.roster import Roster
from autograder.model.plain_text import one_form

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
    """The students without a line."""
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
