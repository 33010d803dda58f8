"""What a tree of processes uses, read from ``/proc``: members, threads, memory. Files: :mod:`.open_resources`."""

import contextlib
import os
import signal
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class Process:
    """A living process, as it was looked at. ``resident`` counts shared pages in full, and what was swapped out."""

    pid: int
    parent: int
    threads: int
    resident: int  # bytes
    faults: int  # since it was forked: each gave it one page at most, of its own or shared
    stopped: bool
    place: str  # its folder in /proc, or that of a thread where the first one has ended


def everybody() -> set[int]:
    """The process ids of all that live now: none of them is a descendant of a process that is started later."""
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def tree(ancestor: int, strangers: set[int] | None = None) -> list[Process]:
    """All living descendants, parents before children; those that have ended count no more.

    strangers: process ids that are not looked at, to which those are added that turn out to belong to others. Who is
    no descendant becomes none, so that the set need be emptied only because numbers are given out again some day.
    A process whose parent was not found belongs to nobody yet: the parent has just ended, and it may be a descendant.
    """
    passed_over = set() if strangers is None else strangers
    children: dict[int, list[Process]] = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit() and (pid := int(name)) not in passed_over and (process := _process(pid)) is not None:
            children[process.parent].append(process)
    found = _below([ancestor], children)
    if children:
        passed_over.update([process.pid for process in _below([0, *passed_over], children)])
    return found


def _below(ancestors: list[int], children: dict[int, list[Process]]) -> list[Process]:
    """Those who descend from these process ids, parents first; they are taken out of ``children``."""
    found: list[Process] = []
    while ancestors:
        found += (born := children.pop(ancestors.pop(), []))
        ancestors += [process.pid for process in born]
    return found


def descendants(ancestor: int) -> list[int]:
    """The process ids of a :func:`tree`."""
    return [process.pid for process in tree(ancestor)]


def _process(pid: int) -> Process | None:
    place = f"/proc/{pid}"
    try:
        fields = _fields(f"{place}/stat")
        threads, resident = int(fields[17]), int(fields[21])
        if fields[0] in b"ZX":
            # A first thread that has ended is shown as if all had, while others run on and hold all the memory.
            if threads < 2:
                return None
            place = f"{place}/task/{max(os.listdir(f'{place}/task'), key=int)}"
            resident = int(_fields(f"{place}/stat")[21])
        faults = int(fields[7]) + int(fields[9])
        return Process(pid, int(fields[1]), threads, resident * PAGE, faults, fields[0] == b"T", place)
    except (OSError, IndexError, ValueError):  # it ended meanwhile
        return None


def _fields(path: str) -> list[bytes]:
    """What follows the name, which may hold anything, in a file called ``stat``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096).rpartition(b")")[2].split()
    finally:
        os.close(descriptor)


def memory(pids: Iterable[int]) -> int:
    """Bytes resident, pages that several processes share counted for each of them."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                total += int(file.read().split()[1]) * PAGE
        except (OSError, IndexError):
            continue
    return total


def killed_for_memory() -> int:
    """How many processes this machine has killed because its memory, or that of a group of processes, ran out."""
    with open("/proc/vmstat", "rb") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(b"oom_kill "))


@dataclass
class _Measured:
    share: int  # bytes, shared pages divided among those who share them
    resident: int
    faults: int


class FairMemory:
    """Bytes that a tree of processes holds, shared pages divided among those who share them.

    To measure that takes milliseconds a process, so that it is done only where a bound could be exceeded: what was
    measured can have grown since by no more than was newly resident, faulted in, or given up by others who shared it.
    All processes stand still while they are measured: forty that are small one after the other could be large together.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Measured] = {}
        self._last: dict[int, int] = {}  # process id -> resident at the last look
        self._given_up = 0  # bytes, since all were measured
        self._swap = _has_swap()

    def look(self, processes: list[Process], bound: int) -> int:
        """Bytes held: exact where they exceed ``bound``, else as many at most."""
        resident = {one.pid: one.resident + (_swapped(one.pid) if self._swap else 0) for one in processes}
        self._given_up += sum(max(0, before - resident.get(pid, 0)) for pid, before in self._last.items())
        self._last = resident
        self._known = {pid: known for pid, known in self._known.items() if pid in resident}
        at_most = min(
            sum(resident.values()), self._given_up + sum(self._at_most(one, resident[one.pid]) for one in processes)
        )
        if at_most <= bound:
            return at_most
        with _standing_still(processes):
            total = 0
            for one in processes:
                share = _share(one)
                self._known[one.pid] = _Measured(share, resident[one.pid], one.faults)
                total += share
                if total > bound:
                    return total
        self._given_up = 0
        return total

    def _at_most(self, process: Process, resident: int) -> int:
        known = self._known.get(process.pid)
        if known is None:
            return resident
        grown = max(0, resident - known.resident) + (process.faults - known.faults) * PAGE
        return min(resident, known.share + grown)


@contextlib.contextmanager
def _standing_still(processes: list[Process]) -> Iterator[None]:
    stopped = [process.pid for process in processes if not process.stopped]
    for pid in stopped:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)


def _share(process: Process) -> int:
    file = "smaps" if "/task/" in process.place else "smaps_rollup"
    try:
        with open(f"{process.place}/{file}", "rb") as lines:
            return sum(int(line.split()[1]) << 10 for line in lines if line.startswith((b"Pss:", b"SwapPss:")))
    except OSError:  # it ended meanwhile and holds nothing, or lets nobody see it and counts in full
        now = _process(process.pid)
        return 0 if now is None else now.resident


def _has_swap() -> bool:
    try:
        with open("/proc/swaps", "rb") as file:
            return len(file.readlines()) > 1
    except OSError:
        return False


def _swapped(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            return sum(int(line.split()[1]) << 10 for line in file if line.startswith(b"VmSwap:"))
    except OSError:
        return 0
