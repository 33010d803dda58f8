"""A class of three with two exercises and a written answer, whose grades are made without kernels."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.classroom import run as classroom
from autograder.classroom.run import GradingOptions, grade_class
from autograder.classroom.workers import Job, JobResult
from autograder.gradebook.gather import gather
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Graded, NotebookVerdict, SubmissionVerdict
from autograder.pipeline.fingerprint import submission_parts
from autograder.pipeline.judge import write_into
from autograder.pipeline.rebuild import prepare
from tests.feedback.toy import marks, new_course, plain_exercise, python_notebook

SHEET, NOTEBOOK = "sums", "1_sums"
STUDENTS = ("ada", "bob", "eve")
POINTS = {"first": 3.0, "second": 2.0, "third": 4.0}
SHARES = {("ada", "first"): 1.0, ("bob", "first"): 0.5, ("eve", "second"): 1.0}


def exercise(name: str) -> list[nbformat.NotebookNode]:
    return plain_exercise(name, "return 1", f"assert {name}() == 1", POINTS[name])


def notebook(*names: str) -> nbformat.NotebookNode:
    written = new_markdown_cell("Because.", id="why", metadata=marks("why", grade=True, solution=True, points=1))
    return python_notebook(*(cell for name in names for cell in exercise(name)), written)


@dataclass
class World:
    """The course, and what the judge would say now: (student, exercise) -> share of the points; else none."""

    course: Course
    shares: dict[tuple[str, str], float] = field(default_factory=dict)

    def judge(self, job: Job) -> JobResult:
        assignment = Assignment.open(job.course, job.assignment)
        submission = read_submission(job.course.submitted(job.student, job.assignment), job.student, assignment)
        prepared = prepare(submission, assignment)
        made = prepared.rebuilt[NOTEBOOK].notebook
        said = tuple(self._cell(job.student, cell) for cell in made.cells if cells.is_graded(cell))
        verdict = NotebookVerdict(job.student, SHEET, NOTEBOOK, said, (), 1.0)
        graded = Graded(
            SubmissionVerdict(job.student, SHEET, (verdict,)),
            {NOTEBOOK: write_into(made, verdict)},
            (),
            answers=prepared.answers,
        )
        return JobResult(job, graded, submission=submission_parts(submission))

    def _cell(self, student: str, cell: nbformat.NotebookNode) -> CellVerdict:
        name, most = str(cells.grade_id(cell)), cells.max_points(cell)
        if not cells.is_autograded(cell):
            return CellVerdict(name, "manual", None, most, judged="manual")
        points = most * self.shares.get((student, name), 0.0)
        return CellVerdict(name, "passed" if points == most else "partial" if points else "failed", points, most)

    def points(self) -> Mapping[str, Mapping[str, float | None]]:
        rows = gather(self.course, SHEET).rows
        return {row.student.id: {cell: result.points for (_, cell), result in row.exercises.items()} for row in rows}

    def correct(self, change: Callable[[nbformat.NotebookNode], None]) -> None:
        """Change the instructor's notebook and the release alike."""
        for folder in (self.course.source(SHEET), self.course.release(SHEET)):
            path = folder / f"{NOTEBOOK}.ipynb"
            found = nbformat.read(path, as_version=4)
            change(found)
            nbformat.write(found, path)

    def correct_test(self, name: str) -> None:
        """A test that was wrong is another one now."""

        def change(found: nbformat.NotebookNode) -> None:
            cell = next(cell for cell in found.cells if cells.grade_id(cell) == name)
            cell.source += "\nassert True  # corrected"

        self.correct(change)

    def mark(self, student: str, cell: str, points: float) -> None:
        """As a person does in the formgrader."""
        with Gradebook(self.course.db_url) as gradebook:
            grade = gradebook.find_grade(cell, NOTEBOOK, SHEET, student)
            grade.manual_score, grade.needs_manual_grade = points, False
            gradebook.db.commit()

    def hand_in(self, student: str, answer: str = "") -> None:
        """The released notebook with an answer in words."""
        sent = nbformat.read(self.course.release(SHEET) / f"{NOTEBOOK}.ipynb", as_version=4)
        for cell in sent.cells:
            if cells.grade_id(cell) == "why":
                cell.source = answer or f"Because, says {student}."
        folder = self.course.submitted(student, SHEET)
        folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(sent, folder / f"{NOTEBOOK}.ipynb")

    def grade(self) -> None:
        assert not any(row.failure for row in grade_class(self.course, GradingOptions(SHEET, workers=1)))


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Released, handed in by three and graded: ``first`` right for ada and half right for bob, ``second`` for eve."""
    root = tmp_path_factory.mktemp("regrade") / "course"
    root.mkdir()
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    course = new_course(root, {f"{SHEET}/{NOTEBOOK}": notebook("first", "second")})
    world = World(course, dict(SHARES))
    for student in STUDENTS:
        world.hand_in(student)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(classroom, "_results", lambda course, todo, order, server: map(world.judge, todo))
        world.grade()
    for student, points in (("ada", 1.0), ("bob", 0.5)):  # eve's answer is still to be read
        world.mark(student, "why", points)
    return world.course


@pytest.fixture
def world(graded: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    course = Course(shutil.copytree(graded.root, tmp_path / "course"))
    made = World(course, dict(SHARES))
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(made.judge, todo))
    yield made
