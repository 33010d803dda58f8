"""The pipeline over a class: who is to be graded, by whom, and one writer for everything that is kept."""

import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.classroom.autograded import read_autograded, read_verdict, sweep_autograded, write_autograded, write_log
from autograder.classroom.dask import dask_results
from autograder.classroom.journal import Entry, Journal, only_run, reasons
from autograder.classroom.rows import Row, put_in_results, row_of
from autograder.classroom.workers import (
    GradingOptions,
    Job,
    JobResult,
    jobs_like,
    judge,
    local_results,
    notebooks_at_once,
    worker_processes,
)
from autograder.errors import NothingToGrade, UnreadableSubmission
from autograder.gradebook.groups import with_mates
from autograder.gradebook.late.penalties import check_policy, refresh_penalties
from autograder.gradebook.late.times import course_times
from autograder.gradebook.read import Gradebook, parts_of
from autograder.gradebook.write import not_in_gradebook, open_gradebook, save
from autograder.isolation import Probe, available, verify
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.imports import KernelImports, imports_of
from autograder.model.course import Course
from autograder.model.plain_text import one_line
from autograder.model.verdict import Graded, SubmissionVerdict
from autograder.pipeline.fingerprint import (
    Parts,
    basis_of_runs,
    content_parts,
    digest,
    imported_version,
    limits_matter,
    machine_of_runs,
    machine_parts,
    rule_parts,
    run_parts,
    submission_parts,
    times_of,
)
from autograder.pipeline.outcomes import limits_of
from autograder.pipeline.rebuild import ungraded_verdict
from autograder.pipeline.stored_runs import path_of
from autograder.plain.where import require_outside
from autograder.release.agreement import check_before_grading
from autograder.release.calibrate import calibrated_in, needs_calibration

logger = logging.getLogger(__name__)


def grade_class(
    course: Course,
    order: GradingOptions,
    report: "Report" = lambda progress: None,
) -> list[Row]:
    """Grade, save and journal every submission that is not saved already. One row per student, in order.

    Raises GradingError where nothing can be done at all (another run holds the assignment, say), NothingToGrade where
    not one submission can be read.
    """
    imports = imports_of(course)  # a library that is missing is said before anything is graded
    assignment = Assignment.open(course, order.assignment)
    check_before_grading(course.root, assignment)
    students = _chosen(course, order)
    check_policy(course, order.assignment)  # a typo in late_policy.toml is said before anything is graded
    times = course_times(course, order.assignment)
    with only_run(course.root, order.assignment), ExitStack() as until_graded:
        start, journal = None, Journal(course.root, order.assignment)
        new = not order.scheduler and (order.force or not set(students) <= set(journal.graded()))
        if order.isolation == "auto" and (needs_calibration(assignment) or new):
            start = until_graded.enter_context(_starting(course, imports))  # it comes up beside all that follows
        assignment = calibrated_in(
            course, assignment, course.file.limits, order.isolation, start.server if start else None
        )
        require_outside(assignment, order.require_outside)
        return _Run(course, order, assignment, times, journal).grade(students, report, start)


def _chosen(course: Course, order: GradingOptions) -> list[str]:
    everybody = course.students(order.assignment)
    unknown = sorted(set(order.students) - set(everybody))
    if unknown:
        raise NothingToGrade(
            f"no submission to {order.assignment!r} by {', '.join(unknown)}; "
            f"expected {course.submitted('<student>', order.assignment)}/"
        )
    return [student for student in everybody if not order.students or student in order.students]


class _Run:
    """One run over one assignment: what is to be done, and what is kept of it."""

    def __init__(
        self,
        course: Course,
        order: GradingOptions,
        assignment: Assignment,
        times: Mapping[str, datetime],
        journal: Journal,
    ) -> None:
        self._course, self._order, self._times = course, order, times
        self._assignment = with_mates(course, assignment)
        self._journal = journal
        # --time-limit is for every cell; else the solution's own times say how long each may take
        longest = course.file.limits.cell_seconds
        paced = limits_of(course.root, order.assignment, longest) if order.limits.cell_seconds == longest else {}
        self._limits = replace(order.limits, cells=paced)
        self._content = content_parts(self._assignment)
        self._trusted = {**machine_parts(course), **self._content, **rule_parts(assignment)}
        self._machine = machine_of_runs(course, order.isolation)
        self._bases: dict[str, str] = {}  # student -> what course and student bring to a run
        self._judge: dict[str, bool] = {}  # whom an earlier run may do for -> whether all is written anew
        self._rows: dict[str, Row] = {}
        self._unreadable: dict[str, str] = {}
        self._again: dict[str, str] = {}  # why, for those who were graded before

    def grade(self, students: list[str], report: "Report", start: "_Start | None") -> list[Row]:
        sweep_autograded(self._course, self._order.assignment, students)
        kept = self._look(students)
        todo = self._jobs([student for student in students if student not in self._rows])
        progress = Progress(len(students), len(self._rows))
        logger.info("%d submissions: %d to grade, %d workers", len(students), len(todo), self._order.workers)
        report(progress)
        with open_gradebook(self._course.db_url, self._order.assignment) as gradebook:
            for student, why in self._unreadable.items():
                self._fail(gradebook, student, why, only_if_graded=True)
            for done in self._done(todo, start):
                row = self._rows[done.job.student] = self._keep(gradebook, done)
                kept += [row.student] if done.same else []
                logger.info("%s: %s", one_line(row.student), one_line(row.failure) or f"{row.total:g} points")
                for line in done.details.splitlines():
                    logger.debug("%s: %s", one_line(row.student), one_line(line))
                progress.done += 1
                progress.last_failure = f"{row.student}: {row.failure}" if row.failure else progress.last_failure
                report(progress)
            for verdict in self._not_held(gradebook, kept):
                self._save_again(gradebook, verdict)
        refresh_penalties(self._course, self._order.assignment)  # by late_policy.toml, from the points of now
        return self._table(students)

    def _done(self, todo: list[Job], start: "_Start | None") -> Iterator[JobResult]:
        """First whom an earlier run does for, then all others."""
        left = [job for job in todo if job.student not in self._judge]
        again = [replace(job, rewrite=self._judge[job.student]) for job in todo if job.student in self._judge]
        for done in local_results(again, self._order.workers, judge) if again else ():
            if done.graded is not None:
                yield done
            else:
                left.append(done.job)
        yield from _results(self._course, left, self._order, start)

    def _table(self, students: list[str]) -> list[Row]:
        put_in_results(self._course, self._order.assignment, students, self._rows)
        return [self._rows[student] for student in students]

    def _look(self, students: list[str]) -> list[str]:
        """Give a row to everybody whose grade still stands, and to those who cannot be graded.

        Returns the former.

        Raises NothingToGrade where not one submission can be read.
        """
        forced = self._order.force
        kept = []
        for student in students:
            try:
                folder = self._course.submitted(student, self._order.assignment)
                parts = self._parts(folder, student)
            except UnreadableSubmission as error:
                self._unreadable[student] = str(error)
                self._rows[student] = Row(student, {}, {}, failure=str(error))
                continue
            if forced:  # not before it is certain that there is something to grade
                self._forget(students)
                forced = False
            verdict = self._standing(student, parts)
            if verdict is not None:
                self._rows[student] = row_of(verdict, skipped=True)
                kept.append(student)
        if len(self._unreadable) == len(students):
            raise NothingToGrade(
                f"not one submission to {self._order.assignment!r} can be read: {self._unreadable[students[0]]}"
            )
        return kept

    def _forget(self, students: list[str]) -> None:
        """Have everybody run and judged again, unless such a run was begun and interrupted: then it goes on."""
        if not self._journal.is_forcing(students):
            for student in students:
                path_of(self._course.root, self._order.assignment, student).unlink(missing_ok=True)
            self._journal.force(students)

    def _parts(self, folder: Path, student: str) -> Parts:
        """Of the submission. Raises UnreadableSubmission."""
        parts = submission_parts(read_submission(folder, student, self._assignment))
        self._bases[student] = basis_of_runs(self._machine, self._content, parts, self._limits.room)
        return parts

    def _not_held(self, gradebook: Gradebook, students: list[str]) -> Iterator[SubmissionVerdict]:
        """The verdicts of these students whose points the gradebook does not hold."""
        for some in parts_of(students):
            found = {student: read_verdict(self._course, self._order.assignment, student) for student in some}
            verdicts = {student: verdict for student, verdict in found.items() if verdict is not None}
            others = not_in_gradebook(gradebook, self._order.assignment, verdicts, self._course.root)
            yield from (verdicts[one] for one in others)

    def _standing(self, student: str, submission: Parts) -> SubmissionVerdict | None:
        """A verdict that nothing has changed for; None, and why in ``_again``, for all others."""
        entry = self._journal.entry(student)
        if entry is None:
            return None
        why = reasons(entry, self._trusted, submission, self._limits)
        if why:
            self._again[student] = ", ".join(why)
            self._look_for_a_run(student, entry, submission)
            return None
        verdict = read_verdict(self._course, self._order.assignment, student)
        if verdict is None or row_of(verdict).failure:
            self._again[student] = "its verdict cannot be read"
            return None
        return verdict

    def _look_for_a_run(self, student: str, entry: Entry, submission: Parts) -> None:
        """Note whether what was run for this grade would be run the same way."""
        then, now = run_parts(entry.trusted), run_parts(self._trusted)
        limits = limits_matter(entry.limits, entry.cut, entry.slowest, entry.seconds, self._limits)
        if entry.submission == submission and then == now and not limits:
            self._judge[student] = entry.trusted.get("judge") != self._trusted["judge"]

    def _jobs(self, students: list[str]) -> list[Job]:
        order, content = self._order, digest(self._content)
        version = imported_version(self._course) if order.scheduler else ""
        at_once = 1
        if not order.scheduler and order.isolation == "auto":  # side by side are local kernels that can be killed
            at_once = notebooks_at_once(len(self._assignment.source), self._limits, len(students), order.workers)
        like = Job(
            self._course,
            order.assignment,
            "",
            self._limits,
            order.isolation,
            None,
            content,
            version,
            at_once,
            machine=self._machine,
        )
        return [replace(job, basis=self._bases[job.student]) for job in jobs_like(like, students, self._journal)]

    def _keep(self, gradebook: Gradebook, done: JobResult) -> Row:
        """Write what became of a submission: files, gradebook and then the journal, which says that they are there."""
        student = done.job.student
        if done.graded is None:
            return self._fail(gradebook, student, done.failure, done.details)
        again = self._again.get(student, "")
        last = self._journal.last(student)
        if done.same and last is not None:
            self._journal.saved(student, replace(last, trusted=self._trusted, limits=times_of(self._limits)))
            return replace(row_of(done.graded.verdict), again=again, judged=True)
        try:
            write_autograded(self._course, done.graded, self._assignment.source)
            kept = save(gradebook, done.graded, self._times.get(student), self._course.root).kept_manual
        except (ValueError, TypeError, RecursionError) as error:  # its own fault: it stops nobody else
            gradebook.db.rollback()
            why = f"its grade could not be written ({type(error).__name__}: {error})"
            return self._fail(gradebook, student, why, traceback.format_exc())
        judged = bool(again) and not done.graded.ran
        row = replace(row_of(done.graded.verdict, kept_manual=kept), again=again, judged=judged)
        if row.failure:
            self._journal.failed(student, row.failure)
            log = self._course.autograded(student, self._order.assignment) / "grading.log"
            return replace(row, failure=f"{row.failure} (log: {_short(log, self._course.root)})")
        entry = Entry(
            self._trusted,
            done.submission or (last.submission if last is not None else {}),
            round(sum(notebook.seconds for notebook in done.graded.verdict.notebooks), 3),
            round(done.graded.slowest, 3),
            done.graded.cut,
            times_of(self._limits),
        )
        self._journal.saved(student, entry)
        return row

    def _fail(
        self, gradebook: Gradebook, student: str, why: str, details: str = "", *, only_if_graded: bool = False
    ) -> Row:
        """A submission that has no grade has none anywhere: an older one must not pass for it.

        only_if_graded: nothing is written about who never had a grade.
        """
        folder = self._course.autograded(student, self._order.assignment)
        if only_if_graded and not folder.exists():
            return Row(student, {}, {}, failure=why)
        log = write_log(self._course, self._order.assignment, student, (why, details))
        said = f"{why} (log: {_short(log, self._course.root)})"
        self._journal.failed(student, why)
        verdict = SubmissionVerdict(
            student,
            self._order.assignment,
            tuple(
                ungraded_verdict(self._assignment, name, student, "infrastructure", said)
                for name in self._assignment.source
            ),
        )
        graded = Graded(verdict, {}, (why, details))
        write_autograded(self._course, graded, self._assignment.source)
        save(gradebook, graded, self._times.get(student), self._course.root)
        return Row(student, {}, {}, failure=said)

    def _save_again(self, gradebook: Gradebook, verdict: SubmissionVerdict) -> None:
        """The grade stands, but the gradebook does not hold it: it may be a new one."""
        student = verdict.student
        graded = read_autograded(self._course, verdict)
        kept = save(gradebook, graded, self._times.get(student), self._course.root).kept_manual
        self._rows[student] = replace(self._rows[student], kept_manual=kept, rewritten=True)


def _results(course: Course, todo: list[Job], order: GradingOptions, start: "_Start | None") -> Iterator[JobResult]:
    if not todo:
        return
    if order.scheduler:
        yield from dask_results(todo, order.scheduler)
    elif order.isolation == "none":
        yield from local_results(todo, order.workers)
    else:
        with nullcontext(start) if start else _starting(course, imports_of(course)) as begun:
            jobs = [replace(job, fork_server=begun.server.address) for job in todo]
            yield from local_results(jobs, order.workers, ready=begun.ready)


@dataclass(frozen=True)
class _Start:
    """What takes its time to come up, each beside the others."""

    server: KernelForkServer
    verified: Future[list[Probe]]

    def ready(self) -> None:
        """Return when students' code may run. Raises what speaks against it."""
        self.verified.result()  # real attempts to escape, before the first line of a student's code
        self.server.ready()


@contextmanager
def _starting(course: Course, imports: KernelImports) -> Iterator[_Start]:
    available()
    with closing(KernelForkServer(imports)) as server, ThreadPoolExecutor(1) as probing:
        verified = probing.submit(verify)
        worker_processes(course.file.drawings)
        yield _Start(server, verified)


def _short(path: Path, root: Path) -> Path:
    return path.relative_to(root) if path.is_relative_to(root) else path


@dataclass
class Progress:
    """Told after every submission; the command line draws a bar from it."""

    total: int
    done: int = 0
    last_failure: str = ""


Report = Callable[[Progress], None]
