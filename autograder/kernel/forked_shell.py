"""A forked shell as the grader sees it: a confined process that executes cells without Jupyter's messages.

It is a tester, which asks for the student's values, or runs a student's notebook of which nobody sees the outputs.
"""

import json
import select
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from autograder.isolation import Confined
from autograder.kernel.channels import MAX_CONTENT
from autograder.kernel.disk_quota import DiskQuota
from autograder.kernel.errors import InfrastructureError
from autograder.kernel.execution import DISK_FULL, ENDED, GRACE, LAST_WORDS, TICK, Finished, Status, too_long
from autograder.kernel.line import Texts
from autograder.kernel.outputs import Outputs, problem
from autograder.tester import line
from autograder.tester.failure import line_that_raised

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
