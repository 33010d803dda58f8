"""One request to a kernel, from sending to its end, whatever end that is."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import zmq

from autograder.kernel.channels import MAX_CONTENT, MAX_MESSAGE, Channel, KernelChannels, TesterQuestion, lost
from autograder.kernel.outputs import Outputs, problem
from autograder.tester.failure import line_that_raised
from autograder.tester.line import SERVING

Status = Literal["ok", "error", "crashed", "timeout"]

TICK = 50  # milliseconds between looks at the clock and at the grader's own memory
_BATCH = 100  # messages taken in between two such looks
GRACE = 2.0  # seconds that an interrupted cell has to stop
_IDLE = 1.0  # seconds that the outputs have to arrive after the reply
LAST_WORDS = 0.5  # seconds between a lost connection and the news of the process's end
_CHECK_EVERY = 0.01  # seconds of taking in, after which the grader's own memory is looked at

#: The name of the value in which a tester's cell tells how it ended.
ENDED = "ended"
DISK_FULL = "the disk of the temporary folder was full; make room there, or set TMPDIR"


@dataclass(frozen=True)
class Finished:
    """How a request ended. ``alive`` is False where the kernel went with it, or must go.

    ``raised``: see :func:`~autograder.tester.failure.line_that_raised`.
    ``values``: name -> JSON text of the expressions that were asked for, where the code ended well.
    """

    status: Status
    ename: str = ""
    evalue: str = ""
    seconds: float = 0.0
    raised: tuple[str, str] = ("", "")
    alive: bool = True
    disk_full: bool = False  # meanwhile, and by others
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ProcessHandle:
    """What an execution needs of a kernel's process: to interrupt it, to hear of its end and of a full disk."""

    interrupt: Callable[[], None]
    ended: Callable[[], str | None]  # how the process ended; None while it lives
    descriptor: int | None  # readable when it has ended, where there is such a thing
    disk_full: Callable[[], bool]


#: The type of a value that :class:`Finished` carries: JSON, made by the grader's own code inside the kernel.
VALUE = "application/vnd.autograder+json"


class Execution:
    """Code that runs in a kernel. ``remembered`` cells count up and stay in ``In``.

    expressions: name -> expression, evaluated after the code, see :attr:`Finished.values`.
    line: on which the code may ask questions, by :mod:`autograder.tester.line`. It is told the request's name there
    first; a question that comes before the last one is answered is dropped.
    then: an expression that is evaluated after the code, and asks; its first question counts when all was shown.
    """

    def __init__(
        self,
        channels: KernelChannels,
        process_handle: ProcessHandle,
        code: str,
        seconds: float,
        outputs: Outputs,
        remembered: bool,
        expressions: Mapping[str, str] = {},
        line: Channel | None = None,
        then: str = "",
    ) -> None:
        self._channels, self._process_handle, self._line = channels, process_handle, line
        self.outputs = outputs
        self._reply: dict[str, Any] | None = None
        self._question: TesterQuestion | None = None
        self._replied_at = self._lost_at = float("inf")
        self._idle = self._timed_out = False
        self._shown, self._asked_at = not then, float("inf")
        self._disk_full = process_handle.disk_full()
        self._start = time.monotonic()
        self._seconds, self._end = seconds, self._start + seconds
        self._sockets = (channels.shell, channels.iopub)
        self._poller = zmq.Poller()
        for source in (*self._sockets, channels.shell_lost, channels.iopub_lost):
            self._poller.register(source, zmq.POLLIN)
        if process_handle.descriptor is not None:
            self._poller.register(process_handle.descriptor, zmq.POLLIN)
        if line is not None:
            self._poller.register(line.source, zmq.POLLIN)
        self._request = channels.request(
            "execute_request",
            {"code": code, "silent": bool(expressions), "store_history": remembered,
             "user_expressions": {"then": then} if then else dict(expressions), "allow_stdin": False,
             "stop_on_error": False},
        )  # fmt: skip
        if line is not None:
            line.begin(self._request)

    def wait(self, answer: Callable[[bytes | None, float], bytes] | None = None) -> Finished:
        """Collect what the code shows until it ends, or must end.

        answer: called with each question and the seconds that are left; gives the answer.
        """
        extended = False
        while not isinstance(said := self.proceed(), Finished):
            assert answer is not None  # without, no question is taken in
            data = answer(said.data, self._end - time.monotonic())
            if time.monotonic() > self._end and not extended:  # the answer came late; the code must hear it to stop
                self._end, extended = time.monotonic() + LAST_WORDS, True
            self._resume(data)
        return said

    def proceed(self) -> Finished | TesterQuestion:
        """Wait for the code's end, or for its next question, which :meth:`reply` answers."""
        while not self._is_asked():
            if not self._poller.poll(TICK):
                self._disk_full = self._disk_full or self._process_handle.disk_full()
            if self._is_asked():
                break
            self._take_in()
            if (finished := self._judge(time.monotonic())) is not None:
                full = self._disk_full or (finished.status != "ok" and self._process_handle.disk_full())
                return replace(finished, seconds=time.monotonic() - self._start, disk_full=full)
        assert self._question is not None
        return self._question

    def _is_asked(self) -> bool:
        """Whether the next question has come: most are answered at once, and nothing else has happened meanwhile."""
        now = time.monotonic()
        if self._line is not None and self._question is None and (question := self._line.question()) is not None:
            if now > self._end:
                self._judge(now)  # it is interrupted all the same
            self._question, self._asked_at = question, now
        return self._question is not None and (self._shown or now > self._asked_at + _IDLE)

    def reply(self, data: bytes, seconds: float) -> None:
        """Answer the question, and give the code as many seconds from now on."""
        self._seconds, self._end, self._timed_out = seconds, time.monotonic() + seconds, False
        self._resume(data)

    def _resume(self, data: bytes) -> None:
        assert self._line is not None
        self._line.drop()
        self._question = None
        self._line.say(data)

    def _take_in(self) -> None:
        check_at = time.monotonic() + _CHECK_EVERY
        for socket in self._sockets:
            for _ in range(_BATCH):
                if time.monotonic() > check_at:
                    if self._channels.flooded():
                        return
                    check_at = time.monotonic() + _CHECK_EVERY
                try:
                    message = self._channels.receive(socket)
                except zmq.Again:
                    break
                if message is None or message.parent != self._request:
                    continue
                if socket is self._channels.shell:
                    if message.kind == "execute_reply" and self._reply is None:
                        self._reply, self._replied_at = message.content, time.monotonic()
                elif message.kind == "status":
                    state = message.content.get("execution_state")
                    self._idle, self._shown = self._idle or state == "idle", self._shown or state == SERVING
                elif message.oversized:
                    self.outputs.omit(f"an output of more than {MAX_CONTENT >> 20} MB was left out")
                else:
                    self.outputs.add(message.kind, message.content)

    def _judge(self, now: float) -> Finished | None:
        """How it ended, if it has; interrupts it when its time is up."""
        if self._channels.flooded():
            return self._gone("it flooded the grader with messages")
        if self._reply is not None and (self._idle or now > self._replied_at + _IDLE):
            return self._answered(self._reply)
        if (ending := self._process_handle.ended()) is not None:
            self._take_in()
            return self._gone(ending)
        if lost(self._channels.shell_lost) or lost(self._channels.iopub_lost):
            self._lost_at = min(self._lost_at, now)
        if now > self._lost_at + LAST_WORDS:
            return self._gone(f"it cut the connection, or sent more than {MAX_MESSAGE >> 20} MB at once")
        if now > self._end and not self._timed_out:
            self._timed_out = True
            self._process_handle.interrupt()
        if now > self._end + GRACE:
            return self._gone("it did not stop when interrupted")
        return None

    @property
    def took_too_long(self) -> bool:
        """Whether the time of the code, or of its last answer, was up before it ended or asked again."""
        return self._timed_out

    def _answered(self, reply: dict[str, Any]) -> Finished:
        ename, evalue, trace = problem(reply)
        if self._timed_out:
            return too_long(self._seconds)
        if reply.get("status") == "ok":
            return Finished("ok", values=_values(reply.get("user_expressions")))
        return Finished("error", ename, evalue, raised=line_that_raised("\n".join(trace)))

    def _gone(self, how: str) -> Finished:
        if self._timed_out:
            return replace(too_long(self._seconds, how), alive=False)
        return Finished("crashed", "KernelDied", f"the kernel died: {how}", alive=False)


def too_long(seconds: float, how: str = "") -> Finished:
    """``how``: what became of the kernel over it."""
    return Finished("timeout", "Timeout", f"the cell took longer than {seconds:g} s{'; ' if how else ''}{how}")


def _values(expressions: Any) -> dict[str, str]:
    """name -> JSON text, of what was evaluated without an error. Nothing here is of any certain shape."""
    found: dict[str, str] = {}
    for name, made in expressions.items() if isinstance(expressions, dict) else ():
        data = made.get("data") if isinstance(made, dict) else None
        text = data.get(VALUE) if isinstance(data, dict) else None
        if isinstance(text, str):
            found[str(name)] = text
    return found
