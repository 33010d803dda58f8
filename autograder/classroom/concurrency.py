"""How many notebooks of one submission are run at the same time: as many as take nothing from each other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from autograder.kernel.disk_quota import kernels_within_quota
from autograder.model.limits import Limits

_GROUPS = Path("/sys/fs/cgroup")


def notebooks_at_once(notebooks: int, limits: Limits, submissions: int = 1, workers: int = sys.maxsize) -> int:
    """For each of ``submissions`` that are graded at the same time, where ``workers`` notebooks may be at work in all.

    Each has a core to itself, memory and disk up to its limits: else one could be cut off that alone comes to its end,
    and one submission could do what otherwise takes several, which is to fill the disk for all.
    """
    room = min(workers, cores(), free_memory() // limits.memory_bytes, kernels_within_quota(limits.disk_bytes))
    return max(1, min(notebooks, room // max(1, submissions)))


def cores() -> int:
    """The processors that this process may use at once, in a container too."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([mine, *_quotas()]))


def free_memory() -> int:
    """Bytes that more processes may take here; very many where nobody can tell."""
    return min([*_available(), *_memory_limits()], default=sys.maxsize)


def _quotas() -> Iterator[int]:
    """Whole processors that the groups of this process have: processor time, and in which time, in microseconds."""
    for group in _groups():
        yield from _shares(_words(group / "cpu.max"))
    version_1 = _GROUPS / "cpu"
    yield from _shares([*_words(version_1 / "cpu.cfs_quota_us"), *_words(version_1 / "cpu.cfs_period_us")])


def _shares(words: list[str]) -> Iterator[int]:
    with suppress(ValueError, ZeroDivisionError):  # no limit, or nothing there
        quota, period = map(int, words)
        if quota > 0:
            yield quota // period


def _available() -> Iterator[int]:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) << 10


def _memory_limits() -> Iterator[int]:
    for path in (*(group / "memory.max" for group in _groups()), _GROUPS / "memory" / "memory.limit_in_bytes"):
        yield from (int(word) for word in _words(path) if word.isdigit())


def _groups() -> Iterator[Path]:
    """The control group that this process is in, and those around it."""
    for line in _lines(Path("/proc/self/cgroup")):
        if line.startswith("0::"):
            own = _GROUPS / line[3:].strip("/")
            yield from (own, *(parent for parent in own.parents if parent.is_relative_to(_GROUPS)))


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _lines(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text().splitlines()
    return []
