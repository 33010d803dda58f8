"""One submission through the three stages: rebuild, run, judge. Of the gradebook it knows only digests of answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

from autograder.assignment.assignment import Assignment, trusted
from autograder.assignment.submission import Submission
from autograder.kernel.errors import OutputFloodError
from autograder.model.graded import Graded
from autograder.model.plain_text import one_line
from autograder.model.verdict import CellVerdict, SubmissionVerdict, presentable
from autograder.pipeline.drawings import Draw, drawing
from autograder.pipeline.execute import ExecutedNotebook, InfrastructureError, Kernels, Limits, PartOutcome, run
from autograder.pipeline.judge import judge, write_into
from autograder.pipeline.prepare import inputs_of, prepare, trusted_files, ungraded_verdict
from autograder.pipeline.side_by_side import side_by_side
from autograder.pipeline.steps import steps_for

#: A failure of the grader itself is tried again this often before it is reported.
ATTEMPTS = 3
#: So much of what happened to one notebook is logged.
MAX_LOG_LINES = 1000

logger = logging.getLogger(__name__)


def grade_submission(
    submission: Submission,
    assignment: Assignment,
    kernels: Kernels,
    limits: Limits,
    on_executed: Callable[[str, ExecutedNotebook], None] = lambda name, ran: None,
    beside: Sequence[Kernels] = (),
    draw: Draw = drawing,
    last: str = "",
    inside: bool = True,
) -> Graded:
    """Grade one submission: what grades a class, checks a release and stands behind nbgrader's own commands.

    on_executed: told the name of each notebook, and how its cells ran, before its answers are judged.
    beside: more kernels, confined ones, on which other notebooks are run at the same time. Nothing else changes.
    draw: what shows the course's own drawings; no verdict depends on it.
    last: the notebook after which nobody wants to know more; those behind it have no verdict.
    inside: False where nobody asks what plain tests give in the student's kernel.
    Raises nothing on account of what the student sent.
    """
    grading = _Grading(submission, assignment, limits, on_executed, draw, last, inside)
    if beside and len(grading.left) > 1:
        try:
            with closing(side_by_side(grading.left, (kernels, *beside), grading.execute)) as executed:
                for name, done in executed:
                    grading.judge(name, done)
        except OutputFloodError:  # what is not judged yet is run again: alone, a notebook answers for its own flood
            logger.info("%s: the notebooks go on one after the other", one_line(submission.student))
    _one_after_another(grading, kernels)
    return grading.graded()


def _one_after_another(grading: _Grading, kernels: Kernels) -> None:
    names = grading.left
    try:
        for name, following in zip(names, [*names[1:], None], strict=False):
            grading.judge(name, grading.execute(name, kernels, partial(grading.start_ahead, following, kernels)))
    finally:
        kernels.drop_ahead()


@dataclass(frozen=True)
class _Executed:
    """A notebook that was run; ``ran`` is None where the grader failed. To be closed: then its answers are gone."""

    ran: ExecutedNotebook | None
    log: tuple[str, ...]
    answers: ExitStack

    def close(self) -> None:
        self.answers.close()


class _Grading:
    """One submission while it is graded: what running its notebooks takes, and what has come of them so far."""

    def __init__(
        self,
        submission: Submission,
        assignment: Assignment,
        limits: Limits,
        on_executed: Callable[[str, ExecutedNotebook], None],
        draw: Draw,
        last: str,
        inside: bool,
    ) -> None:
        self._student, self._assignment, self._limits = submission.student, assignment, limits
        self._on_executed, self._draw, self._inside = on_executed, draw, inside
        self._prepared = prepare(submission, assignment)
        self._absent = assignment.deliverables - submission.files.keys()
        names = list(assignment.source)
        self._wanted = names[: names.index(last) + 1] if last else names
        self._inputs = {
            name: inputs_of(made.notebook, assignment.references) for name, made in self._prepared.rebuilt.items()
        }
        self._verdicts = dict(self._prepared.unreadable)
        self._notebooks = {
            name: write_into(trusted(assignment.source[name], assignment.release[name]), verdict)
            for name, verdict in self._prepared.unreadable.items()
            if name in self._prepared.answers  # for the person who decides, nbgrader needs a notebook to show
        }
        self._log: list[str] = []
        self._parts: list[PartOutcome] = []
        self._earlier: dict[str, CellVerdict] = {}

    @property
    def left(self) -> list[str]:
        """The notebooks that are not judged yet, in order."""
        return [name for name in self._wanted if name in self._prepared.rebuilt and name not in self._verdicts]

    def start_ahead(self, name: str | None, kernels: Kernels) -> None:
        """Begin with a notebook's kernel while the one before it is at work."""
        if name is not None:
            limits = self._limits
            files, inputs = self._prepared.files, self._inputs[name]
            kernels.start_ahead(files, inputs, limits.memory_bytes, limits.processes, limits.disk_bytes)

    def execute(self, name: str, kernels: Kernels, meanwhile: Callable[[], None] = lambda: None) -> _Executed:
        """Run one notebook. Changes nothing here: several threads may do so at once, each on kernels of its own."""
        log: list[str] = []
        for attempt in range(ATTEMPTS):
            with ExitStack() as answers:
                try:
                    ran = self._run(name, kernels, answers, meanwhile)
                except InfrastructureError as error:
                    log.append(f"{name}: attempt {attempt + 1} of {ATTEMPTS} failed: {error}")
                    continue
                log += [f"{name}: {one_line(line)}" for line in ran.log[:MAX_LOG_LINES]]
                return _Executed(ran, tuple(log), answers.pop_all())
        return _Executed(None, tuple(log), ExitStack())

    def _run(self, name: str, kernels: Kernels, answers: ExitStack, meanwhile: Callable[[], None]) -> ExecutedNotebook:
        assignment, limits = self._assignment, self._limits
        made = self._prepared.rebuilt[name]
        steps = steps_for(assignment, name, made.notebook)
        return run(
            made.notebook,
            files=self._prepared.files,
            inputs=self._inputs[name],
            answers=answers.enter_context(kernels.answers()),
            kernels=kernels,
            limits=limits,
            cell_limits=limits.cells.get(name),
            draw=lambda source: self._draw(source, assignment.drawings),
            steps=steps,
            tester_files=trusted_files(assignment),
            meanwhile=meanwhile,
            inside=self._inside,
        )

    def judge(self, name: str, executed: _Executed) -> None:
        """Judge one notebook, and close it: in order, as a later one is not charged for what an earlier one was."""
        with closing(executed):
            self._log += executed.log
            made, ran = self._prepared.rebuilt[name], executed.ran
            if ran is None:
                why = "The grader failed; nothing is wrong with the submission. " + executed.log[-1]
                verdict = ungraded_verdict(self._assignment, name, self._student, "infrastructure", why)
            else:
                self._on_executed(name, ran)
                self._parts += [part for one in ran.outcomes for part in (one.visible, one.hidden) if part]
                verdict = presentable(
                    judge(
                        ran,
                        self._assignment.references,
                        student=self._student,
                        assignment=self._assignment.name,
                        notebook=name,
                        notes=made.notes,
                        earlier=self._earlier,
                        absent=self._absent,
                        waiting=made.waiting,
                    )
                )
            self._verdicts[name] = verdict
            self._notebooks[name] = write_into(made.notebook if ran is None else ran.notebook, verdict)

    def graded(self) -> Graded:
        """All of it, when every notebook that is wanted is judged."""
        verdicts = tuple(self._verdicts[name] for name in self._wanted)
        return Graded(
            SubmissionVerdict(self._student, self._assignment.name, verdicts),
            self._notebooks,
            tuple(self._log),
            max((part.seconds for part in self._parts), default=0.0),
            any(part.status in ("timeout", "crashed", "skipped") for part in self._parts),
            self._prepared.answers,
        )
