"""One request to a kernel, from sending to its end, whatever end that is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import zmq

from autograder.kernel.channels import MAX_CONTENT, MAX_MESSAGE, KernelChannels, lost
from autograder.kernel.outputs import Outputs, problem

Status = Literal["ok", "error", "crashed", "timeout"]

_TICK = 50  # milliseconds between looks at the clock and at the grader's own memory
_BATCH = 100  # messages taken in between two such looks
_GRACE = 2.0  # seconds that an interrupted cell has to stop
_IDLE = 1.0  # seconds that the outputs have to arrive after the reply
_LAST_WORDS = 0.5  # seconds between a lost connection and the news of the process's end
_CHECK_EVERY = 0.01  # seconds of taking in, after which the grader's own memory is looked at


@dataclass(frozen=True)
class Finished:
    """How a request ended. ``alive`` is False where the kernel went with it, or must go."""

    status: Status
    ename: str = ""
    evalue: str = ""
    seconds: float = 0.0
    alive: bool = True
    disk_full: bool = False  # meanwhile, and by others


@dataclass(frozen=True)
class ProcessHandle:
    """What an execution needs of a kernel's process: to interrupt it, to hear of its end and of a full disk."""

    interrupt: Callable[[], None]
    ended: Callable[[], str | None]  # how the process ended; None while it lives
    descriptor: int | None  # readable when it has ended, where there is such a thing
    disk_full: Callable[[], bool]


class Execution:
    """Code that runs in a kernel. ``remembered`` cells count up and stay in ``In``."""

    def __init__(
        self,
        channels: KernelChannels,
        process_handle: ProcessHandle,
        code: str,
        seconds: float,
        outputs: Outputs,
        remembered: bool,
    ) -> None:
        self._channels, self._process_handle, self._outputs, self._seconds = channels, process_handle, outputs, seconds
        self._reply: dict[str, Any] | None = None
        self._replied_at = self._lost_at = float("inf")
        self._idle = self._timed_out = False
        self._disk_full = process_handle.disk_full()
        self._start = time.monotonic()
        self._request = channels.request(
            "execute_request",
            {"code": code, "silent": False, "store_history": remembered, "user_expressions": {},
             "allow_stdin": False, "stop_on_error": False},
        )  # fmt: skip

    def wait(self) -> Finished:
        """Collect what the code shows until it ends, or must end."""
        channels, descriptor = self._channels, self._process_handle.descriptor
        poller = zmq.Poller()
        for source in (channels.shell, channels.iopub, channels.shell_lost, channels.iopub_lost):
            poller.register(source, zmq.POLLIN)
        if descriptor is not None:
            poller.register(descriptor, zmq.POLLIN)
        while (finished := self._judge(time.monotonic())) is None:
            poller.poll(_TICK)
            self._take_in()
            self._disk_full = self._disk_full or self._process_handle.disk_full()
        return replace(finished, seconds=time.monotonic() - self._start, disk_full=self._disk_full)

    def _take_in(self) -> None:
        check_at = time.monotonic() + _CHECK_EVERY
        for socket in (self._channels.shell, self._channels.iopub):
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
                    self._idle = self._idle or message.content.get("execution_state") == "idle"
                elif message.oversized:
                    self._outputs.omit(f"an output of more than {MAX_CONTENT >> 20} MB was left out")
                else:
                    self._outputs.add(message.kind, message.content)

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
        if now > self._lost_at + _LAST_WORDS:
            return self._gone(f"it cut the connection, or sent more than {MAX_MESSAGE >> 20} MB at once")
        if now > self._start + self._seconds and not self._timed_out:
            self._timed_out = True
            self._process_handle.interrupt()
        if now > self._start + self._seconds + _GRACE:
            return self._gone("it did not stop when interrupted")
        return None

    def _answered(self, reply: dict[str, Any]) -> Finished:
        ename, evalue, _ = problem(reply)
        if self._timed_out:
            return Finished("timeout", "Timeout", f"the cell took longer than {self._seconds:g} s")
        if reply.get("status") == "ok":
            return Finished("ok")
        return Finished("error", ename, evalue)

    def _gone(self, how: str) -> Finished:
        if self._timed_out:
            return Finished("timeout", "Timeout", f"the cell took longer than {self._seconds:g} s; {how}", alive=False)
        return Finished("crashed", "KernelDied", f"the kernel died: {how}", alive=False)
