"""Attempts to get out, and to take more than is allowed, made by a confined process upon itself.

Each returns what stopped it, or raises Escaped.
"""

import contextlib
import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

if sys.platform != "win32":
    import resource

_PTRACE_ATTACH = 16


_SHARED_BYTES = 4096
_IPC_CREATE, _IPC_REMOVE, _NO_WAIT = 0o1000, 0, 0o4000


@dataclass(frozen=True)
class Shared:
    """What processes share by number or name and not by file; -1 where the system has no such thing."""

    memory: int
    semaphores: int
    messages: int
    queue: bytes  # the name of a POSIX message queue


@dataclass(frozen=True)
class Target:
    """What the probes aim at, all of it outside of the confined process's own folder."""

    scratch: Path
    secret: Path  # a file
    other_scratch: Path  # another kernel's folder, with one file and one unix socket in it
    tcp_port: int
    udp_port: int
    victim: int  # process id of a bystander of the same user
    shared: Shared


class Escaped(Exception):
    """A probe got through."""


def _refused(attempt: Callable[[], object], what: str) -> str:
    try:
        attempt()
    except OSError as error:
        return f"{type(error).__name__}: {error.strerror}"
    raise Escaped(what)


def read_a_secret(target: Target) -> str:
    return _refused(target.secret.read_bytes, f"read {target.secret}")


def list_a_folder_outside(target: Target) -> str:
    return _refused(lambda: os.listdir(target.secret.parent), f"listed {target.secret.parent}")


def write_outside(target: Target) -> str:
    return _refused(lambda: (target.secret.parent / "new").write_text("x"), "made a file outside")


def truncate_a_file_outside(target: Target) -> str:
    return _refused(lambda: os.truncate(target.secret, 0), "emptied a file outside")


def change_the_mode_of_a_file_outside(target: Target) -> str:
    before = os.stat(target.secret)
    try:
        os.chmod(target.secret, 0o777)
        os.utime(target.secret, (0, 0))
    except OSError as error:
        return str(error.strerror)
    if (after := os.stat(target.secret)).st_mode != before.st_mode or after.st_mtime != before.st_mtime:
        raise Escaped("changed the mode or time of a file outside")
    return "the calls change nothing"


def delete_a_file_outside(target: Target) -> str:
    return _refused(target.secret.unlink, "deleted a file outside")


def reach_out_by_a_symlink(target: Target) -> str:
    link = target.scratch / "symlink"
    link.symlink_to(target.secret)
    return _refused(link.read_bytes, "read a file outside through a symlink")


def reach_out_by_a_hard_link(target: Target) -> str:
    return _refused(lambda: os.link(target.secret, target.scratch / "hardlink"), "linked a file from outside")


def read_another_scratch_folder(target: Target) -> str:
    return _refused((target.other_scratch / "answer").read_bytes, "read another kernel's folder")


def connect_to_another_kernels_socket(target: Target) -> str:
    def attempt() -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(target.other_scratch / "socket"))

    return _refused(attempt, "connected to another kernel's unix socket")


def connect_over_tcp(target: Target) -> str:
    def attempt() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
            connection.connect(("127.0.0.1", target.tcp_port))

    return _refused(attempt, "connected over TCP")


def listen_over_tcp(target: Target) -> str:
    def attempt() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
            server.bind(("127.0.0.1", 0))

    return _refused(attempt, "listened over TCP")


def send_over_udp(target: Target) -> str:
    def attempt() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"x", ("127.0.0.1", target.udp_port))

    return _refused(attempt, "sent a datagram")


def signal_a_process_outside(target: Target) -> str:
    return _refused(lambda: os.kill(target.victim, signal.SIGTERM), "sent a signal to a process outside")


def trace_a_process_outside(target: Target) -> str:
    libc = ctypes.CDLL(None, use_errno=True)

    def attempt() -> None:
        if libc.ptrace(_PTRACE_ATTACH, target.victim, None, None) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    return _refused(attempt, "traced a process outside")


def read_another_process(target: Target) -> str:
    return _refused(lambda: Path(f"/proc/{target.victim}/environ").read_bytes(), "read another process's environment")


def lower_the_limits_of_another_process(target: Target) -> str:
    return _refused(
        lambda: resource.prlimit(target.victim, resource.RLIMIT_NOFILE, (8, 8)), "changed another process's limits"
    )


def lower_the_priority_of_another_process(target: Target) -> str:
    return _refused(
        lambda: os.setpriority(os.PRIO_PROCESS, target.victim, 10), "changed another process's share of the processor"
    )


def make_a_namespace(target: Target) -> str:
    return _refused(lambda: _call("unshare", 0x10000000), "made a namespace, in which it would be root")


def _call(name: str, *arguments: object) -> int:
    """A function of the C library; its result, or OSError."""
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    function.restype = ctypes.c_long
    result = int(function(*arguments))
    if result in (-1, 0xFFFFFFFF):  # as the function gives a long or an int
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def attach_the_shared_memory_of_another_process(target: Target) -> str:
    """System V's segments are found by number, wherever a process may look at files."""
    return _refused(lambda: _call("shmat", target.shared.memory, None, 0), "attached a segment of another process")


def make_shared_memory_that_outlives_it(target: Target) -> str:
    def attempt() -> None:
        segment = _call("shmget", 0, ctypes.c_size_t(_SHARED_BYTES), _IPC_CREATE | 0o600)
        _call("shmctl", segment, _IPC_REMOVE, None)

    return _refused(attempt, "made a segment of shared memory")


def change_the_semaphores_of_another_process(target: Target) -> str:
    raise_by_one = (ctypes.c_short * 3)(0, 1, _NO_WAIT)
    return _refused(
        lambda: _call("semop", target.shared.semaphores, raise_by_one, ctypes.c_size_t(1)),
        "changed a semaphore of another process",
    )


def read_the_messages_of_another_process(target: Target) -> str:
    message = ctypes.create_string_buffer(64)
    return _refused(
        lambda: _call("msgrcv", target.shared.messages, message, ctypes.c_size_t(16), ctypes.c_long(0), _NO_WAIT),
        "took a message from the queue of another process",
    )


def open_the_message_queue_of_another_process(target: Target) -> str:
    return _refused(
        lambda: _call("mq_open", target.shared.queue, os.O_RDONLY | os.O_NONBLOCK),
        "opened a message queue of another process",
    )


@contextlib.contextmanager
def shared_by_number() -> Iterator[Shared]:
    """One of each, which every user may open; gone afterwards."""

    def made(name: str, *arguments: object) -> int:
        try:
            return _call(name, 0, *arguments, _IPC_CREATE | 0o666)
        except (OSError, AttributeError):
            return -1

    queue = f"/autograder-{os.getpid()}".encode()
    shared = Shared(
        made("shmget", ctypes.c_size_t(_SHARED_BYTES)), made("semget", ctypes.c_int(1)), made("msgget"), queue
    )
    mask = os.umask(0)
    with contextlib.suppress(OSError, AttributeError):
        _call("msgsnd", shared.messages, ctypes.create_string_buffer(b"\1" + bytes(7) + b"secret", 32), 6, _NO_WAIT)
        os.close(_call("mq_open", queue, os.O_RDWR | os.O_CREAT, 0o666, None))
    os.umask(mask)
    try:
        yield shared
    finally:
        for name, *arguments in (
            ("shmctl", shared.memory, _IPC_REMOVE, None), ("semctl", shared.semaphores, 0, _IPC_REMOVE),
            ("msgctl", shared.messages, _IPC_REMOVE, None), ("mq_unlink", queue),
        ):  # fmt: skip
            with contextlib.suppress(OSError, AttributeError):
                _call(str(name), *arguments)


def pass_on_a_descriptor(target: Target) -> str:
    """In a socket it would live on, and be counted nowhere."""

    def attempt() -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            socket.send_fds(ours, [b"x"], [0])

    return _refused(attempt, "put a descriptor into a socket")


def have_itself_killed_by_the_system(target: Target) -> str:
    """That would look as if somebody else had ended it: a failure of the grader."""
    bound = (ctypes.c_ulong * 2)(60, 60)
    return _refused(lambda: _call("setrlimit", resource.RLIMIT_CPU, bound), "bounded its own time on the processor")


ATTEMPTS: tuple[Callable[[Target], str], ...] = (
    read_a_secret, list_a_folder_outside, write_outside, truncate_a_file_outside, change_the_mode_of_a_file_outside,
    delete_a_file_outside, reach_out_by_a_symlink, reach_out_by_a_hard_link, read_another_scratch_folder,
    connect_to_another_kernels_socket, connect_over_tcp, listen_over_tcp, send_over_udp, signal_a_process_outside,
    trace_a_process_outside, read_another_process, lower_the_limits_of_another_process,
    lower_the_priority_of_another_process, make_a_namespace,
    attach_the_shared_memory_of_another_process, make_shared_memory_that_outlives_it,
    change_the_semaphores_of_another_process, read_the_messages_of_another_process,
    open_the_message_queue_of_another_process, pass_on_a_descriptor, have_itself_killed_by_the_system,
)  # fmt: skip


def bomb_of_processes(target: Target) -> str:
    """Forks until it is stopped; the number of children that lived at once goes to the log."""
    born = 0
    try:
        for _ in range(1000):
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            born += 1
    except OSError as error:
        return f"{born} processes, then {type(error).__name__}"
    time.sleep(1)
    raise Escaped(f"{born} processes at once")


def bomb_of_memory(target: Target) -> str:
    kept = []
    try:
        for _ in range(64):
            kept.append(bytearray(64 << 20))
    except MemoryError:
        return f"MemoryError after {len(kept) * 64} MB"
    raise Escaped("took 4 GB")


def bomb_of_memory_by_many(target: Target) -> str:
    """Each process stays below the bound of one; together they are above it."""
    for _ in range(4):
        if os.fork() == 0:
            held = bytearray(80 << 20)
            held[::4096] = bytes(len(held) // 4096)  # memory counts when it is touched
            time.sleep(3)
            os._exit(0)
    time.sleep(3)
    raise Escaped("several processes took 320 MB together")


def bomb_of_one_file(target: Target) -> str:
    block = bytes(1 << 20)
    with open(target.scratch / "large", "wb") as file:
        for written in range(256):
            try:
                file.write(block)
                file.flush()
            except OSError as error:
                return f"{type(error).__name__} after {written} MB"
    raise Escaped("wrote a file of 256 MB")


def bomb_of_many_files(target: Target) -> str:
    block = bytes(1 << 20)
    for number in range(300):
        (target.scratch / f"file{number}").write_bytes(block)
        time.sleep(0.005)
    time.sleep(1)
    raise Escaped("wrote 300 MB in many files")


def daemon(target: Target) -> str:
    """Leaves a process behind, in a session of its own, whose parent has ended."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(60)
        os._exit(0)
    time.sleep(0.05)
    return "started"


#: name -> whether it must be stopped by the supervisor; otherwise the process meets an error and goes on.
BOMBS: dict[Callable[[Target], str], bool] = {
    bomb_of_processes: False,
    bomb_of_memory: False,
    bomb_of_memory_by_many: True,
    bomb_of_one_file: False,
    bomb_of_many_files: True,
    daemon: False,
}
