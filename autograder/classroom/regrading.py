"""Grading again what a change on the instructor's side touches: first seen, then written.

Whoever handed in something new is left to ``autograder grade``: here only the grader, the course and its exercises have
changed, so nobody is to lose points by it unless the instructor says so.
"""

import pickle
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.classroom import run as classroom
from autograder.classroom.autograded import read_verdict, sweep_autograded
from autograder.classroom.journal import Journal, only_run, reasons
from autograder.classroom.rows import row_of
from autograder.classroom.workers import JobResult
from autograder.errors import GradingError, NothingToGrade, UnreadableSubmission
from autograder.files.temporary import TemporaryFolder
from autograder.gradebook.gather import gather_from
from autograder.gradebook.graded_answers import waiting_again
from autograder.gradebook.late.penalties import check_policy, refresh_penalties
from autograder.gradebook.late.times import course_times
from autograder.gradebook.read import Grade, Key, open_book, read_book
from autograder.gradebook.regradings import Change, Regrading, add_regradings
from autograder.gradebook.results import ExerciseResult, ResultsTable, result_of, waived
from autograder.gradebook.write import open_gradebook
from autograder.kernel.imports import imports_of
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Graded, NotebookVerdict, SubmissionVerdict
from autograder.release.agreement import check_before_grading

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class RegradePlan:
    """Whom a change touches. ``again``: student to what has changed; ``theirs``: whose submission is a new one.

    ``failed``: student to the reason why nothing could be done; their grades stay.
    """

    again: Mapping[str, str]
    theirs: tuple[str, ...] = ()
    standing: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RegradedClass:
    """What grading again made of the plan. ``done``: student to what changes, also where it is nothing.

    ``named``: (exercise, mistake) -> how many answers were told so before, and how many are now, where that changes.
    """

    plan: RegradePlan
    done: Mapping[str, Regrading] = field(default_factory=dict)
    written: bool = False
    named: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)


def plan_regrade(course: Course, options: classroom.GradingOptions) -> RegradePlan:
    """Who would be graded again, and why. Runs nothing. Raises GradingError as ``autograder grade`` does."""
    return _Regrade(course, options).plan()


def regrade_class(
    course: Course,
    options: classroom.GradingOptions,
    *,
    write: bool,
    lower: bool,
    report: classroom.Report = lambda progress: None,
) -> RegradedClass:
    """Grade again whom a change touches, compare, and write it all or nothing of it.

    lower: let points fall; else each exercise keeps the points that it had, where they are more.
    """
    with only_run(course.root, options.assignment):
        return _Regrade(course, options).regrade(write, lower, report)


class _Regrade(classroom._Run):
    """A run whose results are looked at before they are kept."""

    def __init__(self, course: Course, options: classroom.GradingOptions) -> None:
        assignment = Assignment.open(course, options.assignment)
        check_before_grading(course.root, assignment)
        self._students = classroom._chosen(course, options)
        imports_of(course)
        check_policy(course, options.assignment)
        times, journal = course_times(course, options.assignment), Journal(course.root, options.assignment)
        super().__init__(course, options, assignment, times, journal)

    def plan(self) -> RegradePlan:
        again: dict[str, str] = {}
        failed: dict[str, str] = {}
        theirs: list[str] = []
        standing = 0
        for student in self._students:
            entry = self._journal.entry(student)
            if entry is None:
                theirs.append(student)  # never graded, or by a version that did not say from what
                continue
            try:
                folder = self._course.submitted(student, self._order.assignment)
                parts = self._parts(folder, student)
            except UnreadableSubmission as error:
                failed[student] = str(error)
                continue
            why = reasons(entry, self._trusted, parts, self._limits)
            if entry.submission != parts:
                theirs.append(student)
            elif not why:
                standing += 1
            elif read_verdict(self._course, self._order.assignment, student) is None:
                failed[student] = "its verdict cannot be read: 'autograder grade' makes it again"
            else:
                again[student] = ", ".join(why)
                self._look_for_a_run(student, entry, parts)
        return RegradePlan(again, tuple(theirs), standing, failed)

    def regrade(self, write: bool, lower: bool, report: classroom.Report) -> RegradedClass:
        if write:
            sweep_autograded(self._course, self._order.assignment, self._students)
        plan = self.plan()
        if not plan.again:
            return RegradedClass(plan, written=write)
        with TemporaryFolder("regrade-") as folder:
            failed = self._grade_into(folder, plan, lower, report)
            plan = replace(plan, failed={**plan.failed, **failed})
            done = self._compared(folder, plan)
            named = self._named(folder)
            if write:
                self._write(folder, done)
        return RegradedClass(plan, done, write, named)

    def _grade_into(self, folder: Path, plan: RegradePlan, lower: bool, report: classroom.Report) -> dict[str, str]:
        """One file for each submission that was graded again; returns why others were not. A class fits on disk."""
        progress, failed = classroom.Progress(len(plan.again)), {}
        report(progress)
        for number, done in enumerate(self._done(self._jobs(list(plan.again)), None)):
            student = done.job.student
            why = done.failure if done.graded is None else row_of(done.graded.verdict).failure
            if done.graded is None or why:
                failed[student] = why
                progress.last_failure = f"{student}: {why}"
            else:
                old = read_verdict(self._course, self._order.assignment, student)
                kept: dict[Key, float] = {}
                graded = done.graded
                if old is not None and not lower:
                    graded, kept = keep_higher(self._course, old, graded)
                (folder / f"{number}.pickle").write_bytes(pickle.dumps((replace(done, graded=graded), kept)))
            progress.done += 1
            report(progress)
        return failed

    def _compared(self, folder: Path, plan: RegradePlan) -> dict[str, Regrading]:
        """Per student the points that count now and would count then."""
        name = self._order.assignment
        with open_book(self._course.db_url) or nullcontext() as book:
            table = gather_from(self._course, name, book, list(plan.again))
            grades = waiting_again(self._course.root, name, read_book(book, name, list(plan.again))).grades
        before = {row.student.id: row.exercises for row in table.rows}
        today, found = date.today(), {}
        for done, kept in _stored(folder):
            student = done.job.student
            assert done.graded is not None
            after = _projected(done.graded.verdict, grades.get(student, {}), table)
            changes = _changes(before.get(student, {}), after, kept)
            found[student] = Regrading(today, plan.again[student], tuple(changes))
        return dict(sorted(found.items()))

    def _named(self, folder: Path) -> dict[tuple[str, str], tuple[int, int]]:
        before: Counter[tuple[str, str]] = Counter()
        after: Counter[tuple[str, str]] = Counter()
        for done, _ in _stored(folder):
            assert done.graded is not None
            if not done.same:
                old = read_verdict(self._course, self._order.assignment, done.job.student)
                before += _mistakes(old) if old is not None else Counter()
                after += _mistakes(done.graded.verdict)
        return {key: (before[key], after[key]) for key in sorted({*before, *after}) if before[key] != after[key]}

    def _write(self, folder: Path, done: Mapping[str, Regrading]) -> None:
        with open_gradebook(self._course.db_url, self._order.assignment) as gradebook:
            for result, _ in _stored(folder):
                row = self._keep(gradebook, result)
                if row.failure:
                    raise GradingError(f"{row.student}: {row.failure}; start the same command again")
                add_regradings(self._course.root, self._order.assignment, [(row.student, done[row.student])])
        refresh_penalties(self._course, self._order.assignment)


def _stored(folder: Path) -> Iterator[tuple[JobResult, dict[Key, float]]]:
    for path in sorted(folder.glob("*.pickle"), key=lambda path: int(path.stem)):
        yield pickle.loads(path.read_bytes())  # written by this process


def _mistakes(verdict: SubmissionVerdict) -> Counter[tuple[str, str]]:
    """(exercise, mistake), once for each exercise that was told of it."""
    cells = [cell for notebook in verdict.notebooks for cell in notebook.cells]
    return Counter({(cell.cell, check.mistake) for cell in cells for check in cell.checks if check.mistake})


def _projected(
    verdict: SubmissionVerdict, grades: Mapping[Key, Grade], table: ResultsTable
) -> dict[Key, ExerciseResult]:
    """The points that would count: manual grades stay, because the answers are the same."""
    waivers = {one.key: one for one in table.waivers}
    found = {}
    for notebook in verdict.notebooks:
        for cell in notebook.cells:
            key = notebook.notebook, cell.cell
            grade = grades.get(key)
            if grade is not None:
                waits = grade.needs_manual_grade if grade.manual_score is not None else cell.points is None
                grade = replace(grade, auto_score=cell.points, max_score=cell.max_points, needs_manual_grade=waits)
            result = result_of(cell, grade)
            found[key] = waived(result, waivers.get(key))
    return found


def _changes(
    before: Mapping[Key, ExerciseResult], after: Mapping[Key, ExerciseResult], kept: Mapping[Key, float]
) -> Iterator[Change]:
    for key in {**before, **after}:
        old = before[key].points if key in before else None
        new = after[key].points if key in after else None
        by_grader = key in after and after[key].decided_by == "grader"
        lost = kept.get(key) if by_grader else None
        moved = (old is None) != (new is None) or abs((old or 0.0) - (new or 0.0)) >= _TOLERANCE
        if moved or lost is not None or (key in before) != (key in after):
            yield Change(*key, old, new, lost)


def nobody(plan: RegradePlan, assignment: str) -> NothingToGrade | None:
    """The reason to stop where nobody has a grade that could be made again."""
    if plan.again or plan.standing or plan.failed:
        return None
    return NothingToGrade(f"nothing is graded for {assignment!r}: run 'autograder grade {assignment}' first")


def keep_higher(course: Course, old: SubmissionVerdict, graded: Graded) -> tuple[Graded, dict[Key, float]]:
    """The new grading, in which exercises that would lose points keep their verdict and outputs of before.

    Returns what they would have had as well: (notebook, exercise) -> points.
    """
    before = {(one.notebook, cell.cell): cell for one in old.notebooks for cell in one.cells}
    kept: dict[Key, float] = {}
    books = tuple(_merged(notebook, before, kept) for notebook in graded.verdict.notebooks)
    if not kept:
        return graded, kept
    folder = course.autograded(old.student, old.assignment)
    notebooks = {
        name: _with_outputs(notebook, folder / f"{name}.ipynb", {cell for book, cell in kept if book == name})
        for name, notebook in graded.notebooks.items()
    }
    return replace(graded, verdict=replace(graded.verdict, notebooks=books), notebooks=notebooks), kept


def _merged(notebook: NotebookVerdict, before: dict[Key, CellVerdict], kept: dict[Key, float]) -> NotebookVerdict:
    found = []
    for cell in notebook.cells:
        key = notebook.notebook, cell.cell
        old = before.get(key)
        had = _points(old, cell.max_points) if old is not None else None
        if old is not None and had is not None and cell.points is not None and had > cell.points + _TOLERANCE:
            kept[key] = cell.points
            found.append(replace(old, points=had, max_points=cell.max_points))
        else:
            found.append(cell)
    return replace(notebook, cells=tuple(found))


def _points(old: CellVerdict, max_points: float) -> float | None:
    """Its points; where the exercise has another number of points now, the same share of them."""
    if old.points is None or abs(old.max_points - max_points) < _TOLERANCE:
        return old.points
    return old.points / old.max_points * max_points if old.max_points else None


def _with_outputs(notebook: NotebookNode, path: Path, kept: set[str]) -> NotebookNode:
    """The notebook with the outputs of before in the cells that kept their points."""
    if not kept or not path.is_file():
        return notebook
    before = {cells.grade_id(cell): cell for cell in nbformat.read(path, as_version=4).cells}
    copy = nbformat.from_dict(notebook)
    for cell in copy.cells:
        name = cells.grade_id(cell)
        if name in kept and name in before and cell.cell_type == "code":
            cell.outputs = before[name].get("outputs", [])
    return copy
