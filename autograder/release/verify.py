"""Releasing an assignment through nbgrader, and proving that the release is what it should be."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.classroom.pace import record_pace, seconds_of
from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.assignment import Assignment, Generated
from autograder.model.course import Course
from autograder.model.submission import Submission
from autograder.model.verdict import NotebookVerdict
from autograder.pipeline.execute import ExecutedNotebook, Kernels, Limits
from autograder.pipeline.grade import grade_submission
from autograder.release.as_submitted import solved, untouched
from autograder.release.calibrate import calibrated
from autograder.release.generate import compare, draft, put_in_place, require_same_cells, workspace
from autograder.release.judgeable import require_judgeable
from autograder.release.leaks.search import release_leaks
from autograder.release.points_in_text import wrong_points
from autograder.release.stubs import require_filled_in

#: What an untouched notebook may say: a stub that is not filled in, a check that says so, a name not made yet.
INTENDED = {"NotImplementedError", "CheckFailed", "NameError"}


@dataclass(frozen=True)
class Verification:
    """One thing that was proven of a release, or why it does not hold."""

    name: str
    problems: tuple[str, ...]


@contextlib.contextmanager
def drafted(course: Course, name: str, *, adding: bool = False) -> Iterator[Draft]:
    """A release that is not in its place yet; the one of before stays. adding: new cells may come in after grading.

    Raises GradingError with nbgrader's reason, or with ours, where the source cannot be released.
    """
    before = Assignment.unreleased(course, name)
    require_filled_in(course, before)
    require_judgeable(before)
    require_same_cells(course, before, adding=adding)
    with workspace(course) as step, ThreadPoolExecutor(max_workers=1) as beside:
        # of another process: what depends on the order of a set would be the same in two forks of one
        second = beside.submit(draft, course, name, f"{step}/second", afresh=True)
        folder, generated = draft(course, name, f"{step}/first")
        yield Draft(course, Assignment.open(course, name, folder, generated), folder, step, second)


@dataclass(frozen=True)
class Draft:
    """``assignment``: as students would get it from ``folder``. ``second``: another release, made at the same time."""

    course: Course
    assignment: Assignment
    folder: Path
    step: str
    second: Future[tuple[Path, Generated]]

    def calibrated(self, kernels: Kernels) -> Draft:
        """With the places found out where its plain tests are judged."""
        return replace(self, assignment=calibrated(self.course.root, self.assignment, kernels, self.course.file.limits))

    def verify(self, kernels: Kernels) -> Iterator[Verification]:
        """Every proof, one after the other."""
        made, limits = self.assignment, self.course.file.limits
        yield Verification("points add up", tuple(_points(made)))
        yield Verification("nothing leaks", tuple(release_leaks(self.folder, made)))
        yield Verification("a second release is the same, byte for byte", tuple(self._differences()))
        seconds: dict[str, dict[str, float]] = {}
        yield Verification(
            "solutions run from top to bottom and have full points", tuple(_solved(made, kernels, limits, seconds))
        )
        record_pace(self.course.root, made.name, seconds)  # grading makes its time limits of them
        idle = tuple(_untouched(made, kernels, limits))
        yield Verification("untouched notebooks run to the end and have no points", idle)

    def _differences(self) -> Iterator[str]:
        yield from compare(self.folder, self.second.result()[0])

    def put_in_place(self) -> None:
        """To be called when every proof holds. Raises GradingError, and leaves the old release, where it cannot be."""
        put_in_place(self.course, self.assignment.name, self.folder, f"{self.step}/last")


def _points(assignment: Assignment) -> Iterator[str]:
    for name, source in assignment.source.items():
        ours = {cells.grade_id(cell): cells.max_points(cell) for cell in source.cells if cells.is_graded(cell)}
        theirs = {
            cells.grade_id(cell): cells.max_points(cell)
            for cell in assignment.release[name].cells
            if cells.is_graded(cell)
        }
        if ours != theirs:
            yield f"{name}: source and release differ in graded cells or points"
        yield from (f"{name}: {wrong}" for wrong in wrong_points(assignment.release[name]))


def run_all(
    submission: Submission, assignment: Assignment, kernels: Kernels, limits: Limits
) -> Iterator[tuple[str, ExecutedNotebook, NotebookVerdict]]:
    """Every notebook of a submission, run and judged. Raises GradingError where one could not be run."""
    executed: dict[str, ExecutedNotebook] = {}
    graded = grade_submission(submission, assignment, kernels, limits, executed.__setitem__)
    for verdict in graded.verdict.notebooks:
        if verdict.notebook not in executed:
            raise GradingError(" ".join((f"{verdict.notebook}.ipynb could not be run:", *graded.log[-1:])))
        yield verdict.notebook, executed[verdict.notebook], verdict


def _errors(ran: ExecutedNotebook) -> Iterator[tuple[str, str]]:
    """(error name, where and what) of every visible cell that did not go well."""
    for outcome in ran.outcomes:
        part = outcome.visible
        if part.status != "ok" and outcome.test is None:  # how a test ended is told by its verdict
            first = ran.notebook.cells[outcome.index].source.strip().split("\n")[0]
            yield part.ename or part.status, f"cell {outcome.index} ({first[:50]}): {part.ename} {part.evalue[:200]}"


def _solved(
    assignment: Assignment, kernels: Kernels, limits: Limits, seconds: dict[str, dict[str, float]]
) -> Iterator[str]:
    """``seconds`` is filled with what each cell took, by notebook and cell id."""
    for name, ran, verdict in run_all(solved(assignment), assignment, kernels, limits):
        seconds[name] = seconds_of(ran)
        yield from (f"{name}: {what}" for _, what in _errors(ran))
        yield from _unexpected(verdict, ("passed", "manual"))


def _untouched(assignment: Assignment, kernels: Kernels, limits: Limits) -> Iterator[str]:
    for name, ran, verdict in run_all(untouched(assignment), assignment, kernels, limits):
        yield from (f"{name}: {what}" for error, what in _errors(ran) if error not in INTENDED)
        yield from (f"{name}: {cell.cell} has {cell.points:g} points" for cell in verdict.cells if cell.points)
        tasks = {cells.grade_id(cell) for cell in assignment.source[name].cells if cells.is_task(cell)}
        others = tuple(cell for cell in verdict.cells if cell.cell not in tasks)  # a task waits, whatever was added
        yield from _unexpected(replace(verdict, cells=others), ("failed", "missing"))


def _unexpected(verdict: NotebookVerdict, statuses: tuple[str, ...]) -> Iterator[str]:
    for cell in verdict.cells:
        if cell.status not in statuses and cell.max_points:
            said = next((check.message for check in cell.checks if not check.passed), "")
            of = f"{cell.points} of {cell.max_points:g} points"
            yield f"{verdict.notebook}: {cell.cell} {cell.status} with {of}. {said}"
