"""The exercises of an assignment that people mark: what was asked, the model answer, the mark scheme's lines."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.assignment.assignment import Assignment
from autograder.feedback.words import exercise_titles, readable
from autograder.gradebook.read import Key
from autograder.model import cells
from autograder.pipeline.mark_scheme import SCHEME, model_answer


@dataclass(frozen=True)
class MarkedExercise:
    """``asked``: the instructor's text above the answer. ``comment_cell``: the cell that nbgrader hangs comments on;
    empty where there is none. ``always``: a person marks it for everybody; else only what the grader left open."""

    key: Key
    title: str
    max_points: float
    always: bool
    comment_cell: str
    asked: tuple[NotebookNode, ...] = ()
    model: tuple[NotebookNode, ...] = ()
    scheme: tuple[NotebookNode, ...] = ()
    lines: "tuple[RubricLine, ...]" = ()


def exercises_of(assignment: Assignment) -> dict[Key, MarkedExercise]:
    """Every graded cell, in the order of the notebooks; those that nobody reads among them have nobody waiting."""
    found: dict[Key, MarkedExercise] = {}
    for name, notebook in assignment.source.items():
        titles = exercise_titles(notebook)
        for place, cell in enumerate(notebook.cells):
            if cells.is_graded(cell):
                one = _exercise(name, notebook, place, titles)
                found[one.key] = one
    return found


def _exercise(name: str, notebook: NotebookNode, place: int, titles: Mapping[str, str]) -> MarkedExercise:
    cell = notebook.cells[place]
    own = cells.grade_id(cell) or ""
    manual = cells.is_manually_graded(cell)
    answer, scheme = model_answer(cell) if manual else ("", "")
    make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    return MarkedExercise(
        (name, own),
        titles.get(own) or readable(own),
        cells.max_points(cell),
        manual,
        own if manual else _answer_above(notebook, place),
        tuple(_asked(notebook, place)),
        (make(answer),) if answer else (),
        (new_markdown_cell(scheme),) if scheme.strip() else (),
        tuple(rubric_lines(cell.source)) if manual else (),
    )


def _answer_above(notebook: NotebookNode, place: int) -> str:
    """The last answer between a test and the test before it."""
    for cell in notebook.cells[:place][::-1]:
        if cells.is_graded(cell):
            return ""
        if cells.is_solution(cell):
            return cells.grade_id(cell) or ""
    return ""


def _asked(notebook: NotebookNode, place: int) -> list[NotebookNode]:
    """The texts since the answer or the heading before; a task is its own text."""
    if cells.is_task(notebook.cells[place]):
        return [new_markdown_cell(SCHEME.sub("", notebook.cells[place].source))]
    found: list[NotebookNode] = []
    for cell in notebook.cells[:place][::-1]:
        if cell.cell_type != "markdown" or cells.is_solution(cell) or cells.is_graded(cell):
            break
        found.insert(0, new_markdown_cell(cell.source))
        if cell.source.lstrip().startswith("#"):
            break
    return found


_WORDS = {"half a": 0.5, "one": 1.0, "two": 2.0, "three": 3.0}
_POINTS = rf"(?P<points>\d+(?:\.\d+)?|{'|'.join(_WORDS)}) (?:points?|marks?)\b"
_STATED = (re.compile(rf"^{_POINTS}", re.IGNORECASE), re.compile(rf"\({_POINTS}\)\.?$", re.IGNORECASE))
#: A blank line, or the beginning of an item of a list, ends what stands before it.
_BREAK = re.compile(r"\n[ \t]*\n|^[ \t]*(?:[-*+]|\d+[.)])[ \t]+", re.MULTILINE)
#: A line that begins with points begins an item, and one that ends with them in brackets ends it.
_BEGINS = re.compile(rf"^(?=[ \t]*[*_]*{_POINTS})", re.IGNORECASE | re.MULTILINE)
_ENDS = re.compile(rf"\({_POINTS}\)[*_.]*$", re.IGNORECASE | re.MULTILINE)
#: Markdown's marks around code and emphasis. Buttons and comments are plain text and would show them.
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,2}|_{1,2})(?=[^\s*_])(.+?)(?<=[^\s*_])\1(?!\w)")
#: What follows is the comment that the student reads; without it, the whole line is.
_FOR_STUDENTS = re.compile(r"\s*\bTo the student:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class RubricLine:
    """``points``: 0 for a line that only says something. ``comment``: what the student reads."""

    text: str
    points: float = 0.0
    said: str = ""

    @property
    def comment(self) -> str:
        return self.said or self.text

    @property
    def name(self) -> str:
        """The text without its points, which may change."""
        text = self.text
        for stated in _STATED:
            text = stated.sub("", text)
        return text.strip(" :,.").casefold()


def rubric_lines(source: str) -> list[RubricLine]:
    """The paragraphs and items of a cell's mark scheme as plain text, with the points that they begin or end with.

    source: the instructor's cell.
    """
    scheme = "\n\n".join(found["scheme"] for found in SCHEME.finditer(source))
    scheme = _ENDS.sub(r"\g<0>\n\n", _BEGINS.sub("\n\n", scheme))
    texts = dict.fromkeys(_plain(" ".join(part.split())) for part in _BREAK.split(scheme))
    return [_line(text) for text in texts if text]


def _line(text: str) -> RubricLine:
    own, *said = _FOR_STUDENTS.split(text, maxsplit=1)
    return RubricLine(own, _points(own), said[0] if said else "") if own else RubricLine(said[0])


def _plain(markdown: str) -> str:
    """The words without Markdown's marks; what stands in code is kept as it is."""
    code = [found[2].strip() for found in _CODE.finditer(markdown)]
    words = _EMPHASIS.sub(r"\2", _CODE.sub("\0", markdown.replace("\0", ""))).split("\0")
    return "".join(part + kept for part, kept in zip(words, [*code, ""], strict=True))


def _points(text: str) -> float:
    for stated in _STATED:
        if found := stated.search(text):
            said = found["points"].lower()
            return _WORDS[said] if said in _WORDS else float(said)
    return 0.0
