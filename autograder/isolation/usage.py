"""What a tree of processes uses, read from ``/proc``: members, memory, disk."""

from __future__ import annotations

import os
import stat
import time
from collections import defaultdict
from collections.abc import Iterable

#: A folder with more entries than this counts as full: looking at them all would take too long.
MOST_FILES = 20_000

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def descendants(ancestor: int) -> list[int]:
    """Process ids of all living descendants, parents before children; those that have ended count no more."""
    children: dict[int, list[int]] = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit() and (parent := _parent(name)):
            children[parent].append(int(name))
    found: list[int] = []
    todo = [ancestor]
    while todo:
        found += (born := children[todo.pop()])
        todo += born
    return found


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()  # the name before it may hold anything
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[1])


def tasks(pids: Iterable[int]) -> int:
    """Processes and threads together."""
    count = 0
    for pid in pids:
        try:
            count += len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            continue
    return count


def memory(pids: Iterable[int]) -> int:
    """Bytes resident, pages that several processes share counted for each of them."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                total += int(file.read().split()[1]) * _PAGE
        except OSError:
            continue
    return total


def killed_for_memory() -> int:
    """How many processes this machine has killed because its memory, or that of a group of processes, ran out."""
    with open("/proc/vmstat", "rb") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(b"oom_kill "))


class FairMemory:
    """Bytes resident, shared pages divided among those who share them.

    That costs milliseconds a process, so that each look measures only some of them, those first that were not
    measured for longest.
    """

    def __init__(self) -> None:
        self._known: dict[int, int] = {}  # process id -> bytes, the latest measured last

    def look(self, pids: Iterable[int], seconds: float) -> int:
        """All that is known of ``pids`` after measuring for ``seconds``, and at least one of them."""
        present = set(pids)
        self._known = {pid: size for pid, size in self._known.items() if pid in present}
        deadline = time.monotonic() + seconds
        for pid in [*(present - self._known.keys()), *self._known]:
            self._known.pop(pid, None)
            self._known[pid] = _share(pid)
            if time.monotonic() > deadline:
                break
        return sum(self._known.values())


def _share(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            return sum(int(line.split()[1]) << 10 for line in file if line.startswith((b"Pss:", b"SwapPss:")))
    except OSError:
        return memory([pid])


def disk(folders: Iterable[str], pids: Iterable[int], most: int) -> int:
    """Bytes that the files beneath ``folders`` take, and those deleted files that a process still holds open.

    Stops counting beyond ``most``; a folder that cannot be walked counts as too much.
    """
    total = 0
    entries = 0
    todo = list(folders)
    while todo and total <= most:
        try:
            with os.scandir(todo.pop()) as listing:
                for entry in listing:
                    entries += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    if entries > MOST_FILES or total > most:
                        return most + 1
        except (FileNotFoundError, NotADirectoryError):  # deleted meanwhile
            continue
        except OSError:
            return most + 1
    return total + sum(map(_deleted_but_open, pids))


def _deleted_but_open(pid: int) -> int:
    folder = f"/proc/{pid}/fd"
    total = 0
    try:
        for name in os.listdir(folder):
            state = os.stat(f"{folder}/{name}")
            if stat.S_ISREG(state.st_mode) and state.st_nlink == 0:
                total += state.st_blocks * 512
    except OSError:  # it ended meanwhile, or closed the file
        pass
    return total
