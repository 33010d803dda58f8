"""The Linux calls that Python has no name for, through ctypes: one function each, ``OSError`` on failure.

Beside them the start of a process, which a busy machine may refuse for a moment.
"""

import ctypes
import errno
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

LINUX = sys.platform.startswith("linux")
#: The processor, in the kernel's word; None where the system-call filter does not know it.
MACHINE = platform.machine() if platform.machine() in ("x86_64", "aarch64") else None

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000

CAP_DAC_READ_SEARCH = 2
_CAPABILITY_VERSION_3 = 0x20080522
_LAST_CAPABILITY = 40

#: What the start of a process says on a machine that has no memory or no process to spare just then.
_FOR_A_MOMENT = {errno.EAGAIN, errno.ENOMEM, errno.EFAULT}
_PAUSES = (0.2, 1.0, 3.0)  # seconds before each further try

_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """A new process; ``options``: those of Popen. Raises OSError where three more tries fail, too."""
    for pause in _PAUSES:
        try:
            return subprocess.Popen(command, **options)
        except OSError as error:
            if error.errno not in _FOR_A_MOMENT:
                raise
            time.sleep(pause)
    return subprocess.Popen(command, **options)


def syscall(number: int, *arguments: object) -> int:
    """A system call by its number; the result, or OSError."""
    assert _libc is not None
    return _checked(_libc.syscall(ctypes.c_long(number), *arguments))


def prctl(option: int, second: object = 0, third: object = 0) -> int:
    assert _libc is not None
    zero = ctypes.c_ulong(0)
    words = [ctypes.c_ulong(word) if isinstance(word, int) else word for word in (second, third)]
    return _checked(_libc.prctl(ctypes.c_int(option), *words, zero, zero))


def unshare(flags: int) -> None:
    assert _libc is not None
    _checked(_libc.unshare(ctypes.c_int(flags)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _CapabilityData(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


def keep_capabilities(*kept: int) -> None:
    """Give up every capability but ``kept``, for good."""
    assert _libc is not None
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # without CAP_SETPCAP there is nothing in the bounding set that could be gained
            break
    mask = sum(1 << capability for capability in kept)
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    data = (_CapabilityData * 2)(_CapabilityData(mask, mask, 0), _CapabilityData(0, 0, 0))
    _checked(_libc.capset(ctypes.byref(header), ctypes.byref(data)))


def die_with_parent() -> None:
    """Have the system kill this process when its parent ends. A change of uid undoes it."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
