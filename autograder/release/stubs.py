"""What ``autograder new`` wrote and nobody has filled in: no assignment with a stub in it is released."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.course import Course
from autograder.references.store import FOLDER

#: Stands in everything that is to be filled in, with a few words on what goes there.
MARK = "STUB: "
_STUB = re.compile(re.escape(MARK) + r"([^\"\n|]*)")


def require_filled_in(course: Course, assignment: Assignment) -> None:
    """Raises GradingError with the first stub of an assignment, and how many more there are."""
    found = list(stubs(course, assignment))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise GradingError(f"{assignment.name}: {found[0]}{more}; fill it in")


def stubs(course: Course, assignment: Assignment) -> Iterator[str]:
    """Every place that is still a stub, each in one line that names file or cell."""
    for name, notebook in assignment.source.items():
        for number, cell in enumerate(notebook.cells):
            where = f"{name}.ipynb, cell '{cells.grade_id(cell) or cell.get('id', number)}'"
            yield from (f"{where} is a stub: {what}" for what in _found(cell.source))
    folders = [course.root / FOLDER / assignment.name]
    if course.file.checks:
        folders.append(course.root.joinpath(*course.file.checks.split("."), assignment.name))
    for path in (path for folder in folders for path in sorted(folder.rglob("*.py"))):
        yield from (f"{path.relative_to(course.root)} is a stub: {what}" for what in _found(_text(path)))


def _found(text: str) -> list[str]:
    return [match[1].strip() for match in _STUB.finditer(text)]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
