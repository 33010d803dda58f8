"""The bare limit: the same cells' code in processes forked from a warm one, with nothing around them.

No kernel, no messages, no confinement, no rebuild, no judge, no gradebook: what is left is the notebooks' own
computing, the floor under every grader.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from autograder import cells
from autograder.assignment import Assignment
from autograder.grading import inputs_of, prepare
from autograder.kernel.template import _WARM
from autograder.release import solved


def main(course: Path, assignment_name: str, submissions: int, workers: int) -> None:
    """Print the seconds that ``submissions`` solved submissions take, ``workers`` at a time."""
    for name in _WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assignment = Assignment.open(course, assignment_name)
    prepared = prepare(solved(assignment), assignment)
    jobs = [made.notebook for _ in range(submissions) for made in prepared.rebuilt.values()]
    running: set[int] = set()
    started = time.perf_counter()
    for notebook in jobs:
        if len(running) == workers:
            running.discard(_reap())
        running.add(_fork(notebook, prepared.files))
    while running:
        running.discard(_reap())
    print(json.dumps(time.perf_counter() - started))


def _reap() -> int:
    child, status = os.wait()
    if status:
        raise SystemExit(f"a bare process ended with status {status}")
    return child


def _fork(notebook: object, files: dict[str, bytes]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        with tempfile.TemporaryDirectory() as folder:
            _execute(notebook, files, Path(folder))
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        os._exit(1)
    os._exit(0)


def _execute(notebook: object, files: dict[str, bytes], folder: Path) -> None:
    work, inputs = folder / "work", folder / "inputs"
    for name, data in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(data)
    for slug, stored in inputs_of(notebook).items():
        (inputs / slug).parent.mkdir(parents=True, exist_ok=True)
        (inputs / slug).symlink_to(stored)
    os.chdir(work)
    os.environ |= {"AUTOGRADER_INPUTS": str(inputs), "AUTOGRADER_ANSWERS": str(folder / "answers"), "MPLBACKEND": "Agg"}
    names: dict[str, object] = {"__name__": "__main__", "display": lambda *values: None}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in notebook.cells:
            if cell.cell_type == "code":
                parts = cells.split_hidden(cells.without_magics(cell.source))
                exec(compile(f"{parts.visible}\n{parts.hidden}", "cell", "exec"), names)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
