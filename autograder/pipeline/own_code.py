"""What answers to questions on a student's own code are judged by: runs of this code in a kernel that ran nothing else.

The kernel gets the text of the notebook's code cells. It executes only what the asked function or class needs, never
the cell with the answers, then this code and variants of it. What came of that is handed over as facts; which choice
is right, the judge says.
"""

import ast
import shutil
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from nbformat import NotebookNode

from autograder.exercise.asking import SLUG, leave
from autograder.exercise.own_code import Source, names_set, tree_of
from autograder.exercise.questions import Facts, id_key
from autograder.kernel.kernels import Kernels
from autograder.kernel.scratch import Inputs
from autograder.model import cells
from autograder.model.limits import Clock, Limits
from autograder.model.questions import asking
from autograder.pipeline.outcomes import answers_folder
from autograder.pipeline.steps import OWN, Step
from autograder.pipeline.student_kernel import StudentKernel

#: Of a notebook with more code than this nothing is asked.
MAX_CODE = 1 << 20


def find_out(
    notebook: NotebookNode,
    steps: Sequence[Step],
    kernels: Kernels,
    limits: Limits,
    files: Mapping[str, bytes],
    inputs: Inputs,
    answers: Path,
) -> list[str]:
    """Leave the facts of each cell with questions among the answers; returns what is to be logged.

    Raises InfrastructureError.
    """
    log: list[str] = []
    # what is asked about is written in this notebook: of what it takes from others, ready-made parts do
    without_notebooks = {name: data for name, data in files.items() if not name.endswith(".ipynb")}
    for index, cell in enumerate(notebook.cells):
        if (asked := asking(cell)) is None:
            continue
        answered = answers_to(notebook, index, asked.answers)
        if not needs_facts(cells.max_points(cell), answered):
            continue
        sources = sources_before(notebook, index, _instructors(notebook, steps))
        if sum(len(source) for source, _ in sources) > MAX_CODE:
            continue
        kernel = StudentKernel(kernels, limits, Clock(limits, {}), without_notebooks, inputs, answers, unseen=True)
        given = ", ".join(map(repr, (sources, dict(asked.asked), student_in(answered))))
        call = f"{asked.imported}\n{asked.called}.hand_over({given})"
        try:
            ended = kernel.hidden(index, "", call, [SLUG])
        finally:
            kernel.close()
        if ended.status != "ok":  # who wrote what lies there? The grader's call did not come to its end
            place = answers_folder(answers, index)
            shutil.rmtree(place, ignore_errors=True)
            leave(Facts("", "", unfinished=True), place / SLUG)
        log += [f"for questions: {line}" for line in kernel.log]
    return log


def needs_facts(points: float, answers: Mapping[str, str]) -> bool:
    """Whether the student's code has to be run for the questions: not where nobody answered and nothing is earned.

    Where there are points, who was asked nothing gets them without an answer.
    """
    return bool(points) or bool(student_in(answers))


def student_in(answers: Mapping[str, str]) -> str:
    """To whose questions these are answers, as :func:`id_key` writes the id; empty where nobody answered."""
    return id_key(answers.get("student")) if "asked" in answers else ""


def answers_to(notebook: NotebookNode, index: int, name: str) -> dict[str, str]:
    """The last dict of literals under this name that a cell of the student's sets; empty where there is none."""
    found: dict[str, str] = {}
    for cell in notebook.cells[:index]:
        if cell.cell_type != "code" or cells.is_locked(cell) or name not in cell.source:
            continue
        try:
            body = tree_of(cell.source).body
        except (SyntaxError, RecursionError, MemoryError):
            continue
        for node in body:
            if isinstance(node, ast.Assign) and names_set(node) == [name] and isinstance(node.value, ast.Dict):
                pairs = zip(node.value.keys, node.value.values, strict=True)
                found = {str(key.value): str(value.value) for key, value in pairs
                         if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)}  # fmt: skip
    return found


def sources_before(notebook: NotebookNode, index: int, instructors: Collection[int] = ()) -> list[Source]:
    """The code cells before a cell, without hidden tests. instructors: indices of those that the instructor wrote."""
    before = enumerate(notebook.cells[:index])
    return [(cells.split_hidden(one.source).visible, n in instructors) for n, one in before if one.cell_type == "code"]


def _instructors(notebook: NotebookNode, steps: Sequence[Step]) -> set[int]:
    pairs = enumerate(zip(notebook.cells, steps, strict=True)) if steps else ()
    return {number for number, (cell, step) in pairs if step is not OWN and not cells.is_solution(cell)}
