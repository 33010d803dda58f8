"""The system-call filter: what this process, and all that it starts, may ask of the system from now on.

A refused call fails with an ordinary error, so that a library which tries it falls back; nothing is killed. What is
allowed stands in :mod:`autograder.isolation.syscalls`; the rest is refused, and calls newer than that list do not exist
for the process. Source: https://docs.kernel.org/userspace-api/seccomp_filter.html
"""

import ctypes
import errno
import struct
from functools import cache

from autograder.isolation import system
from autograder.isolation.syscalls import ALLOWED, ANSWERED, ERRORS, LAST_KNOWN, RULES, Test

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_LOAD, _EQUAL, _GREATER, _AND, _RETURN = 0x20, 0x15, 0x25, 0x54, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000


def prepare() -> None:
    """Make what :func:`install` applies, for a process whose children will need it."""
    if system.MACHINE is not None:
        program(system.MACHINE)


def install() -> None:
    """Apply the filter to this thread and everything it starts. Needs ``no_new_privs``; raises OSError."""
    assert system.MACHINE is not None
    filter_ = program(system.MACHINE)
    code = ctypes.create_string_buffer(b"".join(filter_), len(filter_) * 8)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    seccomp_mode_filter = 2
    system.prctl(
        system.PR_SET_SECCOMP, seccomp_mode_filter, ctypes.byref(Program(len(filter_), ctypes.addressof(code)))
    )


@cache
def program(machine: str) -> tuple[bytes, ...]:
    """The filter's instructions; made before the fork, they are there in every child.

    Calls with rules come first: of the others the system itself remembers the verdict.
    """
    column = list(_AUDIT_ARCH).index(machine)
    instructions = [
        _instruction(_LOAD, 4),  # the architecture: a 32-bit call has other numbers
        _instruction(_EQUAL, _AUDIT_ARCH[machine], 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, 0),
        _instruction(_GREATER, LAST_KNOWN, 0, 1),
        _instruction(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    for name in sorted(ALLOWED | ANSWERED, key=lambda name: name not in RULES):
        number = (ALLOWED | ANSWERED)[name][column]
        if number is not None:
            verdict = _verdict(name)
            instructions += [_instruction(_EQUAL, number, 0, len(verdict)), *verdict]
    return (*instructions, _instruction(_RETURN, _ERRNO | errno.EPERM))


def _verdict(name: str) -> list[bytes]:
    refusal = _instruction(_RETURN, _ERRNO | ERRORS.get(name, errno.EPERM))
    if name not in ALLOWED:
        return [refusal]
    if name not in RULES:
        return [_instruction(_RETURN, _ALLOW)]
    return [*(step for way in RULES[name] for step in _way(way)), refusal]


def _way(tests: tuple[Test, ...]) -> list[bytes]:
    """Return "allow" where all tests hold, else go on behind these steps."""
    steps = [_instruction(_RETURN, _ALLOW)]
    for test in reversed(tests):
        steps = [*_test(test, len(steps)), *steps]
    return steps


def _test(test: Test, onward: int) -> list[bytes]:
    """Go on with the next step where the test holds, else ``onward`` steps behind it."""
    steps = [_instruction(_LOAD, 16 + 8 * test.argument + 4 * test.high), _instruction(_AND, test.mask)]
    for left in reversed(range(len(test.values))):
        value = test.values[len(test.values) - 1 - left]
        last = onward if test.among and not left else 0
        steps.append(_instruction(_EQUAL, value, left if test.among else left + onward, last))
    return steps


def _instruction(code: int, constant: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, constant)
