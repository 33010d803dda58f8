"""One submission through the three stages: rebuild, run, judge. Of the gradebook it knows only digests of answers.

What was run once, and would give the same, is judged without a run.
"""

import logging
from collections import deque
from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment, trusted
from autograder.assignment.submission import Submission
from autograder.errors import OutputFloodError
from autograder.kernel.kernels import Kernels
from autograder.model.limits import Limits
from autograder.model.plain_text import one_line
from autograder.model.verdict import CellVerdict, Check, Graded, NotebookVerdict, SubmissionVerdict, presentable
from autograder.pipeline.drawings import Draw, drawing
from autograder.pipeline.execute import KERNEL
from autograder.pipeline.judge import judge, write_into
from autograder.pipeline.outcomes import CellOutcome, ExecutedNotebook, slowest_of, was_cut
from autograder.pipeline.rebuild import Prepared, RebuiltNotebook, ungraded_verdict
from autograder.pipeline.running import Executed, Running, Runs, logged
from autograder.pipeline.stored_runs import StoredRuns
from autograder.plain.where import measuring_time

logger = logging.getLogger(__name__)

#: What a page says of tests that measure time and did not hold at first.
ALONE = "a test that measures time did not hold: all was run again with nothing beside it, and that counts"
TOO_BUSY = (
    "This test measures time, and the instructor's solution was too slow for it as well: a person looks at it.",
    "Nothing is lost.",
)


def grade_submission(
    submission: Submission,
    assignment: Assignment,
    kernels: Kernels,
    limits: Limits,
    on_executed: Callable[[str, ExecutedNotebook], None] = lambda name, ran: None,
    beside: Sequence[Kernels] = (),
    draw: Draw = drawing,
    last: str = "",
    inside: Collection[str] = (KERNEL,),
    runs: Runs | None = None,
) -> Graded:
    """Grade one submission: what grades a class, checks a release and stands behind nbgrader's own commands.

    on_executed: told the name of each notebook, and how its cells ran, before its answers are judged.
    beside: more kernels, confined ones, on which other notebooks are run at the same time. Nothing else changes.
    draw: what shows the course's own drawings; no verdict depends on it.
    last: the notebook after which nobody wants to know more; those behind it have no verdict.
    inside: roles of the plain tests that are judged in a second run of the notebook.
    runs: earlier ones; a notebook whose run would be the same is judged by it. What can be kept is added.
    Raises nothing on account of what the student sent.
    """
    running = Running(submission, assignment, limits, on_executed, draw, inside, runs)
    grading = _Judging(submission.student, assignment, running.prepared, last, runs.too_slow if runs else None)
    if beside and len(grading.left) > 1:
        try:
            with closing(side_by_side(grading.left, (kernels, *beside), running.execute)) as executed:
                for name, done in executed:
                    _judge(name, done, running, grading)
        except OutputFloodError:  # what is not judged yet is run again: alone, a notebook answers for its own flood
            logger.info("%s: the notebooks go on one after the other", one_line(submission.student))
    _one_after_another(running, grading, kernels)
    graded = grading.graded()
    if runs is not None:  # how a test that measures time ended is no fact about the submission
        runs.now = None if graded.hurried else running.stored()
    return graded


def _one_after_another(running: Running, grading: "_Judging", kernels: Kernels) -> None:
    names = grading.left
    try:
        for name, following in zip(names, [*names[1:], None], strict=False):
            meanwhile = partial(running.start_ahead, following, kernels)
            _judge(name, running.execute(name, kernels, meanwhile), running, grading)
    finally:
        kernels.drop_ahead()


def _judge(name: str, executed: Executed, running: Running, grading: "_Judging") -> None:
    with closing(executed):  # its answers are gone then
        running.keep(name, executed)
        grading.judge(name, executed.ran, executed.log, executed.stored is None)


def judge_again(stored: StoredRuns, assignment: Assignment, before: SubmissionVerdict | None = None) -> Graded:
    """The verdict that a submission has now, by what its run produced then.

    before: where the verdict is still this one, there are no notebooks: nothing has to be written.
    """

    def shown(name: str, notebook: NotebookNode) -> NotebookNode:
        return stored.runs[name].with_drawings(notebook, lambda source: drawing(source, assignment.drawings))

    return _judged_again(stored, assignment).graded(before, shown)


def verdict_again(
    stored: StoredRuns, assignment: Assignment, on_executed: Callable[[str, ExecutedNotebook], None]
) -> SubmissionVerdict:
    """The same verdict, without its notebooks. on_executed: told how each ran, but for the course's drawings."""
    return _judged_again(stored, assignment, on_executed).verdict


def _judged_again(
    stored: StoredRuns,
    assignment: Assignment,
    on_executed: Callable[[str, ExecutedNotebook], None] = lambda name, ran: None,
) -> "_Judging":
    grading = _Judging(stored.student, assignment, stored.prepared())
    for name in grading.left:
        ran = stored.runs[name].executed()
        on_executed(name, ran)
        grading.judge(name, ran, logged(name, ran.log))
    return grading


class _Judging:
    """One submission's notebooks, in order: a later one is not charged for what an earlier one was charged for."""

    def __init__(
        self,
        student: str,
        assignment: Assignment,
        prepared: Prepared,
        last: str = "",
        too_slow: Collection[tuple[str, str]] | None = None,
    ) -> None:
        self._too_slow, self._hurried = too_slow, False
        self._student, self._assignment, self._prepared = student, assignment, prepared
        names = list(assignment.source)
        self._wanted = names[: names.index(last) + 1] if last else names
        self._verdicts = dict(prepared.unreadable)
        self._executed: dict[str, NotebookNode] = {}
        self._log: list[str] = []
        self._ran: list[str] = []
        self._outcomes: list[CellOutcome] = []
        self._earlier: dict[str, CellVerdict] = {}

    @property
    def left(self) -> list[str]:
        """The notebooks that are not judged yet, in order."""
        return [name for name in self._wanted if name in self._prepared.rebuilt and name not in self._verdicts]

    def judge(self, name: str, ran: ExecutedNotebook | None, log: Sequence[str], now: bool = False) -> None:
        """now: whether it was run for this."""
        self._log += log
        self._ran += [name] if now else []
        made = self._prepared.rebuilt[name]
        if ran is None:
            why = "The grader failed; nothing is wrong with the submission. " + log[-1]
            verdict = ungraded_verdict(self._assignment, name, self._student, "infrastructure", why)
        else:
            self._outcomes += ran.outcomes
            verdict = self._by_the_clock(presentable(self._judged(name, made, ran)), now)
        self._verdicts[name] = verdict
        self._executed[name] = made.notebook if ran is None else ran.notebook

    def _by_the_clock(self, verdict: NotebookVerdict, now: bool) -> NotebookVerdict:
        """A test that measures time is no mark where it did not hold for the solution either, just before."""
        name = verdict.notebook
        lost = {cell.cell for cell in verdict.cells if cell.points != cell.max_points}
        timed = lost & measuring_time(self._assignment.source[name]) if lost else lost
        self._hurried |= bool(timed) and now
        if self._too_slow is None or not timed:
            return verdict
        waits = {cell for cell in timed if (name, cell) in self._too_slow}
        found = (
            replace(cell, status="manual", points=None, checks=(Check(cell.cell, False, *TOO_BUSY),))
            if cell.cell in waits else cell for cell in verdict.cells
        )  # fmt: skip
        return replace(verdict, cells=tuple(found), notes=(*verdict.notes, ALONE))

    def _judged(self, name: str, made: RebuiltNotebook, ran: ExecutedNotebook) -> NotebookVerdict:
        calibration = self._assignment.calibration
        return judge(
            ran,
            self._assignment.references,
            student=self._student,
            assignment=self._assignment.name,
            notebook=name,
            notes=made.notes,
            earlier=self._earlier,
            absent=self._prepared.absent,
            waiting=made.waiting,
            calibration=calibration.cells_of(name) if calibration is not None else {},
            students=self._assignment.together_with(self._student),
        )

    @property
    def verdict(self) -> SubmissionVerdict:
        """When every notebook that is wanted is judged."""
        verdicts = tuple(self._verdicts[name] for name in self._wanted)
        return SubmissionVerdict(self._student, self._assignment.name, verdicts)

    def graded(
        self,
        before: SubmissionVerdict | None = None,
        shown: Callable[[str, NotebookNode], NotebookNode] = lambda name, notebook: notebook,
    ) -> Graded:
        """The verdict, and the notebooks with it.

        before: where the verdict is this one, there are no notebooks. shown: what an executed one shows.
        """
        verdict = self.verdict
        executed = {} if verdict == before else self._executed | self._as_handed_out()
        notebooks = {
            name: write_into(shown(name, notebook) if name in self._executed else notebook, self._verdicts[name])
            for name, notebook in executed.items()
        }
        return Graded(
            verdict,
            notebooks,
            tuple(self._log),
            slowest_of(self._outcomes),
            was_cut(self._outcomes),
            self._prepared.answers,
            tuple(self._ran),
            self._hurried,
        )

    def _as_handed_out(self) -> dict[str, NotebookNode]:
        """In the place of files that cannot be read: for the person who decides, nbgrader needs a notebook to show."""
        source, release = self._assignment.source, self._assignment.release
        unreadable = [name for name in self._prepared.unreadable if name in self._prepared.answers]
        return {name: trusted(source[name], release[name]) for name in unreadable}


# The notebooks of one submission at the same time: each is run in a thread, on kernels that this thread has alone.
# They are begun from the last to the first, and come back in order, so that whoever judges them sees what it sees when
# they are run one after the other. Nobody's time gets shorter: a notebook's clock starts when the notebook does,
# callers have no more notebooks at work than cores, and what a thread here does beside the kernels' work is little.
# Where notebooks talk much with their testers at once, they wait for each other by milliseconds; limits are many times
# what a solution takes.


class Closable(Protocol):
    def close(self) -> None: ...


Made = TypeVar("Made", bound=Closable)


def side_by_side(
    names: Sequence[str], kernels: Sequence[Kernels], execute: Callable[[str, Kernels], Made]
) -> Generator[tuple[str, Made]]:
    """Each name with what ``execute`` makes of it, in order; as many at once as there are ``kernels``, confined ones.

    Whoever gets something closes it. An exception in one thread is raised here as soon as it is there. Then, and where
    the iterator is closed early, the kernels of the others are killed, and this ends when the threads have: to be used
    with :func:`contextlib.closing`.
    """
    free: SimpleQueue[Kernels] = SimpleQueue()

    def go(name: str) -> Made:
        mine = free.get()
        try:
            return execute(name, mine)
        finally:
            free.put(mine)

    pool, results = ThreadPoolExecutor(len(kernels), "notebook"), _Results[Made]()
    try:
        for one in kernels:
            one.beside_others()
            free.put(one)
        # the last one first: it builds on the others, tends to take longest, and would leave the other threads idle
        begun = {name: pool.submit(go, name) for name in reversed(names)}
        results.wanted.extend(begun[name] for name in names)
        for name in names:
            yield name, results.next()
    except BaseException:  # a fault, Ctrl-C, or nobody wants the rest
        for one in kernels:
            one.abandon()
        pool.shutdown(cancel_futures=True)
        for one in kernels:
            one.settle()  # what the grader holds of their messages is gone before it is measured again
        raise
    finally:
        pool.shutdown()
        results.close()
        for one in kernels:
            one.resume()


class _Results(Generic[Made]):
    """What threads were given to make. ``wanted``: what nobody has got yet, in order."""

    def __init__(self) -> None:
        self.wanted: deque[Future[Made]] = deque()

    def next(self) -> Made:
        """The next one, when it is there. Raises at once what any of the threads has raised."""
        while True:
            for future in self.wanted:
                if future.done():
                    future.result()
            if self.wanted[0].done():
                return self.wanted.popleft().result()
            wait([future for future in self.wanted if not future.done()], return_when=FIRST_COMPLETED)

    def close(self) -> None:
        """Close what is left, when all threads have ended."""
        for future in self.wanted:
            if not future.cancelled() and future.exception() is None:
                future.result().close()
