"""A course in which only grades change, and what the rules say of each cell, whatever came before."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nbformat import NotebookNode, v4
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.gradebook.write import save
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.graded import Graded
from autograder.model.verdict import CellVerdict, SubmissionVerdict
from autograder.references.store import References
from tests.feedback.toy import marks

#: (notebook, cell) -> points, and whether the grader gives them. ``task`` is one of nbgrader's tasks.
CELLS = {
    ("1_first", "judged"): (3.0, True),
    ("1_first", "text"): (2.0, False),
    ("1_first", "code"): (1.0, False),
    ("2_second", "also_judged"): (4.0, True),
    ("2_second", "task"): (5.0, False),
}


NOTEBOOKS = ("1_first", "2_second")
STUDENTS = ("ada", "bob", "eve")
DEADLINE = datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass
class Expected:
    """What the rules say about one cell, kept without the gradebook's own flags."""

    status: str = ""
    auto: float | None = None
    by_hand: float | None = None
    extra: float | None = None
    answer: int = 0
    about: int | None = None  # the answer that the points by hand are for
    after_failure: bool = False  # a person decided after the grader had failed

    def graded(self, cell: CellVerdict, changed: set[str]) -> None:
        self.status, self.auto, self.after_failure = cell.status, cell.points, False
        self.answer += cell.cell in changed

    def decided(self, points: float | None, extra: float | None) -> None:
        self.by_hand, self.extra, self.about, self.after_failure = points, extra, self.answer, True

    @property
    def points(self) -> float | None:
        extra = self.extra or 0.0
        if (
            self.by_hand is not None
            and self.about == self.answer
            and (self.status != "infrastructure" or self.after_failure)
        ):
            return self.by_hand + extra
        if self.status == "infrastructure" or self.by_hand is not None or self.auto is None:
            return None
        return self.auto + extra


@dataclass
class World:
    """A course in which only grades change, its open gradebook, and what is to be expected of it."""

    course: Course
    gradebook: Gradebook
    assignment: Assignment
    picture: Path
    cells: dict[str, dict[tuple[str, str], Expected]] = field(default_factory=dict)

    def reset(self) -> None:
        self.cells = {}
        for name in ("autograded", "submitted", ".autograder"):
            shutil.rmtree(self.course.root / name, ignore_errors=True)
        (self.course.root / "late_policy.toml").unlink(missing_ok=True)
        for student in STUDENTS:
            for notebook in self.gradebook.find_submission("work", student).notebooks:
                notebook.late_submission_penalty = None
                for grade in notebook.grades:
                    grade.auto_score = grade.manual_score = grade.extra_credit = None
                    grade.needs_manual_grade = True
        self.gradebook.db.commit()

    def grade(self, student: str, said: SubmissionVerdict, changed: set[str]) -> None:
        cells = self.cells.setdefault(student, {key: Expected() for key in CELLS})
        for notebook in said.notebooks:
            for cell in notebook.cells:
                cells[notebook.notebook, cell.cell].graded(cell, changed)
        answers = {
            name: {cell: str(one.answer) for (book, cell), one in cells.items() if book == name} for name in NOTEBOOKS
        }
        save(self.gradebook, Graded(said, {}, (), answers=answers), root=self.course.root)
        folder = self.course.autograded(student, "work")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "verdicts.json").write_text(verdicts.to_json(said), encoding="utf-8")

    def decide(self, student: str, key: tuple[str, str], points: float | None, extra: float | None) -> None:
        """What the formgrader does when a person types into its two boxes."""
        if student not in self.cells:
            return
        self.cells[student][key].decided(points, extra)
        grade = self.gradebook.find_grade(key[1], key[0], "work", student)
        grade.manual_score, grade.extra_credit = points, extra
        grade.needs_manual_grade = points is None and grade.auto_score is None
        self.gradebook.db.commit()


def notebook(name: str) -> NotebookNode:
    made = []
    for (book, cell), (points, judged) in CELLS.items():
        if book == name:
            mark = marks(cell, grade=cell != "task", solution=not judged and cell != "task", points=points)
            mark["nbgrader"]["task"] = cell == "task"  # type: ignore[index]
            kind = v4.new_code_cell if judged or cell == "code" else v4.new_markdown_cell
            made.append(kind("pass", metadata=mark))
    return v4.new_notebook(cells=made)


@contextmanager
def open_world(root: Path) -> Iterator[World]:
    for name in NOTEBOOKS:
        (root / "source" / "work").mkdir(parents=True, exist_ok=True)
        (root / "source" / "work" / f"{name}.ipynb").write_text("{}")
    course = Course(root)
    picture = root / "picture.png"
    picture.write_bytes(b"")
    books = {name: notebook(name) for name in NOTEBOOKS}
    assignment = Assignment("work", books, books, {}, frozenset(), References.of_course(root))
    with Gradebook(course.db_url) as gradebook, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader builds its rows outside of the session
        gradebook.add_assignment("work")
        for name in NOTEBOOKS:
            gradebook.add_notebook(name, "work")
        for (name, cell), (points, judged) in CELLS.items():
            if cell == "task":
                gradebook.add_task_cell(cell, name, "work", max_score=points, cell_type="markdown")
                continue
            kind = "code" if judged or cell == "code" else "markdown"
            gradebook.add_grade_cell(cell, name, "work", max_score=points, cell_type=kind)
            if not judged:
                gradebook.add_solution_cell(cell, name, "work")
        for student in STUDENTS:
            gradebook.add_student(student)
            gradebook.add_submission("work", student)
        yield World(course, gradebook, assignment, picture)
