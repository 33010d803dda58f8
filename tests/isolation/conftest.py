"""One fork server for all tests of this folder, and small notebooks."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.isolation import Confined, Ending, Policy, channel_pair, environment, supervise
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.imports import imports_of
from autograder.kernel.scratch import NO_INPUTS, Inputs
from autograder.model.course import Course
from autograder.pipeline.execute import ExecutedNotebook, Kernels, Limits, run
from tests.grading import ROOT

#: What a hidden cell does, without what the course's own hidden cells need beside.
HAND_OVER = """
### BEGIN HIDDEN TESTS
import os, pathlib
def hand_over(slug, content):
    folder = pathlib.Path(os.environ["AUTOGRADER_ANSWERS"], slug)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "0.safetensors").write_bytes(content.encode())
def reference(slug):
    return slug
hand_over(reference("{slug}"), {value})
### END HIDDEN TESTS
"""


#: torch, whose random numbers and threads are looked at, is warm; what takes seconds to import beside it is not.
IMPORTS = replace(imports_of(Course(ROOT)), warm=("numpy", "torch", "safetensors.torch"))


def cell(source: str) -> NotebookNode:
    return new_code_cell(source)


def graded(visible: str, value: str, slug: str = "exercise/one") -> NotebookNode:
    """A graded cell whose hidden part hands over the expression ``value`` as the answer to ``slug``."""
    marks = {"grade": True, "solution": False, "locked": True, "points": 1, "grade_id": slug, "schema_version": 3}
    return new_code_cell(visible + HAND_OVER.format(slug=slug, value=value), metadata={"nbgrader": marks})


def text(executed: NotebookNode) -> str:
    """All that the cells printed and returned."""
    shown = []
    for output in (output for one in executed.cells for output in one.get("outputs", [])):
        shown.append(output.get("text", "") or output.get("data", {}).get("text/plain", ""))
    return "".join(shown)


@pytest.fixture(scope="session")
def fork_server() -> Iterator[KernelForkServer]:
    with closing(KernelForkServer(IMPORTS)) as started:
        started.ready()
        yield started


@pytest.fixture(scope="session")
def kernels(fork_server: KernelForkServer) -> Iterator[Kernels]:
    with Kernels.open(fork_server=fork_server.address, imports=IMPORTS) as opened:
        yield opened


Go = Callable[..., ExecutedNotebook]


@pytest.fixture
def go(kernels: Kernels, tmp_path: Path) -> Go:
    """Run cells as a notebook: ``go(cell(..), graded(..), limits=.., files=..)``."""

    def start(
        *cells: NotebookNode,
        limits: Limits = Limits(),
        files: Mapping[str, bytes] = {},
        inputs: Inputs = NO_INPUTS,
    ) -> ExecutedNotebook:
        answers = tmp_path / "answers"
        answers.mkdir(exist_ok=True)
        notebook = new_notebook(cells=list(cells))
        ran = run(notebook, files=files, inputs=inputs, answers=answers, kernels=kernels, limits=limits)
        kernels.settle()
        return ran

    return start


def confined(attempt: Callable[[], None], write: tuple[Path, ...] = (), **bounds: Any) -> Ending:
    """How a confined process ended that ran ``attempt``, or was stopped in it."""
    ours, theirs = channel_pair()
    readable = environment()
    if os.fork() == 0:
        supervise(theirs, Policy(readable.read, tuple(map(str, write)), readable.listed, **bounds), attempt)
    theirs.close()
    process = Confined(ours)
    ending = process.wait(120)  # only a bound that is not kept lets it wait so long
    process.close()
    os.wait()
    assert ending is not None and not ending.fault, ending
    return ending


def answer(ran: ExecutedNotebook, slug: str = "exercise/one") -> str | None:
    """What was harvested as the answer to ``slug``."""
    file = next(ran.answers.glob(f"*/{slug}/0.safetensors"), None)
    return file.read_text() if file else None
