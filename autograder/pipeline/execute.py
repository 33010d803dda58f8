"""The stage RUN: a rebuilt notebook goes through its kernels; out come its outputs and the answers to be judged.

Nothing that comes out is a verdict. What a submission does to itself (errors, crashes, time-outs, floods) is told in
:class:`CellOutcome`; what goes wrong on the grader's side is :class:`InfrastructureError`.

Plain tests that only a kernel of the student's can judge are run in one that nobody else hears of: the notebook is
executed once more in a kernel and a folder of its own, those tests whole, of all others what students see. Nothing
that it shows, writes or binds gets anywhere: how each test ended is all that is taken from it.
"""

import contextlib
import copy
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.kernel.kernels import Kernels
from autograder.kernel.outputs import Allowance, Outputs, written_bytes
from autograder.kernel.scratch import Inputs
from autograder.model import cells
from autograder.model.limits import CellLimits, Clock, Limits
from autograder.pipeline.drawings import Drawing
from autograder.pipeline.outcomes import CellOutcome, ExecutedNotebook, PartOutcome, TestOutcome
from autograder.pipeline.own_code import find_out
from autograder.pipeline.steps import Role, Step
from autograder.pipeline.student_kernel import HIDDEN_OUTPUT_BYTES, StudentKernel
from autograder.pipeline.tester_kernel import TesterKernel

KERNEL: Role = "kernel"


def judged_inside(
    ran: ExecutedNotebook, notebook: NotebookNode, steps: Sequence[Step], whole: Collection[str], student: StudentKernel
) -> ExecutedNotebook:
    """The run, with how its plain tests of some roles ended in a second kernel of the student's.

    notebook: as it was before the run. whole: of which roles the hidden text is executed, too. Cells that ended the
    first kernel, or took too long, are left out. Raises InfrastructureError.
    """
    start = time.monotonic()
    last = max(index for index, step in enumerate(steps) if step.role in whole)
    gone = {one.index for one in ran.outcomes if one.visible.status in ("crashed", "timeout", "skipped")}
    found: dict[int, TestOutcome] = {}
    try:
        for index, cell in enumerate(notebook.cells[: last + 1]):
            if cell.cell_type != "code" or index in gone:
                continue
            judged = steps[index].role in whole
            source = cell.source if judged else cells.split_hidden(cell.source).visible
            outputs = Outputs(HIDDEN_OUTPUT_BYTES)
            ended = student.part(index, str(cell.get("id", "")), source, outputs, remembered=True)
            if judged:
                found[index] = TestOutcome("kernel", ended, number_shown(outputs.finish()))
    finally:
        student.close()
    tests = {one.index: one.test and replace(one.test, inside=found.get(one.index)) for one in ran.outcomes}
    return replace(
        ran,
        outcomes=[replace(one, test=tests[one.index]) for one in ran.outcomes],
        seconds=ran.seconds + time.monotonic() - start,
        log=[*ran.log, *(f"in the second kernel: {line}" for line in student.log)],
        read=ran.read | student.read,
    )


def number_shown(outputs: Sequence[NotebookNode]) -> float | None:
    """The number that nbgrader would take for points: the cell's result, where its text is one."""
    for output in outputs:
        if output.output_type == "execute_result":
            with contextlib.suppress(KeyError, ValueError):
                return float(output["data"]["text/plain"])
    return None


def run(
    notebook: NotebookNode,
    *,
    files: Mapping[str, bytes],
    inputs: Inputs,
    answers: Path,
    kernels: Kernels,
    limits: Limits = Limits(),
    cell_limits: CellLimits | None = None,
    draw: Callable[[str], Drawing | None] = lambda source: None,
    steps: Sequence[Step] = (),
    tester_files: Mapping[str, bytes] = {},
    meanwhile: Callable[[], None] = lambda: None,
) -> ExecutedNotebook:
    """Execute a rebuilt notebook (trusted cells and the student's) and harvest the answers of its hidden parts.

    files: name relative to the notebook's folder -> content, laid out beside it.
    inputs: reference slug -> files that the kernel may read of it, under ``AUTOGRADER_INPUTS``.
    answers: an empty folder of the trusted side, filled with ``<cell>/<slug>/<case>.safetensors``.
    cell_limits: cell id -> seconds, where they are known; ``limits.cell_seconds`` is the most in any case.
    draw: what is shown of a cell that needs no kernel, because it is one of the course's drawings; None for all others.
    steps: what is done with each cell; none where all graded cells have references.
    tester_files: like ``files``, for the tester: nothing of the student's is among them.
    meanwhile: called once when the kernel is up.
    Returns a copy of the notebook with the visible parts' outputs, and what became of every code cell.
    Raises InfrastructureError where no kernel can be had; nothing on account of what the submission does.
    """
    clock = Clock(limits, cell_limits or {})
    student = StudentKernel(kernels, limits, clock, files, inputs, answers)
    tester = TesterKernel(kernels, limits, clock, tester_files, student)
    executed = copy.deepcopy(notebook)
    session = _Session(student, tester, limits, draw)
    outcomes: list[CellOutcome] = []
    before_calls = _before_calls(executed, steps)
    start = time.monotonic()
    try:
        if any(step.parts for step in steps):
            tester.start()  # it comes up beside the student's
        student.restart()
        meanwhile()
        for index, cell in enumerate(executed.cells):
            if cell.cell_type == "code":
                outcomes.append(session.cell(index, cell, steps[index] if steps else None, index in before_calls))
    finally:
        student.close()
        tester.close()
    log = [*student.log, *tester.log, *find_out(notebook, steps, kernels, limits, files, inputs, answers)]
    return ExecutedNotebook(executed, outcomes, answers, time.monotonic() - start, log, frozenset(student.read))


class _Session:
    """The cells of one notebook, in order: which kernel executes them, and what is shown of it."""

    def __init__(
        self, student: StudentKernel, tester: TesterKernel, limits: Limits, draw: Callable[[str], Drawing | None]
    ) -> None:
        self._student, self._tester, self._limits, self._draw = student, tester, limits, draw
        self._count = 0
        self._allowance = Allowance(limits.notebook_output_bytes)

    def cell(self, index: int, cell: NotebookNode, step: Step | None, called: bool) -> CellOutcome:
        """Run one code cell, and put the outputs of what is visible of it into it. ``called``: the tester is next."""
        if (picture := self._draw(cell.source)) is not None:
            return self._picture(index, cell, picture)
        outputs = Outputs(self._limits.output_bytes, self._allowance)
        if step is not None and step.role == "outside":
            return self._outside(index, cell, step, outputs)
        if step is not None and step.role == "kernel":
            return self._in_kernel(index, cell, outputs)
        judged = cells.is_autograded(cell)
        parts = cells.split_hidden(cell.source) if judged else cells.Parts(cell.source, "")
        visible = self._student.part(index, name_of(cell), parts.visible, outputs, remembered=True, called=called)
        self._show(cell, outputs, visible)
        if step is not None and step.parts:
            self._tester.run(index, name_of(cell), step, Outputs(HIDDEN_OUTPUT_BYTES))
        hidden = None
        if judged and parts.hidden.strip():
            slugs = cells.references_of(cell.source)
            hidden = self._student.hidden(index, name_of(cell), parts.hidden, slugs)
        return CellOutcome(index, visible, hidden)

    def _outside(self, index: int, cell: NotebookNode, step: Step, outputs: Outputs) -> CellOutcome:
        if step.also:
            self._student.part(index, name_of(cell), step.also, Outputs(HIDDEN_OUTPUT_BYTES), remembered=True)
        test = self._tester.run(index, name_of(cell), step, outputs)
        if test.ended.status == "error" and test.statement and not test.refused and not test.hidden:
            test = replace(test, seen=self._is_seen_to_hold(index, cell))
        self._show(cell, outputs, test.ended)
        return CellOutcome(index, test.ended, None, test)

    def _is_seen_to_hold(self, index: int, cell: NotebookNode) -> bool:
        """Whether what students see of a test holds in their own kernel, where all that Python can do works."""
        visible = cells.split_hidden(cell.source).visible
        if "assert" not in visible:
            return False
        ended = self._student.part(index, name_of(cell), visible, Outputs(HIDDEN_OUTPUT_BYTES), remembered=True)
        return ended.status == "ok"

    def _in_kernel(self, index: int, cell: NotebookNode, outputs: Outputs) -> CellOutcome:
        """What students see of it here; it is judged in another kernel."""
        parts = cells.split_hidden(cell.source)
        ended = self._student.part(index, name_of(cell), parts.visible, outputs, remembered=True)
        self._show(cell, outputs, ended)
        asserted = ended.ename == "AssertionError"
        return CellOutcome(index, ended, None, TestOutcome("kernel", ended, message=ended.evalue, asserted=asserted))

    def _picture(self, index: int, cell: NotebookNode, picture: Drawing) -> CellOutcome:
        self._count += 1
        cell.execution_count = self._count
        self._allowance.left -= sum(map(written_bytes, (*picture.data.values(), str(picture.metadata))))
        if self._allowance.left > 0:  # it may be asked for many times
            shown = {"data": dict(picture.data), "metadata": copy.deepcopy(picture.metadata)}
            cell.outputs = [new_output("execute_result", **shown, execution_count=self._count)]
        return CellOutcome(index, PartOutcome("ok"), None)

    def _show(self, cell: NotebookNode, outputs: Outputs, visible: PartOutcome) -> None:
        """Numbered as if there had been one kernel all along."""
        cell.execution_count = None
        if visible.status != "skipped" and cell.source.strip():
            self._count += 1
            cell.execution_count = self._count
        cell.outputs = outputs.finish()
        if visible.status in ("crashed", "timeout"):  # said however much was shown before
            ended = {"ename": visible.ename, "evalue": visible.evalue, "traceback": [visible.evalue]}
            cell.outputs.append(new_output("error", **ended))
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = self._count


def _before_calls(notebook: NotebookNode, steps: Sequence[Step]) -> set[int]:
    """The cells after which the tester calls what the student's kernel has, and nothing else is executed there."""
    code = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code" and cell.source.strip()]
    pairs = pairwise(code) if steps else ()
    return {
        index
        for index, following in pairs
        if steps[index].role in ("student", "trusted")
        and steps[following].role == "outside"
        and not steps[following].also
        and (steps[following].remote or steps[following].unknown)
    }


def name_of(cell: NotebookNode) -> str:
    """The cell's id; empty in a notebook of an older format, whose cells have none."""
    return str(cell.get("id", ""))
