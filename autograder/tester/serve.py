"""The student's kernel at the other end of the line: it answers requests until the grader has no more."""

from __future__ import annotations

from typing import Any

from IPython.core.getipython import get_ipython

from autograder.remote.student import answer
from autograder.tester.line import open_line


def serve() -> None:
    """What the grader runs in the student's kernel: answer what comes over the line; an empty request is the last."""
    shell: Any = get_ipython()
    line = open_line(shell.kernel)
    said = ""
    while request := line.ask(said):
        said = answer(shell.user_ns, request, line.ask)
