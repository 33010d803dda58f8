"""Plain tests that only a kernel of the student's can judge: in one that nobody else hears of.

The notebook is executed once more in a kernel and a folder of its own, those tests whole, of all others what students
see. Nothing that it shows, writes or binds gets anywhere: how each test ended is all that is taken from it. In a class
these kernels come after all others, so that what one of them tells is too late for tests that are judged elsewhere.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from nbformat import NotebookNode

from autograder.kernel.outputs import Outputs
from autograder.model import cells
from autograder.pipeline.outcomes import ExecutedNotebook, TestOutcome
from autograder.pipeline.steps import Role, Step
from autograder.pipeline.student_kernel import HIDDEN_OUTPUT_BYTES, StudentKernel

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
