"""The stage RUN: a rebuilt notebook goes through a kernel; out come its outputs and the answers to be judged.

Nothing that comes out is a verdict. What a submission does to itself (errors, crashes, time-outs, floods) is told in
:class:`CellOutcome`; what goes wrong on the grader's side is :class:`InfrastructureError`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.kernel import InfrastructureError
from autograder.kernel.collect_answers import MAX_BYTES, MAX_OF_SUBMISSION, collect_answers
from autograder.kernel.execution import Finished
from autograder.kernel.kernels import Kernel, Kernels
from autograder.kernel.outputs import Allowance, Outputs, written_bytes
from autograder.kernel.scratch import Scratch
from autograder.model import cells
from autograder.model.limits import CellLimits, Clock, Limits
from autograder.pipeline.drawings import drawing

__all__ = [
    "CellOutcome",
    "InfrastructureError",
    "Kernels",
    "Limits",
    "PartOutcome",
    "ExecutedNotebook",
    "answers_folder",
    "run",
]

_HIDDEN_OUTPUT_BYTES = 1 << 16  # thrown away in any case


@dataclass(frozen=True)
class PartOutcome:
    """How one part of a cell ended. ``skipped``: the submission's time was up before."""

    status: Literal["ok", "error", "crashed", "timeout", "skipped"]
    ename: str = ""
    evalue: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class CellOutcome:
    """A code cell's two parts. ``index`` counts the notebook's cells from 0; ``hidden`` is None where there is none."""

    index: int
    visible: PartOutcome
    hidden: PartOutcome | None


@dataclass
class ExecutedNotebook:
    """An executed notebook. ``answers`` holds ``<cell>/<slug>/<case>.safetensors``, out of every student's reach."""

    notebook: NotebookNode
    outcomes: list[CellOutcome]
    answers: Path
    seconds: float = 0.0
    log: list[str] = field(default_factory=list)


def answers_folder(answers: Path, index: int) -> Path:
    """Where one cell's answers are kept: two cells that ask for one reference never get each other's."""
    return answers / str(index)


def run(
    notebook: NotebookNode,
    *,
    files: Mapping[str, bytes],
    inputs: Mapping[str, Path],
    answers: Path,
    kernels: Kernels,
    limits: Limits = Limits(),
    cell_limits: CellLimits | None = None,
    drawings: str = "",
) -> ExecutedNotebook:
    """Execute a rebuilt notebook (trusted cells and the student's) and harvest the answers of its hidden parts.

    files: name relative to the notebook's folder -> content, laid out beside it.
    inputs: reference slug -> folder with what the kernel may read of it, under ``AUTOGRADER_INPUTS``.
    answers: an empty folder of the trusted side, filled with ``<cell>/<slug>/<case>.safetensors``.
    cell_limits: cell id -> seconds, where they are known; ``limits.cell_seconds`` is the most in any case.
    drawings: the course's module of drawings, which need no kernel.
    Returns a copy of the notebook with the visible parts' outputs, and what became of every code cell.
    Raises InfrastructureError where no kernel can be had; nothing on account of what the submission does.
    """
    session = _Session(kernels, limits, Clock(limits, cell_limits or {}), files, inputs, answers, drawings)
    executed = copy.deepcopy(notebook)
    outcomes: list[CellOutcome] = []
    start = time.monotonic()
    try:
        session.restart()
        for index, cell in enumerate(executed.cells):
            if cell.cell_type == "code":
                outcomes.append(session.cell(index, cell))
    finally:
        session.close()
    return ExecutedNotebook(executed, outcomes, answers, time.monotonic() - start, session.log)


class _Session:
    """One submission's kernels, one after the other, and what has to be done again in the next."""

    def __init__(
        self,
        kernels: Kernels,
        limits: Limits,
        clock: Clock,
        files: Mapping[str, bytes],
        inputs: Mapping[str, Path],
        answers: Path,
        drawings: str,
    ) -> None:
        self._kernels, self._limits, self._clock = kernels, limits, clock
        self._files, self._inputs, self._answers = files, inputs, answers
        self._drawings = drawings
        self._kernel: Kernel | None = None
        self._scratch: Scratch | None = None
        self._done: dict[int, tuple[str, str]] = {}  # index -> (cell id, source) of what the next kernel needs
        self._count = 0
        self._allowance = Allowance(limits.notebook_output_bytes)
        self.log: list[str] = []

    def cell(self, index: int, cell: NotebookNode) -> CellOutcome:
        """Run one code cell, its visible and then its hidden part, and put the outputs of the former into it."""
        if (picture := drawing(cell.source, self._drawings)) is not None:
            return self._draw(index, cell, picture)
        judged = cells.is_autograded(cell)
        parts = cells.split_hidden(cell.source) if judged else cells.Parts(cell.source, "")
        outputs = Outputs(self._limits.output_bytes, self._allowance)
        visible = self._part(index, cell.id, parts.visible, outputs, remembered=True)
        self._show(cell, outputs, visible)
        if visible.status == "ok":
            self._done[index] = cell.id, parts.visible
        hidden = self._hidden(index, cell, parts.hidden) if judged and parts.hidden.strip() else None
        return CellOutcome(index, visible, hidden)

    def _draw(self, index: int, cell: NotebookNode, picture: dict[str, str]) -> CellOutcome:
        self._count += 1
        cell.execution_count = self._count
        self._allowance.left -= sum(map(written_bytes, picture.values()))
        if self._allowance.left > 0:  # it may be asked for many times
            cell.outputs = [new_output("execute_result", data=dict(picture), execution_count=self._count)]
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

    def _hidden(self, index: int, cell: NotebookNode, hidden: str) -> PartOutcome:
        """The hidden part: whatever lies at the answers' place before it is removed, what lies there after is taken."""
        slugs = cells.references_of(cell.source)
        clean = self._revive() and self._scratch is not None and self._scratch.clear_answers()
        outcome = self._part(index, cell.id, hidden, Outputs(_HIDDEN_OUTPUT_BYTES), remembered=False)
        if clean and self._scratch is not None:
            for slug in slugs:
                self.log += [f"cell {index}: {note}" for note in self._take(index, slug)]
        return outcome

    def _take(self, index: int, slug: str) -> list[str]:
        assert self._scratch is not None
        try:
            taken = sum(file.stat().st_size for file in self._answers.rglob("*.safetensors"))
            most = min(MAX_BYTES, max(0, MAX_OF_SUBMISSION - taken))
            return collect_answers(self._scratch.out, slug, answers_folder(self._answers, index), most)
        except OSError as error:
            raise InfrastructureError(f"the answers cannot be stored: {error}") from error

    def _part(self, index: int, cell: str, source: str, outputs: Outputs, remembered: bool) -> PartOutcome:
        if not source.strip():
            return PartOutcome("ok")
        if not self._revive():
            return PartOutcome("skipped", "Skipped", "the submission's time was up")
        finished = self._execute(cell, source, outputs, remembered)
        if finished.status in ("crashed", "timeout"):
            self.log.append(f"cell {index}: {finished.status}: {finished.evalue}")
        return PartOutcome(finished.status, finished.ename, finished.evalue, finished.seconds)

    def _execute(self, cell: str, source: str, outputs: Outputs, remembered: bool) -> Finished:
        assert self._kernel is not None
        limit = self._clock.limit(cell)
        seconds = self._clock.allowed(limit)
        finished = self._kernel.execute(source, seconds=seconds, outputs=outputs, remembered=remembered)
        if finished.status == "timeout" and seconds == limit:
            self._clock.timed_out(finished.seconds)
        if not finished.alive:
            self.stop()
        return finished

    def _revive(self) -> bool:
        """Have a kernel that knows all that went well before; False where the time is up."""
        if self._kernel is not None and self._kernel.ended() is not None:
            self.stop()  # it ended after its last reply: that costs no cell
        while self._kernel is None and not self._clock.is_up:
            self.restart()
        return self._kernel is not None and not self._clock.is_up

    def restart(self) -> None:
        """A new kernel in a new folder, in which the earlier cells that were ok are run again.

        One that crashes now is not run another time, so that this comes to an end.
        """
        self.close()
        self._scratch = self._kernels.new_scratch(self._files, self._inputs)
        limits = self._limits
        self._kernel = self._kernels.start(self._scratch, limits.memory_bytes, limits.processes, limits.disk_bytes)
        for index, (cell, source) in list(self._done.items()):
            finished = self._execute(cell, source, Outputs(_HIDDEN_OUTPUT_BYTES), remembered=True)
            if not finished.alive or finished.status == "timeout":
                self.log.append(f"cell {index}: {finished.status} when it was run again after a restart")
                del self._done[index]
            if not finished.alive:
                return

    def stop(self) -> None:
        """End the kernel and everything it started; what it wrote stays until :meth:`close`."""
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    def close(self) -> None:
        self.stop()
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None
