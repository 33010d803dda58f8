"""Landlock: which files this process, and all that it starts, may touch from now on.

Only what is listed can be opened; the list can never grow again. Landlock knows nothing of ``chmod`` and of the paths
of unix sockets: the system-call filter (:mod:`autograder.isolation.seccomp`) sees to those. ``stat`` passes both:
names, sizes and times of other files can be asked for, their contents cannot.
Source: https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from autograder.isolation import system

#: Linux 6.2. Older versions let a process truncate files that it may only read.
LOWEST_ABI = 3
#: Linux 6.12: signals, too, stay inside.
SIGNALS_ABI = 6

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_GET_VERSION = 1
_RULE_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV = (1 << bit for bit in range(13, 16))
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

READ = READ_FILE | READ_DIR | EXECUTE
LIST = READ_DIR
CHANGE = (
    READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE
    | MAKE_DIR | MAKE_REG | MAKE_SYM | MAKE_FIFO | REFER
)  # fmt: skip
DEVICE = READ_FILE | WRITE_FILE

_NET = 0b11  # bind and connect over TCP
_SCOPE = 0b11  # abstract unix sockets and signals


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scope", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def abi() -> int:
    """The version that the running system offers; 0 where there is none."""
    if not system.LINUX:
        return 0
    try:
        return system.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_GET_VERSION))
    except OSError:
        return 0


def restrict(allowed: Iterable[tuple[Path, int]]) -> None:
    """Confine this thread to ``allowed``, pairs of a path and its rights; paths that do not exist are passed over.

    Call it while the process has a single thread: the others would stay free.
    Raises OSError where the system refuses.
    """
    version = abi()
    handled = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    attributes = _Ruleset(handled, _NET if version >= 4 else 0, _SCOPE if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = system.syscall(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path, rights in allowed:
            _allow(ruleset, path, rights & handled)
        system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
        system.syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(beneath).st_mode):
            rights &= _FILE_RIGHTS
        rule = _PathBeneath(rights, beneath)
        system.syscall(
            _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_RULE_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0)
        )
    finally:
        os.close(beneath)
