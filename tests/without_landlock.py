"""A machine whose kernel knows no Landlock: ``python tests/without_landlock.py COMMAND [ARGUMENT ...]``.

A system-call filter answers ENOSYS to Landlock's three calls, as Linux before 5.13 does, for the command and all that
it starts. Where there is no Landlock, there is none on macOS or Windows either: what this shows holds there, too.
"""

import ctypes
import errno
import os
import sys
from pathlib import Path

_LANDLOCK = (444, 445, 446)


def forget_landlock() -> None:
    """For this process and all that it starts, for good."""
    from autograder.isolation import seccomp, system

    load, equal, give = seccomp._LOAD, seccomp._EQUAL, seccomp._RETURN
    code = [seccomp._instruction(load, 0)]
    for left, number in zip((2, 1, 0), _LANDLOCK, strict=True):
        code.append(seccomp._instruction(equal, number, left + 1, 0))
    code += [seccomp._instruction(give, seccomp._ALLOW), seccomp._instruction(give, seccomp._ERRNO | errno.ENOSYS)]
    buffer = ctypes.create_string_buffer(b"".join(code), len(code) * 8)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    program = Program(len(code), ctypes.addressof(buffer))
    system.prctl(system.PR_SET_SECCOMP, 2, ctypes.byref(program))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    forget_landlock()
    os.execvp(sys.argv[1], sys.argv[1:])
