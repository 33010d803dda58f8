"""The pipeline over a class: who is to be graded, by whom, and one writer for everything that is kept."""

from __future__ import annotations

import os
import shutil
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder import verdict as verdicts
from autograder.agreement import check_before_grading
from autograder.assignment import Assignment, Course, read_submission
from autograder.dask_workers import dask_results
from autograder.errors import GradingError, NothingToGrade
from autograder.gradebook import open_gradebook, save
from autograder.grading import Graded
from autograder.isolation import available, prove
from autograder.journal import Journal, assignment_digest, submission_digest
from autograder.kernel.forkserver import Template
from autograder.marking import with_marking_guides
from autograder.penalties import check_policy, refresh_penalties
from autograder.plain import paragraph
from autograder.run import Limits
from autograder.times import read_times
from autograder.verdict import SubmissionVerdict
from autograder.workers import Done, Isolation, Job, local_results, start_importing

MAX_LOG = 50_000


@dataclass(frozen=True)
class Order:
    """What the teacher asked for."""

    assignment: str
    students: tuple[str, ...] = ()
    workers: int = 1
    force: bool = False
    scheduler: str | None = None
    isolation: Isolation = "auto"
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Row:
    """One line of the table: what became of one student's submission."""

    student: str
    points: dict[str, float | None]
    max_points: dict[str, float]
    failed: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""
    skipped: bool = False
    kept_manual: int = 0
    missing: tuple[str, ...] = ()  # notebooks that were not handed in

    @property
    def total(self) -> float:
        return sum(points or 0.0 for points in self.points.values())


@dataclass
class Progress:
    """Told after every submission; the command line draws a bar from it."""

    total: int
    done: int = 0
    last_failure: str = ""


Report = Callable[[Progress], None]


def grade_class(
    course: Course, order: Order, report: Report = lambda progress: None, warm: Template | None = None
) -> list[Row]:
    """Grade, save and journal every submission that is not saved already. One row per student, in order.

    warm: a template that was started before, for who is in a hurry; it is closed in here where it is used.

    Raises GradingError where nothing can be done at all, NothingToGrade where not one submission can be read.
    """
    assignment = Assignment.open(course, order.assignment)
    check_before_grading(course.root, assignment)
    everybody = course.students(order.assignment)
    unknown = sorted(set(order.students) - set(everybody))
    if unknown:
        raise NothingToGrade(
            f"no submission to {order.assignment!r} by {', '.join(unknown)}; "
            f"expected {course.submitted('<student>', order.assignment)}/"
        )
    students = [student for student in everybody if not order.students or student in order.students]
    check_policy(course, order.assignment)  # a typo in late_policy.toml is said before anything is graded
    times = read_times(course.root, order.assignment)
    journal = Journal(course.root, order.assignment)
    trusted = assignment_digest(course, assignment)
    rows: dict[str, Row] = {}
    digests: dict[str, str] = {}
    for student in students:
        try:
            submission = read_submission(course.submitted(student, order.assignment), student, assignment)
        except GradingError as error:
            rows[student] = Row(student, {}, {}, failure=str(error))
            continue
        digests[student] = submission_digest(trusted, submission)
        if not order.force and journal.is_saved(student, digests[student]):
            row = _known(course, order.assignment, student)
            if row is not None:
                rows[student] = row
    if all(student in rows and rows[student].failure for student in students):
        raise NothingToGrade(f"not one submission to {order.assignment!r} can be read: {rows[students[0]].failure}")

    todo = [
        Job(course, order.assignment, student, order.limits, order.isolation)
        for student in students
        if student not in rows
    ]
    progress = Progress(len(students), len(rows))
    report(progress)
    with open_gradebook(course.db_url, order.assignment) as gradebook:
        for done in _results(todo, order, warm):
            student = done.job.student
            if done.graded is None:
                rows[student] = Row(student, {}, {}, failure=done.failure)
                _write_log(course, order.assignment, student, (done.failure, done.details))
            else:
                try:
                    write_autograded(course, done.graded, assignment.source)
                    kept = save(gradebook, done.graded, times.get(student)).kept_manual
                except (ValueError, TypeError, RecursionError) as error:  # its own fault: it stops nobody else
                    gradebook.db.rollback()
                    failure = f"its grade could not be written ({type(error).__name__}: {error})"
                    rows[student] = Row(student, {}, {}, failure=failure)
                    _write_log(course, order.assignment, student, (failure, traceback.format_exc()))
                else:
                    rows[student] = row_of(done.graded.verdict, kept_manual=kept)
                    if not rows[student].failure:
                        journal.saved(student, digests[student])
            progress.done += 1
            progress.last_failure = (
                f"{student}: {rows[student].failure}" if rows[student].failure else progress.last_failure
            )
            report(progress)
    refresh_penalties(course, order.assignment)  # by late_policy.toml, from the points of now
    return [rows[student] for student in students]


def _results(todo: list[Job], order: Order, warm: Template | None) -> Iterator[Done]:
    if not todo:
        return
    if order.scheduler:
        yield from dask_results(todo, order.scheduler)
    elif order.isolation == "none":
        yield from local_results(todo, order.workers)
    else:
        available()
        with closing(warm or Template()) as template:  # it comes up while the self-test is running
            start_importing()
            prove()  # real attempts to escape, before the first line of a student's code
            template.ready()
            yield from local_results([replace(job, template=template.address) for job in todo], order.workers)


def row_of(verdict: SubmissionVerdict, *, kept_manual: int = 0, skipped: bool = False) -> Row:
    cells = [cell for notebook in verdict.notebooks for cell in notebook.cells]
    broken = [notebook.notebook for notebook in verdict.notebooks if notebook.status == "infrastructure"]
    missing = [
        notebook.notebook
        for notebook in verdict.notebooks
        if not notebook.seconds and all(cell.status == "missing" for cell in notebook.cells)  # nothing was there to run
    ]
    return Row(
        verdict.student,
        {notebook.notebook: None if notebook.notebook in broken else notebook.points for notebook in verdict.notebooks},
        {notebook.notebook: notebook.max_points for notebook in verdict.notebooks},
        tuple(cell.cell for cell in cells if cell.status in ("failed", "crashed", "timeout", "partial")),
        tuple(cell.cell for cell in cells if cell.status == "manual"),
        tuple(note for one in verdict.notebooks if one.notebook not in missing for note in one.notes),
        f"the grader failed on {', '.join(broken)}; start again with the same command" if broken else "",
        skipped,
        kept_manual,
        tuple(missing),
    )


def _known(course: Course, assignment: str, student: str) -> Row | None:
    """The row of a submission that was graded before; None where its verdict is gone."""
    try:
        return row_of(verdicts.read(course.autograded(student, assignment) / "verdicts.json"), skipped=True)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_autograded(course: Course, graded: Graded, source: Mapping[str, NotebookNode]) -> None:
    """Write the autograded notebooks, ``verdicts.json`` and the log; all of them or none.

    source: the instructor's notebooks, which say how written answers are marked.
    """
    folder = course.autograded(graded.verdict.student, graded.verdict.assignment)
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for name, notebook in graded.notebooks.items():
        guided = with_marking_guides(notebook, source[name])
        (fresh / f"{name}.ipynb").write_text(nbformat.writes(guided) + "\n", encoding="utf-8")
    (fresh / "verdicts.json").write_text(verdicts.to_json(graded.verdict), encoding="utf-8")
    (fresh / "grading.log").write_text("".join(f"{line}\n" for line in graded.log), encoding="utf-8")
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        os.replace(folder, old)
    os.replace(fresh, folder)
    shutil.rmtree(old, ignore_errors=True)


def _write_log(course: Course, assignment: str, student: str, lines: tuple[str, ...]) -> None:
    folder: Path = course.root / ".autograder" / "logs" / assignment
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{paragraph(line, MAX_LOG)}\n" for line in lines if line)
    (folder / f"{student}.log").write_text(text, encoding="utf-8")
