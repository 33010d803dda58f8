"""What a tree of processes keeps in files, sockets, pipes and mappings, whether or not these have a name."""

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from autograder.isolation.syscalls import SHARED_BYTES
from autograder.isolation.usage import PAGE, Process

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
