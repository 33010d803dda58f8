"""Plain tests that only a kernel of the student's can judge: in one that nobody else hears of.

The notebook is executed once more in a kernel and a folder of its own, those tests whole, of all others what students
see. Nothing that it shows, writes or binds gets anywhere: how each test ended is all that is taken from it.
"""

import contextlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from nbformat import NotebookNode

from autograder.kernel.kernels import Kernels
from autograder.kernel.outputs import Outputs
from autograder.kernel.scratch import Inputs
from autograder.model import cells
from autograder.model.limits import CellLimits, Clock, Limits
from autograder.pipeline.outcomes import TestOutcome
from autograder.pipeline.steps import Role, Step
from autograder.pipeline.student_kernel import HIDDEN_OUTPUT_BYTES, StudentKernel

KERNEL: Role = "kernel"


class Inside:
    """The second kernel of a submission's notebook, for its plain tests."""

    def __init__(
        self,
        kernels: Kernels,
        limits: Limits,
        cell_limits: CellLimits,
        files: Mapping[str, bytes],
        inputs: Inputs,
        answers: Path,
    ) -> None:
        self._student = StudentKernel(kernels, limits, Clock(limits, cell_limits), files, inputs, answers, unseen=True)
        self.read: set[str] = set()
        self.log: list[str] = []

    def judge(
        self, notebook: NotebookNode, steps: Sequence[Step], skipped: Collection[int], whole: Collection[str]
    ) -> dict[int, TestOutcome]:
        """Index of each plain test cell -> how it ended.

        skipped: cells that ended the first kernel, or took too long. whole: of which roles the hidden text is executed,
        too. Raises InfrastructureError.
        """
        last = max((index for index, step in enumerate(steps) if step.role in whole), default=-1)
        found: dict[int, TestOutcome] = {}
        try:
            for index, cell in enumerate(notebook.cells[: last + 1]):
                if cell.cell_type != "code" or index in skipped:
                    continue
                judged = steps[index].role in whole
                source = cell.source if judged else cells.split_hidden(cell.source).visible
                outputs = Outputs(HIDDEN_OUTPUT_BYTES)
                ended = self._student.part(index, str(cell.get("id", "")), source, outputs, remembered=True)
                if judged:
                    found[index] = TestOutcome("kernel", ended, number_shown(outputs.finish()))
        finally:
            self._student.close()
        self.read = self._student.read
        self.log = [f"in the second kernel: {line}" for line in self._student.log]
        return found


def number_shown(outputs: Sequence[NotebookNode]) -> float | None:
    """The number that nbgrader would take for points: the cell's result, where its text is one."""
    for output in outputs:
        if output.output_type == "execute_result":
            with contextlib.suppress(KeyError, ValueError):
                return float(output["data"]["text/plain"])
    return None
