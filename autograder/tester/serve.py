"""The student's kernel at the other end of the line: it answers requests until the grader has no more."""

import sys
from typing import Any

from IPython.core.getipython import get_ipython

from autograder.remote.student import answer
from autograder.tester.line import SERVING, open_line


def serve() -> "_Unshown":
    """What the grader runs in the student's kernel: answer what comes over the line; an empty request is the last."""
    shell: Any = get_ipython()
    _say_that_all_was_shown(shell.kernel)
    line = open_line(shell.kernel)
    said = ""
    while request := line.ask(said):
        said = answer(shell.user_ns, request, line.ask)
    return _Unshown()


class _Unshown:
    """A value that shows itself by showing nothing, so that nobody looks for a dozen ways to show it."""

    def _ipython_display_(self) -> None: ...


def _say_that_all_was_shown(kernel: Any) -> None:
    """What the cell before has shown travels on another channel, and may come later than the first question."""
    sys.stdout.flush()
    sys.stderr.flush()
    kernel.session.send(kernel.iopub_socket, "status", {"execution_state": SERVING}, parent=kernel.get_parent("shell"))
