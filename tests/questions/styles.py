"""Every right sample answer of the code exercises of the main line, as the notebook that a student would hand in."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import solutions, texts_of
from autograder.errors import GradingError
from autograder.exercise.model import SampleAnswer
from autograder.exercise.pack import pack_names
from autograder.model import cells
from autograder.model.course import Course
from autograder.references import loader
from tests.grading import REFERENCES, ROOT


@dataclass(frozen=True)
class Style:
    """A right answer. sources: the code of the notebook up to the graded cell; asked: exercise -> function or class."""

    slug: str
    style: str
    sources: tuple[tuple[str, bool], ...]
    asked: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.slug}: {self.style}"


def main_line_assignments() -> list[str]:
    steps = Course(ROOT).file.main_line.steps
    return list(dict.fromkeys(step.partition("/")[0] for step in steps))


@cache
def _assignment(name: str) -> Assignment:
    return Assignment.unreleased(Course(ROOT), name)


def styles(assignment: str) -> Iterator[Style]:
    """The instructor's solution of each exercise, and every other right answer to it."""
    opened, steps = _assignment(assignment), Course(ROOT).file.main_line.steps
    solved = solutions(opened)
    for name, notebook in opened.source.items():
        if f"{assignment}/{name}" not in steps:
            continue
        for index, cell in enumerate(notebook.cells):
            exercise = str(cells.grade_id(cell))
            called = _called(cell.source, exercise) if cells.is_autograded(cell) else ""
            slug = f"{assignment}/{exercise}"
            if not called or exercise not in pack_names(REFERENCES.packs(assignment)):
                continue
            right, _ = loader.sample_answers(REFERENCES.folder, slug)
            for answer in (SampleAnswer("the solution", cell=f"{exercise}_answer"), *right):
                try:
                    texts = texts_of(answer, solved) if answer.name != "the solution" else {}
                except GradingError:
                    continue
                code = (one for one in notebook.cells[:index] if one.cell_type == "code")
                filled = {**solved, **texts}
                sources = tuple(
                    (filled.get(str(cells.grade_id(one)), one.source), not cells.is_solution(one)) for one in code
                )
                yield Style(slug, answer.name, sources, {exercise: called})


def _called(source: str, exercise: str) -> str:
    """The one name that a visible check is given."""
    for node in ast.walk(cells.parse(cells.split_hidden(source).visible)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == exercise:
            names = [one.id for one in node.args if isinstance(one, ast.Name)]
            return names[0] if len(names) == len(node.args) == 1 else ""
    return ""
