"""The kernel inside of its confinement: ipykernel's application, started in a process forked from the fork server."""

from __future__ import annotations

import logging
import os
import random
import sys
import tempfile
from typing import Any

from ipykernel.iostream import IOPubThread, OutStream
from ipykernel.kernelapp import IPKernelApp
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import activate_matplotlib

from autograder.kernel.launch import Launch

#: Characters of one cell; more than any bound on a cell's output that makes sense.
MAX_PRINTED = 4 << 20
_AT_ONCE = 1 << 18


class BoundedStream(OutStream):
    """Prints in messages of bearable size, and no more of them than the grader would keep.

    A courtesy to honest loops that print: what comes out is bounded on the grader's side in any case, but there a
    flood may cost the kernel.
    """

    _cell = ""
    _printed = 0
    _waiting = 0

    def write(self, string: str) -> int:
        cell = str(self.parent_header.get("msg_id"))
        if cell != self._cell:
            self._cell, self._printed = cell, 0
        room = max(0, MAX_PRINTED - self._printed)
        self._printed += len(string)
        for start in range(0, min(room, len(string)), _AT_ONCE):
            piece = string[start : min(start + _AT_ONCE, room)]
            super().write(piece)
            self._waiting += len(piece)
            if self._waiting >= _AT_ONCE:
                self._waiting = 0
                self.flush()
        return len(string)


class ForkedKernelApp(IPKernelApp):
    """ipykernel without what a confined kernel cannot use: TCP, a debugger, a history on disk."""

    def parse_command_line(self, argv: list[str] | None = None) -> None:
        """There is none: it would be the fork server's."""

    def load_config_file(self, *_: Any, **__: Any) -> None:
        """There is none in a new folder."""

    def init_control(self, context: Any) -> None:
        super().init_control(context)
        # The debugger's own line to the shell socket: connecting is refused in here, and it would try for ever.
        endpoint = self.shell_socket.last_endpoint
        if endpoint:
            self.debug_shell_socket.disconnect(endpoint)

    def init_iopub(self, context: Any) -> None:
        # The pipe for the output of subprocesses is a TCP socket; theirs is captured by file descriptor anyway.
        IOPubThread._setup_pipe_in = lambda thread: None  # type: ignore[method-assign]
        super().init_iopub(context)


def run_kernel(launch: Launch) -> None:
    """Serve requests until the process is ended from outside."""
    os.environ.clear()
    os.environ.update(launch.variables)
    tempfile.tempdir = None  # found again, in the new environment
    os.chdir(launch.folder)
    reseed()
    app = ForkedKernelApp(
        connection_file=launch.connection_file,
        log_level=logging.CRITICAL,
        outstream_class=f"{BoundedStream.__module__}.{BoundedStream.__name__}",
    )
    app.config.HistoryManager.enabled = False
    app.initialize([])
    assert app.shell is not None
    app.shell.ask_exit = lambda: None  # exit() must not cost the next cell its kernel
    _show_figures(app.shell)
    sys.path.insert(0, "")  # only now: a file beside the notebook cannot pass for a part of the kernel
    app.start()


def _show_figures(shell: InteractiveShell) -> None:
    """Tie matplotlib's inline figures to the shell, as its import does where there is a shell already."""
    if "matplotlib_inline.backend_inline" in sys.modules:
        backend = os.environ["MPLBACKEND"]
        activate_matplotlib(backend)
        sys.modules["matplotlib_inline.backend_inline"].configure_inline_support(shell, backend)


def reseed() -> None:
    """Give this process random numbers of its own: all children of a fork server start with the same state."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(int.from_bytes(os.urandom(4), "little"))
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        torch.set_num_threads(1)
        torch.manual_seed(int.from_bytes(os.urandom(8), "little") >> 1)
