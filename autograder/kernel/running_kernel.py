"""A kernel that runs, as the grader sees it: code goes in, what it shows and how it ended come out."""

import json
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import zmq
from jupyter_client.manager import KernelManager

from autograder.errors import InfrastructureError
from autograder.isolation import Confined
from autograder.kernel.channels import MAX_CONTENT, ForkedKernel, KernelChannels, SocketLine, StdinLine, Texts
from autograder.kernel.execution import (
    DISK_FULL,
    ENDED,
    GRACE,
    LAST_WORDS,
    TICK,
    Execution,
    Finished,
    ProcessHandle,
    Status,
    too_long,
)
from autograder.kernel.outputs import Outputs, problem
from autograder.kernel.scratch import DiskQuota
from autograder.tester import line
from autograder.tester.failure import line_that_raised

_START_SECONDS = 60.0
_TEST = "__import__('autograder.tester.cell', fromlist=['run']).run({!r})"
_SERVE = "__import__('autograder.tester.serve', fromlist=['serve']).serve()"
_LOOK_EVERY = 50  # milliseconds between looks whether it has ended
_ASK_UNANSWERED = 1.0  # seconds: a request waits for its kernel to come up, and no second one is needed
_ASK_AGAIN = 0.05  # seconds, once one channel has answered: the other may have been connected too late


class Kernel:
    """A kernel that serves. To be closed; then every process it started is gone."""

    def __init__(self, manager: ForkedKernel | KernelManager, channels: KernelChannels, quota: DiskQuota) -> None:
        self._manager, self._channels = manager, channels
        forked = manager if isinstance(manager, ForkedKernel) else None
        self._confined = forked.confined if forked else None
        descriptor = self._confined.fileno() if self._confined else None
        self._process_handle = ProcessHandle(manager.interrupt_kernel, self.ended, descriptor, quota.ran_out)
        self._line = SocketLine(forked.line) if forked else StdinLine(channels)

    def execute(
        self,
        code: str,
        *,
        seconds: float,
        outputs: Outputs,
        remembered: bool = True,
        expressions: Mapping[str, str] = {},
        answer: Callable[[bytes | None, float], bytes] | None = None,
    ) -> Finished:
        """Run ``code`` for at most ``seconds``, adding what it shows to ``outputs``. Raises nothing on its account.

        expressions: name -> expression that is evaluated after the code; their values come with what is returned.
        answer: gives the answers to the questions that the code asks by :mod:`autograder.tester.line`, from the
        question (None: too large) and the seconds that are left. Without it, nobody listens.
        Raises InfrastructureError where it failed while others had filled the disk: nobody knows whose fault that is.
        """
        execution = self._begin(code, seconds, outputs, remembered, expressions, answer is not None)
        return self.blamed(execution.wait(answer))

    def blamed(self, finished: Finished) -> Finished:
        """How a request ended. Raises InfrastructureError where others may be the reason."""
        if finished.status != "ok" and finished.disk_full and not self._stopped_for_what_it_used():
            raise InfrastructureError(DISK_FULL)
        return finished

    def test(
        self, task: str, *, seconds: float, outputs: Outputs, answer: Callable[[bytes | None, float], bytes]
    ) -> Finished:
        """Execute a task of :func:`autograder.tester.cell.run`; ``values[ENDED]`` tells how the cell ended."""
        expressions = {ENDED: _TEST.format(task)}
        return self.execute(
            "", seconds=seconds, outputs=outputs, remembered=False, expressions=expressions, answer=answer
        )

    def converse(self, *, seconds: float, outputs: Outputs, cell: str = "") -> Execution:
        """Have calls answered: the kernel asks for the first, its later questions are answers.

        An empty call is the last. ``cell``: code that is executed before, as :meth:`execute` does it.
        """
        if not cell:
            return self._begin(_SERVE, seconds, outputs, False, {}, True)
        return Execution(
            self._channels, self._process_handle, cell, seconds, outputs, True, line=self._line, then=_SERVE
        )

    def _begin(
        self, code: str, seconds: float, outputs: Outputs, remembered: bool, expressions: Mapping[str, str], asks: bool
    ) -> Execution:
        line = self._line if asks else None
        return Execution(self._channels, self._process_handle, code, seconds, outputs, remembered, expressions, line)

    def _stopped_for_what_it_used(self) -> bool:
        ending = self._confined.poll() if self._confined is not None else None
        return ending is not None and bool(ending.reason)

    def ended(self) -> str | None:
        """How the kernel ended; None while it lives. Raises InfrastructureError where that was the grader's fault."""
        if self._confined is None:
            assert isinstance(self._manager, KernelManager)
            return None if self._manager.is_alive() else "the process ended"
        ending = self._confined.poll()
        if ending is not None and ending.fault:
            raise InfrastructureError(f"the kernel is gone: {ending.fault}")
        return None if ending is None else str(ending)

    def kill(self) -> None:
        """Have it do nothing more; :meth:`close` is still to come."""
        if self._confined is not None:
            self._confined.kill()

    def close(self) -> None:
        self._channels.close()
        self._manager.shutdown_kernel(now=True)


def await_ready(kernel: Kernel, channels: KernelChannels) -> None:
    """Return when the kernel answers on both channels: from then on no output can be missed."""
    deadline = time.monotonic() + _START_SECONDS
    heard: set[zmq.Socket[bytes]] = set()
    ask_at = 0.0
    while len(heard) < 2:
        if (ending := kernel.ended()) is not None:
            raise InfrastructureError(f"the kernel did not come up: {ending}")
        if (now := time.monotonic()) > deadline:
            raise InfrastructureError(f"the kernel did not answer within {_START_SECONDS:g} s")
        if now >= ask_at:
            channels.request("kernel_info_request", {})
            ask_at = now + _ASK_UNANSWERED
        for one in (channels.shell, channels.iopub):
            if one not in heard and one.poll(_LOOK_EVERY):
                channels.receive(one)
                heard.add(one)
                ask_at = time.monotonic() + _ASK_AGAIN


Answer = Callable[[bytes | None, float], bytes]
_AT_ONCE = 20  # texts that are taken in between two looks at the clock


class ForkedShell:
    """To be closed; then every process it started is gone."""

    def __init__(self, confined: Confined, end: socket.socket, quota: DiskQuota, printed: bool = False) -> None:
        """printed: whether anybody reads what a student's cells print."""
        self._confined, self._texts, self._quota, self._printed = confined, Texts(end), quota, printed
        self._ready = select.poll()
        for source in (confined, self._texts):
            self._ready.register(source.fileno(), select.POLLIN)

    def test(self, task: str, *, seconds: float, outputs: Outputs, answer: Answer) -> Finished:
        """As :meth:`autograder.kernel.kernels.Kernel.test`."""
        clock = _Clock(seconds)
        disk_full = self._quota.ran_out()
        self._texts.send(task.encode())
        while (finished := self._listen(clock, outputs, answer) or self._end_of(clock)) is None:
            if not self._ready.poll(TICK):
                disk_full = disk_full or self._quota.ran_out()
        if finished.status != "ok" and (disk_full or self._quota.ran_out()) and not self._used_too_much():
            raise InfrastructureError(DISK_FULL)
        return replace(finished, seconds=clock.passed)

    def execute(self, code: str, *, seconds: float, outputs: Outputs, remembered: bool = True) -> Finished:
        """As :meth:`autograder.kernel.kernels.Kernel.execute`, of a student's code."""
        task = json.dumps({"cell": code, "remembered": remembered, "printed": self._printed})
        finished = self.test(task, seconds=seconds, outputs=outputs, answer=lambda *_: b"")
        if finished.status != "ok":
            return finished
        said = _read(finished.values[ENDED])
        ename, evalue, trace = problem(said if isinstance(said, dict) else {"ename": "NoOutcome"})
        status: Status = "error" if ename else "ok"
        return Finished(status, ename, evalue, finished.seconds, line_that_raised("\n".join(trace)))

    def _listen(self, clock: "_Clock", outputs: Outputs, answer: Answer) -> Finished | None:
        """Take in what has come; how the cell ended, if that is among it."""
        for _ in range(_AT_ONCE):
            if (said := self._texts.receive()) is None:
                break
            kind, data = (said.data[:1], said.data[1:]) if said.data is not None else (line.QUESTION, None)
            if kind == line.OUTPUT and data is not None:
                match _read(data):
                    case [str(shown), dict(content)]:
                        outputs.add(shown, content)
            elif kind == line.ENDED and data is not None:
                ended = {ENDED: data.decode(errors="replace")}
                return too_long(clock.seconds) if clock.is_up else Finished("ok", values=ended)
            else:
                given = answer(data, clock.left)
                clock.extend()
                self._texts.send(given)
        return None

    def _end_of(self, clock: "_Clock") -> Finished | None:
        """How the process ended, or why it must; interrupts it when its time is up."""
        if self._texts.closed:
            self._confined.wait(LAST_WORDS)
        if (ending := self.ended()) is not None:
            return _gone(ending, clock)
        if self._texts.closed:
            return _gone("it cut its line", clock)
        if clock.left < 0 and not clock.is_up:
            clock.is_up = True
            self._confined.send_signal(signal.SIGINT)
        return _gone("it did not stop when interrupted", clock) if clock.left < -GRACE else None

    def ended(self) -> str | None:
        """How the process ended; None while it lives. Raises InfrastructureError where that was the grader's fault."""
        ending = self._confined.poll()
        if ending is not None and ending.fault:
            raise InfrastructureError(f"the shell is gone: {ending.fault}")
        return None if ending is None else str(ending)

    def _used_too_much(self) -> bool:
        ending = self._confined.poll()
        return ending is not None and bool(ending.reason)

    def kill(self) -> None:
        self._confined.kill()

    def close(self) -> None:
        self.kill()
        self._confined.wait()
        self._confined.close()
        self._texts.close()


def _read(data: bytes | str) -> Any:
    """None where it is no JSON of a bearable size: it may come from the student's code."""
    try:
        return json.loads(data) if len(data) <= MAX_CONTENT else None
    except (ValueError, RecursionError):
        return None


class _Clock:
    """The time of one cell. ``is_up``: it was interrupted for it."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self._start, self.is_up = seconds, time.monotonic(), False
        self._end, self._extended = self._start + seconds, False

    @property
    def left(self) -> float:
        return self._end - time.monotonic()

    @property
    def passed(self) -> float:
        return time.monotonic() - self._start

    def extend(self) -> None:
        """Where an answer came late, the code must have a moment to hear it."""
        if self.left < 0 and not self._extended:
            self._end, self._extended = time.monotonic() + LAST_WORDS, True


def _gone(how: str, clock: _Clock) -> Finished:
    if clock.is_up:
        return replace(too_long(clock.seconds, how), alive=False)
    return Finished("crashed", "KernelDied", f"the kernel died: {how}", alive=False)
