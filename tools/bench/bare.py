"""The bare limit: the same cells' code in processes forked from a warm one, with nothing around them.

No kernel, no messages, no confinement, no rebuild, no judge, no gradebook: what is left is the notebooks' own
computing, the floor under every grader that shows what the cells show: pictures are drawn, unless told ``--silent``.
A cell's source can be looked up, as in Jupyter: the visible checks read the student's code.
The course's own drawings, which are the same for everybody, are left out, as the grader makes them once for all; with
``--everything`` they are drawn for everybody, as Jupyter does it.
"""

import ast
import contextlib
import io
import json
import linecache
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.core import pylabtools
from matplotlib.figure import Figure

from autograder.assignment.assignment import Assignment
from autograder.kernel.fork_server import variables
from autograder.kernel.imports import imports_of
from autograder.kernel.warm_process import warm_up
from autograder.model import cells
from autograder.model.course import Course
from autograder.pipeline.drawings import name_of_drawing
from autograder.pipeline.rebuild import inputs_of, prepare
from autograder.references.write import Files, lay_out
from autograder.release.as_submitted import solved


def main(course: Path, assignment_name: str, submissions: int, workers: int, words: Sequence[str]) -> None:
    """Print the seconds that ``submissions`` solved submissions take, ``workers`` at a time."""
    os.environ |= variables()  # a kernel's
    imports = imports_of(Course(course))
    warm_up(imports.warm, imports.pictures)
    assignment = Assignment.open(course, assignment_name)
    prepared = prepare(solved(assignment), assignment)
    jobs = [made.notebook for _ in range(submissions) for made in prepared.rebuilt.values()]
    running: set[int] = set()
    started = time.perf_counter()
    for notebook in jobs:
        if len(running) == workers:
            running.discard(_reap())
        running.add(_fork(notebook, prepared.files, inputs_of(notebook, assignment.references), words))
    while running:
        running.discard(_reap())
    print(json.dumps(time.perf_counter() - started))


def _reap() -> int:
    child, status = os.wait()
    if status:
        raise SystemExit(f"a bare process ended with status {status}")
    return child


def _fork(notebook: object, files: dict[str, bytes], inputs: dict[str, Files], words: Sequence[str]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        with tempfile.TemporaryDirectory() as folder:
            _execute(notebook, files, inputs, Path(folder), words)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        os._exit(1)
    os._exit(0)


def _execute(
    notebook: object, files: dict[str, bytes], stored_inputs: dict[str, Files], folder: Path, words: Sequence[str]
) -> None:
    work, inputs = folder / "work", folder / "inputs"
    for name, data in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(data)
    for slug, stored in stored_inputs.items():
        lay_out(stored, inputs / slug)
    os.chdir(work)
    os.environ |= {"AUTOGRADER_INPUTS": str(inputs), "AUTOGRADER_ANSWERS": str(folder / "answers"), "MPLBACKEND": "Agg"}
    names: dict[str, object] = {"__name__": "__main__", "display": lambda *values: None}
    with contextlib.redirect_stdout(io.StringIO()):
        for number, cell in enumerate(notebook.cells):
            ours = "--everything" not in words and name_of_drawing(cell.source, "course.figures")
            if cell.cell_type == "code" and not ours:
                parts = cells.split_hidden(cells.without_magics(cell.source))
                value = _value(f"{parts.visible}\n{parts.hidden}", f"cell {number}.py", names)
                if "--silent" not in words:
                    _draw(value)


def _value(source: str, name: str, names: dict[str, object]) -> object:
    """Execute the source; the value of its last expression, None where it ends otherwise."""
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names) if last else None


def _draw(value: object) -> None:
    """As Jupyter draws what a cell shows: its value, where that is a figure, and every figure left open."""
    shown = [value] if isinstance(value, Figure) else []
    for figure in {*shown, *(plt.figure(number) for number in plt.get_fignums())}:
        pylabtools.print_figure(figure)  # as kernels do it: warm_up has made that quicker
    plt.close("all")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
