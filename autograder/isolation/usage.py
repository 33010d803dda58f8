"""What a tree of processes uses, read from ``/proc``: members, threads, memory; what it keeps in files and pipes."""

import contextlib
import os
import re
import signal
import stat
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from autograder.isolation.syscalls import SHARED_BYTES

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


#: Folders with more entries than this count as full: looking at them all would take too long.
MAX_FILES = 20_000
#: A deleted file that a process has mapped counts as this much at least: how much of it there is cannot be seen.
MAPPED_BYTES = 16 << 20

_PIPE_BYTES = 1 << 16
_MAPPINGS_EVERY = 2.0  # seconds, or sooner where much was written: they cost milliseconds a process
_MUCH = 32 << 20
_HIDDEN_FOR = 5  # looks
_DELETED = re.compile(rb"^(\w+)-(\w+) \S+ (\w+) \S+ (\d+)\s+(/.*) \(deleted\)$", re.MULTILINE)


def disk(folders: Iterable[str], most: int) -> int:
    """Bytes that files beneath ``folders`` take; more than ``most`` where they are too many, or cannot be counted."""
    total = entries = 0
    todo = list(folders)
    while todo:
        try:
            with os.scandir(todo.pop()) as listing:
                for entry in listing:
                    entries += 1
                    with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            todo.append(entry.path)
                    if entries > MAX_FILES or total > most:
                        return most + 1
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return most + 1
    return total


@dataclass
class ResourceUse:
    """``memory``: bytes that no process's own memory shows. ``disk``: bytes of files without a name. ``hidden``: a
    process lets nobody see what it holds."""

    memory: int = 0
    disk: int = 0
    hidden: bool = False


@dataclass
class OpenResources:
    """What the members of one tree hold, look by look. ``folders``: where they may write."""

    folders: tuple[str, ...]
    socket_bytes: int = field(default_factory=lambda: _number("/proc/sys/net/core/wmem_default", 212_992))
    _mapped: dict[int, int] = field(default_factory=dict)  # inode of a deleted file -> most bytes seen
    _shared: set[int] = field(default_factory=set)
    _hidden: dict[int, int] = field(default_factory=dict)  # process id -> looks
    _next: float = field(default_factory=lambda: time.monotonic() + _MAPPINGS_EVERY)
    _faults: int = 0
    _free: int = 0

    def __post_init__(self) -> None:
        self._free = self._room()  # the tree is about to be born, and has nothing mapped

    def look(self, processes: list[Process]) -> ResourceUse:
        sockets: set[int] = set()
        pipes: set[int] = set()
        nameless: dict[int, int] = {}
        hidden = {process.pid for process in processes if not _descriptors(process, sockets, pipes, nameless)}
        self._hidden = {pid: self._hidden.get(pid, 0) + 1 for pid in hidden}
        if self._due(processes):
            self._look_at_mappings(processes)
        memory = len(sockets) * self.socket_bytes + len(pipes) * _PIPE_BYTES + len(self._shared) * SHARED_BYTES
        mapped = sum(size for inode, size in self._mapped.items() if inode not in nameless)
        return ResourceUse(memory, sum(nameless.values()) + mapped, any(n > _HIDDEN_FOR for n in self._hidden.values()))

    def _due(self, processes: list[Process]) -> bool:
        """Whether enough has happened since the last look at mappings: time, writing to memory, or to disk."""
        now, faults, free = time.monotonic(), sum(process.faults for process in processes), self._room()
        if now < self._next and (faults - self._faults) * PAGE < _MUCH and self._free - free < _MUCH:
            self._faults, self._free = min(faults, self._faults), max(free, self._free)
            return False
        self._next, self._faults, self._free = now + _MAPPINGS_EVERY, faults, free
        return True

    def _room(self) -> int:
        try:
            state = os.statvfs(self.folders[0])
            return state.f_bfree * state.f_frsize
        except (OSError, IndexError):
            return 0

    def _look_at_mappings(self, processes: list[Process]) -> None:
        before, self._mapped, self._shared = self._mapped, {}, set()
        beneath = tuple(os.fsencode(folder) + b"/" for folder in self.folders)
        for process in processes:
            for start, end, offset, inode, path in _DELETED.findall(_mappings(process)):
                key = int(inode)
                if path == b"/dev/zero":
                    self._shared.add(key)
                elif path.startswith(beneath):
                    size = int(offset, 16) + int(end, 16) - int(start, 16)
                    self._mapped[key] = max(MAPPED_BYTES, size, self._mapped.get(key, 0), before.get(key, 0))


def _descriptors(process: Process, sockets: set[int], pipes: set[int], nameless: dict[int, int]) -> bool:
    """Add what a process has open; False where it may not be seen."""
    folder = f"{process.place}/fd"
    try:
        names = os.listdir(folder)
    except PermissionError:
        return False
    except OSError:  # it ended meanwhile
        return True
    for name in names:
        try:
            state = os.stat(f"{folder}/{name}")
        except OSError:  # closed meanwhile
            continue
        if stat.S_ISSOCK(state.st_mode):
            sockets.add(state.st_ino)
        elif stat.S_ISFIFO(state.st_mode):
            pipes.add(state.st_ino)
        elif stat.S_ISREG(state.st_mode) and state.st_nlink == 0:
            nameless[state.st_ino] = state.st_blocks * 512
    return True


def _mappings(process: Process) -> bytes:
    try:
        with open(f"{process.place}/maps", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _number(path: str, otherwise: int) -> int:
    try:
        with open(path, "rb") as file:
            return int(file.read())
    except (OSError, ValueError):
        return otherwise
