"""What students wrote themselves: the code of their answer cells and files, without the released text."""

import io
import keyword
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

import nbformat

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.errors import UnreadableSubmission
from autograder.model import cells
from autograder.model.course import Course

#: Of an answer (or of all cells of a student's own together) so much is compared; longer lines are data.
MAX_CHARACTERS, MAX_LINE = 50_000, 2000


@dataclass(frozen=True)
class Answer:
    """One student's code for one place: an answer cell, cells of their own, or a file."""

    student: str
    place: str
    source: str
    stub: str


def read_answers(course: Course, assignment: Assignment, students: list[str]) -> list[Answer]:
    """Every answer of the students named, from the autograded notebooks and the files that were handed in."""
    found: list[Answer] = []
    for student in students:
        for name, release in assignment.release.items():
            path = course.autograded(student, assignment.name) / f"{name}.ipynb"
            try:
                notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
            except (OSError, ValueError, nbformat.reader.NotJSONError):
                continue
            found.extend(_of_notebook(student, notebook, release))
        found.extend(_of_files(course, assignment, student))
    return found


def _of_notebook(student: str, notebook: nbformat.NotebookNode, release: nbformat.NotebookNode) -> Iterator[Answer]:
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells if cells.is_solution(cell)}
    handed_out = {cell.source.strip() for cell in release.cells}
    for cell in notebook.cells:
        if cell.cell_type != "code" or cells.is_locked(cell) or cell.source.strip() in handed_out:
            continue
        name = cells.grade_id(cell)
        if name is not None and name in stubs:
            yield Answer(student, name, cell.source, stubs[name])
        else:
            yield Answer(student, "cells of their own", cell.source, "")


def _of_files(course: Course, assignment: Assignment, student: str) -> Iterator[Answer]:
    if not assignment.deliverables:
        return
    try:
        sent = read_submission(course.submitted(student, assignment.name), student, assignment)
    except (UnreadableSubmission, OSError):
        return
    for name, data in sent.files.items():
        yield Answer(
            student, name, data.decode("utf-8", "replace"), assignment.files.get(name, b"").decode("utf-8", "replace")
        )


@dataclass(frozen=True)
class Token:
    """``kind`` as in :mod:`tokenize`. Comments and blank lines are none."""

    kind: int
    text: str

    @property
    def is_name(self) -> bool:
        return self.kind == tokenize.NAME and not keyword.iskeyword(self.text)


def tokens(source: str, handed_out: str = "") -> list[Token]:
    """The source's tokens, as far as it can be read; lines that were handed out are left out, comments or not.

    Of a very long source the beginning is read: no exercise needs as much, and long lines take long to take apart.
    """
    source, handed_out = _beginning(source), _beginning(handed_out)
    known = {_text(line) for line in _lines(handed_out)} if handed_out else set()
    return [token for line in _lines(source) if _text(line) not in known for token in line]


def _beginning(source: str) -> str:
    lines = source[:MAX_CHARACTERS].split("\n")
    return "\n".join(line for line in lines if len(line) <= MAX_LINE)


def _lines(source: str) -> list[list[Token]]:
    """The tokens, line by line as they stand in the file."""
    lines: dict[int, list[Token]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(cells.without_magics(source)).readline):
            if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER):
                lines.setdefault(token.start[0], []).append(Token(token.type, token.string))
    except (tokenize.TokenError, SyntaxError):
        pass  # what was read so far is enough to compare
    return list(lines.values())


def _text(line: list[Token]) -> str:
    return " ".join(token.text for token in line if token.text.strip())
