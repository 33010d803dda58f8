"""Place on the disk where kernels have their folders: what each may take of it, and when it ran out for all."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.files.temporary import own_folder
from autograder.isolation import usage
from autograder.kernel.errors import InfrastructureError

_SHARE = 4  # a kernel may take one part in so many of what is free when it starts, so that none can fill the disk alone
_LEAST = 2 << 20  # bytes with which a kernel can begin
_LOW = 16 << 20  # bytes, or an eighth of what was free, below which something may already have failed
_LOW_FILES = 64


class DiskQuota:
    """What was free when a kernel started, and whether others have taken it since. Sizes in bytes."""

    def __init__(self, folder: Path, own: Sequence[Path], disk_bytes: int) -> None:
        """``own``: where the kernel may write at most ``disk_bytes``. Raises InfrastructureError where all is taken."""
        self._folder, self._own = folder, tuple(map(str, own))
        self._laid_out = usage.disk(self._own, sys.maxsize)
        free = _free(folder)
        if free < _LEAST:
            raise InfrastructureError(f"{folder.parent} is full: make room there, or name another place in TMPDIR")
        self._low = min(_LOW, free // 8)
        self.disk_bytes = min(disk_bytes, free // _SHARE)

    def ran_out(self) -> bool:
        """Whether the disk is full, and not by what this kernel wrote itself."""
        if _free(self._folder) >= self._low:
            return False
        bound = self._laid_out + self.disk_bytes
        return usage.disk(self._own, bound) <= bound


def kernels_within_quota(disk_bytes: int) -> int:
    """How many kernels may write so much each and still, all together, cannot fill the disk."""
    return _free(own_folder(short=True)) // (_SHARE * disk_bytes)


def _free(folder: Path) -> int:
    """Bytes that an ordinary user can still write; 0 where no more files can be made."""
    if not hasattr(os, "statvfs"):
        return sys.maxsize
    state = os.statvfs(folder)
    if state.f_files and state.f_favail < _LOW_FILES:
        return 0
    return state.f_bavail * state.f_frsize
