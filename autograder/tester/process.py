"""A forked shell without a kernel's sockets around it, which executes one cell after the other: a tester's, or those of
a student's second run, which nobody sees.

It has the kernel's shell, whose outputs go over the line, and no messages of Jupyter's: nobody but the grader speaks to
it, and starting a kernel for each notebook would cost more than its tests.
"""

import asyncio
import io
import json
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

from jupyter_client.session import Session

from autograder.tester.cell import run
from autograder.tester.line import ENDED, OUTPUT, QUESTION, Socket

_AT_ONCE = 1 << 16  # characters that are printed until they are sent


def prepare_outputs() -> None:
    """Make what :func:`serve` would make: a session of Jupyter's has a dozen traits to set up."""
    _outputs()


@cache
def _outputs() -> "_Outputs":
    return _Outputs()


def serve(shell: Any, own_kernel: Callable[..., Any]) -> None:
    """Execute cells until the grader is gone. own_kernel: ipykernel's, with traits of this process's own."""
    socket = Socket()
    outputs = _outputs()
    outputs.speak_over(socket)
    _speak_through(shell, outputs)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cells: _Cells | None = None
    while True:
        try:
            text = socket.receive().decode()
        except EOFError:
            return
        task = json.loads(text)
        if "cell" in task and cells is None:
            cells = _Cells(shell, own_kernel, outputs)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            ended = run(text, _Line(socket)).content if cells is None else cells.run(**task)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        outputs.flush()
        socket.send(ENDED + ended.encode("utf-8", "replace"))


class _Cells:
    """A student's cells, executed as ipykernel does it. Nobody looks at a traceback, which takes long to lay out."""

    def __init__(self, shell: Any, own_kernel: Callable[..., Any], outputs: "_Outputs") -> None:
        self._outputs = outputs
        thread = SimpleNamespace(parent_thread=threading.current_thread())
        self._kernel = own_kernel(session=outputs, shell_channel_thread=thread)
        shell.kernel = shell.parent = self._kernel
        shell.showtraceback = shell.showsyntaxerror = self._note
        shell.InteractiveTB.structured_traceback = lambda *_, **__: []  # else it is laid out for the history
        self._loop = asyncio.new_event_loop()
        self._trace: list[str] = []

    def _note(self, *_: Any, **__: Any) -> None:
        self._trace = traceback.format_list(traceback.extract_tb(sys.exc_info()[2])[-1:])

    def run(self, cell: str, remembered: bool, printed: bool) -> str:
        self._outputs.kinds = ("execute_result", "stream") if printed else ("execute_result",)
        self._trace = []
        try:
            reply = self._loop.run_until_complete(
                self._kernel.do_execute(cell, silent=False, store_history=remembered, allow_stdin=False)
            )
            told = {name: str(reply[name]) for name in ("ename", "evalue") if name in reply}
        except BaseException as error:  # an interrupt that came while nothing ran
            told = {"ename": type(error).__name__}
        return json.dumps(told | {"traceback": self._trace})


class _Line:
    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    def ask(self, text: str) -> str:
        self._socket.send(QUESTION + text.encode("utf-8", "replace"))
        return self._socket.receive().decode("utf-8", "replace")


class _Outputs(Session):
    """Takes the place of Jupyter's session and of the streams: whatever the shell shows goes over the line."""

    def __init__(self) -> None:
        super().__init__(key=b"")
        self.kinds: tuple[str, ...] = ()  # that are shown; all where there are none
        self._socket: Socket | None = None
        self._printed: list[str] = []
        self._waiting = 0
        self._name = ""

    def speak_over(self, socket: Socket) -> None:
        self._socket = socket

    def printed(self, name: str, text: str) -> None:
        if name != self._name:
            self.flush()
        self._name = name
        self._printed.append(text)
        self._waiting += len(text)
        if self._waiting > _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        text, self._printed, self._waiting = "".join(self._printed), [], 0
        if text:
            self._say("stream", {"name": self._name, "text": text})

    def msg(self, kind: str, content: dict[str, Any] | None = None, **_: Any) -> dict[str, Any]:  # type: ignore[override]
        return {"msg_type": kind, "content": content or {}}

    def send(self, _socket: Any, message: Any, content: dict[str, Any] | None = None, **_: Any) -> None:  # type: ignore[override]
        if isinstance(message, str):
            message = self.msg(message, content)
        self.flush()
        self._say(message["msg_type"], message["content"])

    def _say(self, kind: str, content: dict[str, Any]) -> None:
        assert self._socket is not None
        if not self.kinds or kind in self.kinds:
            self._socket.send(OUTPUT + json.dumps([kind, content], default=repr).encode("utf-8", "replace"))


class _Stream(io.TextIOBase):
    encoding = "utf-8"

    def __init__(self, name: str, write: Callable[[str, str], None]) -> None:
        super().__init__()
        self.name, self._write = name, write

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._write(self.name, text)
        return len(text)


def _speak_through(shell: Any, outputs: _Outputs) -> None:
    sys.stdout, sys.stderr = _Stream("stdout", outputs.printed), _Stream("stderr", outputs.printed)
    for publisher in (shell.displayhook, shell.display_pub):
        publisher.session = outputs
    shell.enable_gui = shell.ask_exit = lambda *_: None  # there is no kernel whose event loop could be another
