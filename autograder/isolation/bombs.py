"""Attempts to take more processes, memory or disk than a confined process may have; see :mod:`~.probes`."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from autograder.isolation.probes import Escaped, Target


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
