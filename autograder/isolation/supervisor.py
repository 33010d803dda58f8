"""The process above a confined one: it starts it, watches what its tree uses, and leaves nothing behind.

It is forked from trusted code and speaks with the grader over one inherited socket, in JSON, a message a packet:
from the grader ``{"signal": 2}``; to it at last an :class:`Ending`. When the grader's end closes, everything ends.

What the confined process does can end in a ``status`` or a ``reason``, which cost its own cell. A ``fault`` is the
grader's, and no grade at all: whatever is said in one comes over a pipe that is closed before student code begins, or
was found out by the supervisor itself. No exit code and no signal that a process can give itself leads there.
"""

import contextlib
import json
import os
import select
import selectors
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import NoReturn

from autograder.isolation import system, usage
from autograder.isolation.confine import confine, separate_pids
from autograder.isolation.policy import Policy

if sys.platform != "win32":  # where nothing is confined, the module is imported all the same
    import fcntl

_LOOK_EVERY = 0.1  # seconds: what a runaway process can take in this time is what the bounds may be overstepped by
_LOOK_OFTEN = 0.03  # seconds, where many processes take it together
_MANY = 8  # processes
_LOOKS_AT_STRANGERS = 10  # one look in so many goes through all processes of the machine
_LOG_BYTES = 4096
_GIVE_UP_AFTER = 10.0  # seconds of killing
_CONFINED = b"confined"
_BLAMED_ABOVE = 4  # who holds more than a fourth of his memory is the reason why the machine has none left


@dataclass(frozen=True)
class Ending:
    """How a confined process ended. ``reason`` is empty unless it was stopped for what it used."""

    status: int  # as the system reports it to ``waitpid``
    reason: str = ""
    log: str = ""  # the last of what the process wrote to its standard output and error
    fault: str = ""  # what failed on the grader's side; empty where the process itself is the reason

    @property
    def exit_code(self) -> int:
        return os.waitstatus_to_exitcode(self.status)

    def __str__(self) -> str:
        if self.fault or self.reason:
            return self.fault or self.reason
        if self.exit_code >= 0:
            return f"the process ended by itself (exit code {self.exit_code})"
        try:
            return f"the process was ended by {signal.Signals(-self.exit_code).name}"
        except ValueError:
            return f"the process was ended by signal {-self.exit_code}"


def supervise(
    channel: socket.socket, policy: Policy, main: Callable[[], None], line: socket.socket | None = None
) -> NoReturn:
    """Run ``main`` in a confined child until it ends; kill whatever it left; report the ending; exit.

    line: a socket that the child has, as descriptor 4, and nobody else here.

    To be called in a freshly forked process with one thread.
    """
    try:
        ending = _watch_over(channel, policy, main, line)
    except BaseException as error:  # whatever happens, the caller's frames must never run on in here
        ending = Ending(int(signal.SIGKILL), fault=f"its supervisor failed: {type(error).__name__}: {error}")
    with contextlib.suppress(OSError):
        channel.send(json.dumps(asdict(ending)).encode())
    os._exit(0)


def _watch_over(channel: socket.socket, policy: Policy, main: Callable[[], None], line: socket.socket | None) -> Ending:
    _leave_the_family()
    _close_all_but(channel.fileno(), *([line.fileno()] if line else []))
    separate = separate_pids()
    log_end, log_start = os.pipe()
    ready_end, ready_start = os.pipe()
    strangers = usage.everybody()
    child = os.fork()
    if child == 0:
        channel.close()
        _run_confined(policy, main, log_start, ready_start, line)
    if line is not None:
        line.close()
    os.close(log_start)
    os.close(ready_start)
    watch = _Watch(channel, policy, child, log_end, separate, strangers)
    if (failure := _failure_to_confine(ready_end)) is not None:
        return Ending(kill_all(child), fault=f"it could not be confined: {failure}")
    return watch.until_the_end()


def _failure_to_confine(ready: int) -> str | None:
    """Wait until the child is confined, when it closes its end of this pipe; why it is not, if so."""
    with open(ready, "rb") as pipe:
        said = pipe.read()
    return None if said == _CONFINED else said.decode(errors="replace") or "it ended before"


def _leave_the_family() -> None:
    os.setsid()
    system.die_with_parent()
    system.prctl(system.PR_SET_CHILD_SUBREAPER, 1)  # a daemon's new parent is this process
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _close_all_but(*kept: int) -> None:
    for name in os.listdir("/proc/self/fd"):
        if (descriptor := int(name)) > 2 and descriptor not in kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _run_confined(
    policy: Policy, main: Callable[[], None], log: int, ready: int, line: socket.socket | None
) -> NoReturn:
    wanted = [os.open(os.devnull, os.O_RDONLY), log, log, ready, *([line.detach()] if line else [])]
    # each first out of the way of the others
    for target, source in enumerate([fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, len(wanted)) for one in wanted]):
        os.dup2(source, target, inheritable=target < 3)
    os.closerange(len(wanted), 1 << 16)
    try:
        confine(policy)
    except BaseException as error:
        os.write(3, f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    os.write(3, _CONFINED)
    os.close(3)
    try:
        main()
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    else:
        os._exit(0)
    finally:
        os._exit(1)


class _Watch:
    """One confined process from its start to its end."""

    def __init__(
        self, channel: socket.socket, policy: Policy, child: int, log: int, separate: bool, strangers: set[int]
    ) -> None:
        """``strangers``: the processes that were there before the child."""
        self.channel, self.policy, self.child, self.log, self.separate = channel, policy, child, log, separate
        self.tail = b""
        self.most_memory = 0
        self.killed_before = usage.killed_for_memory()
        self.born_with = usage.memory([child])
        self.fair_memory = usage.FairMemory()
        self.open_resources = usage.OpenResources(policy.write)
        self.folders = (*policy.write, *policy.sockets)
        self.laid_out = usage.disk(self.folders, sys.maxsize)  # what came with the notebook
        self.processes, self.looks = 1, 0
        self.strangers = strangers

    def until_the_end(self) -> Ending:
        ended = os.pidfd_open(self.child)
        self.channel.setblocking(False)
        os.set_blocking(self.log, False)
        selector = selectors.DefaultSelector()
        for source in (self.channel, self.log, ended):
            selector.register(source, selectors.EVENT_READ)
        reason = ""
        look_at = time.monotonic() + _LOOK_EVERY
        while not reason:
            ready = {key.fileobj for key, _ in selector.select(max(0.0, look_at - time.monotonic()))}
            if ended in ready:
                break
            if self.log in ready and not self._read_log():
                selector.unregister(self.log)
            if self.channel in ready:
                reason = self._obey()
            if time.monotonic() >= look_at:
                reason = reason or self._overuse()
                look_at = time.monotonic() + (_LOOK_EVERY if self.processes < _MANY else _LOOK_OFTEN)
        status = kill_namespace(self.child, ended) if self.separate else kill_all(self.child)
        self._read_log()
        fault = ""
        if not reason and os.waitstatus_to_exitcode(status) == -signal.SIGKILL:
            reason, fault = self._who_killed_it()
        return Ending(status, reason, self.tail.decode(errors="replace"), fault)

    def _who_killed_it(self) -> tuple[str, str]:
        """Reason and fault where somebody else ended it, by the one signal of which nobody says whence it came."""
        if usage.killed_for_memory() > self.killed_before:
            if self.most_memory > self.policy.memory_bytes // _BLAMED_ABOVE:
                return f"the machine ran out of memory while it used {self.most_memory >> 20} MB", ""
            return "", "the machine ran out of memory"
        # The first process of a namespace cannot be killed from within; its time on the processor it cannot bound.
        return "", "it was killed from outside" if self.separate else ""

    def _obey(self) -> str:
        """Pass on the grader's signal; why everything must end now, if it must."""
        try:
            packet = self.channel.recv(4096)
        except OSError:
            packet = b""
        if not packet:
            return "the grader let go of it"
        number = json.loads(packet)["signal"]
        if number == signal.SIGINT and len(usage.descendants(os.getpid())) > 1:
            # An interrupt reaches one process; the others would go on, and take the next cell's time.
            return "it was interrupted while it had processes of its own"
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child, number)
        return ""

    def _read_log(self) -> bool:
        try:
            piece = os.read(self.log, 1 << 16)
        except BlockingIOError:
            return True
        self.tail = (self.tail + piece)[-_LOG_BYTES:]
        return bool(piece)

    def _overuse(self) -> str:
        """What the tree of processes uses too much of; empty as a rule."""
        policy = self.policy
        self.looks += 1
        if self.looks % _LOOKS_AT_STRANGERS == 0:
            self.strangers.clear()  # numbers are given out again
        processes = usage.tree(os.getpid(), self.strangers)
        self.processes = len(processes)
        if sum(process.threads for process in processes) > policy.processes:
            return f"it had more than {policy.processes} processes and threads"
        held = self.open_resources.look(processes)
        if held.hidden:
            return "it started a process that cannot be watched"
        memory = held.memory + self.fair_memory.look(processes, self.born_with + policy.memory_bytes - held.memory)
        self.most_memory = max(self.most_memory, memory - self.born_with)
        if memory > self.born_with + policy.memory_bytes:
            return f"it used more than {policy.memory_bytes >> 20} MB of memory"
        bound = self.laid_out + policy.disk_bytes
        if usage.disk(self.folders, bound) + held.disk > bound:
            return f"it wrote more than {policy.disk_bytes >> 20} MB to disk"
        return ""


def kill_namespace(child: int, ended: int) -> int:
    """Kill the first process of a namespace, and with it all others there; its wait status.

    ended: its pidfd, which becomes readable when none of them is left: the system ends the others first.
    """
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    select.select([ended], [], [], _GIVE_UP_AFTER)
    return os.waitpid(child, os.WNOHANG)[1]


def kill_all(child: int) -> int:
    """Kill every descendant of this process, and wait for them; the wait status of ``child``."""
    status = 0
    deadline = time.monotonic() + _GIVE_UP_AFTER
    while time.monotonic() < deadline:
        alive = usage.descendants(os.getpid())
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first: none can outrun the killing by forking
            for pid in alive:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        try:
            while True:
                pid, ended = os.waitpid(-1, os.WNOHANG)
                if pid == child:
                    status = ended
                if pid == 0:
                    time.sleep(0.002)
                    break
        except ChildProcessError:
            return status
    return status


_MAX_PACKET = 1 << 16


class Confined:
    """A confined process. Closing, or losing, this object ends it and everything that it started.

    It may be signalled from any thread, also while another one closes this object.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._ending: Ending | None = None
        self._closing = threading.Lock()  # else a signal could go to whatever has got the descriptor's number since

    def fileno(self) -> int:
        """Becomes readable when the process has ended; to be waited on beside other things."""
        return self._channel.fileno()

    def send_signal(self, number: int) -> None:
        """Signal the confined process itself, not what it started. An ended process is passed over."""
        with self._closing, contextlib.suppress(OSError):
            self._channel.send(json.dumps({"signal": int(number)}).encode())

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> Ending | None:
        """How it ended; None while it runs."""
        return self.wait(0.0)

    def wait(self, seconds: float | None = None) -> Ending | None:
        """Wait until the process, and all that it left, is gone; None when the time is up first."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while self._ending is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
            poller = select.poll()
            poller.register(self._channel, select.POLLIN)
            if not poller.poll(left):
                return None
            self._ending = self._receive()
        return self._ending

    def _receive(self) -> Ending:
        """The supervisor's last word; where it was killed itself, its children were with it."""
        try:
            packet = self._channel.recv(_MAX_PACKET)
        except OSError:
            packet = b""
        if not packet:
            return Ending(int(signal.SIGKILL), fault="its supervisor was killed")
        return Ending(**json.loads(packet))

    def close(self) -> None:
        with self._closing:
            self._channel.close()


def channel_pair() -> tuple[socket.socket, socket.socket]:
    """A connected pair that keeps messages apart: one end for the grader, one for the supervisor."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
