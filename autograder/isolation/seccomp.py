"""The system-call filter: what this process, and all that it starts, may ask of the system from now on.

A refused call fails with an ordinary error, so that a library which tries it falls back; nothing is killed. Calls
newer than this list do not exist for the process. Source: https://docs.kernel.org/userspace-api/seccomp_filter.html
"""

from __future__ import annotations

import ctypes
import errno
import struct
from dataclasses import dataclass

from autograder.isolation import system

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LAST_KNOWN = 462  # mseal, Linux 6.10

_LOAD, _EQUAL, _GREATER, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000

_PRETEND = 0  # "done", while nothing was
_SOCKET_TYPE = 0xFF  # SOCK_CLOEXEC and SOCK_NONBLOCK stand above the type
_NEW_NAMESPACES = 0x7E020080

#: name -> (number on x86_64, number on aarch64); None where the architecture has no such call.
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # the network, and unix sockets by path: connecting is never needed, the grader connects to the kernel
    "connect": (42, 203), "socket": (41, 198), "socketpair": (53, 199),
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434),
    "kcmp": (312, 272), "pidfd_send_signal": (424, 424), "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "setpriority": (141, 140), "ioprio_set": (251, 30), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "prctl": (157, 167), "personality": (135, 92),
    # namespaces and mounts
    "clone": (56, 220), "clone3": (435, 435), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # the machine
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "iopl": (172, None), "ioperm": (173, None), "syslog": (103, 116), "vhangup": (153, 58),
    "modify_ldt": (154, None), "uselib": (134, None),
    # roads into the kernel of the operating system, and around this filter
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "bpf": (321, 280),
    "perf_event_open": (298, 241), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "userfaultfd": (323, 282), "seccomp": (317, 277),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262), "inotify_add_watch": (254, 27),
    # memory that outlives its process or is counted nowhere
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "mq_unlink": (241, 181),
    # marks on files outside, which Landlock does not look at
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
}  # fmt: skip

#: ``shutil.copy``, ``tempfile`` and archives set modes and times, ZeroMQ the scheduling of its threads. They go on
#: undisturbed, and everything stays as it is.
_PRETENDED = {
    "chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat",
    "sched_setscheduler", "sched_setparam", "sched_setattr",
}  # fmt: skip
#: Answered as an older system would, so that the C library takes the older call, whose arguments can be looked at.
_ABSENT = {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "memfd_create", "pidfd_open"}
_NETWORK = {"connect", "socket", "socketpair"}


@dataclass(frozen=True)
class _Condition:
    """Refuse the call unless ``argument & mask`` is one of ``allowed``; or, with ``flags``, if one of these is set."""

    argument: int
    mask: int = 0xFFFFFFFF
    allowed: tuple[int, ...] = ()
    flags: int = 0


_CONDITIONS: dict[str, tuple[_Condition, ...]] = {
    # A datagram could be sent to any path without connecting, so that only streams remain.
    "socket": (_Condition(0, allowed=(1,)), _Condition(1, _SOCKET_TYPE, allowed=(1,))),
    "socketpair": (_Condition(0, allowed=(1,)), _Condition(1, _SOCKET_TYPE, allowed=(1, 5))),
    "clone": (_Condition(0, flags=_NEW_NAMESPACES),),
    "prlimit64": (_Condition(0, allowed=(0,)),),
    "sched_setaffinity": (_Condition(0, allowed=(0,)),),
}
_REFUSED_PRCTL = (system.PR_SET_PDEATHSIG, system.PR_SET_DUMPABLE)


def install() -> None:
    """Apply the filter to this thread and everything it starts. Needs ``no_new_privs``; raises OSError."""
    assert system.MACHINE is not None
    program = _program(system.MACHINE)
    code = ctypes.create_string_buffer(b"".join(program), len(program) * 8)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    seccomp_mode_filter = 2
    system.prctl(
        system.PR_SET_SECCOMP, seccomp_mode_filter, ctypes.byref(Program(len(program), ctypes.addressof(code)))
    )


def _program(machine: str) -> list[bytes]:
    column = list(_AUDIT_ARCH).index(machine)
    program = [
        _instruction(_LOAD, 4),  # the architecture: a 32-bit call has other numbers
        _instruction(_EQUAL, _AUDIT_ARCH[machine], 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, 0),
        _instruction(_GREATER, _LAST_KNOWN + 1, 0, 1),
        _instruction(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    for name, numbers in _NUMBERS.items():
        number = numbers[column]
        if number is not None:
            verdict = _verdict(name)
            program += [_instruction(_EQUAL, number, 0, len(verdict)), *verdict]
    return [*program, _instruction(_RETURN, _ALLOW)]


def _verdict(name: str) -> list[bytes]:
    refusal = _instruction(_RETURN, _ERRNO | _error(name))
    allow = _instruction(_RETURN, _ALLOW)
    if name == "prctl":
        tests = [_instruction(_EQUAL, option, 0, 1) + refusal for option in _REFUSED_PRCTL]
        return [_argument(0), *(part for test in tests for part in (test[:8], test[8:])), allow]
    if name not in _CONDITIONS:
        return [refusal]
    steps: list[bytes] = []
    for condition in _CONDITIONS[name]:
        steps.append(_argument(condition.argument))
        if condition.flags:
            steps += [_instruction(_ANY_BIT, condition.flags, 0, 1), refusal]
            continue
        steps.append(_instruction(0x54, condition.mask))
        for position, value in enumerate(condition.allowed):
            steps.append(_instruction(_EQUAL, value, len(condition.allowed) - position, 0))
        steps.append(refusal)
    return [*steps, allow]


def _error(name: str) -> int:
    if name in _PRETENDED:
        return _PRETEND
    if name in _ABSENT:
        return errno.ENOSYS
    return errno.EACCES if name in _NETWORK else errno.EPERM


def _argument(index: int) -> bytes:
    """Load the low half of an argument (the machines are little-endian)."""
    return _instruction(_LOAD, 16 + 8 * index)


def _instruction(code: int, constant: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, constant)
