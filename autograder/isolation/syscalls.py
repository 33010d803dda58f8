"""The system calls by name and number, and what becomes of each: a list of what notebooks need; the rest is refused.

Drawn up by going through the whole table of Linux, and by watching kernels that use torch, numpy, matplotlib,
transformers and a shell. A list of what is dangerous, as it stood here before, lets through whatever nobody thought of:
System V's shared memory was that.
"""

import errno
from dataclasses import dataclass

#: Calls with higher numbers are newer than this list: they do not exist for a confined process.
LAST_KNOWN = 456

#: name -> (number on x86_64, number on aarch64); None where the architecture has no such call.
ALLOWED: dict[str, tuple[int | None, int | None]] = {
    # files, as far as Landlock lets
    "read": (0, 63), "write": (1, 64), "open": (2, None), "openat": (257, 56), "openat2": (437, 437), "close": (3, 57),
    "close_range": (436, 436), "creat": (85, None), "lseek": (8, 62), "pread64": (17, 67), "pwrite64": (18, 68),
    "readv": (19, 65), "writev": (20, 66), "preadv": (295, 69), "pwritev": (296, 70), "preadv2": (327, 286),
    "pwritev2": (328, 287), "stat": (4, None), "fstat": (5, 80), "lstat": (6, None), "newfstatat": (262, 79),
    "statx": (332, 291), "statfs": (137, 43), "fstatfs": (138, 44), "access": (21, None), "faccessat": (269, 48),
    "faccessat2": (439, 439), "readlink": (89, None), "readlinkat": (267, 78), "getdents": (78, None),
    "getdents64": (217, 61), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50), "mkdir": (83, None),
    "mkdirat": (258, 34), "rmdir": (84, None), "unlink": (87, None), "unlinkat": (263, 35), "rename": (82, None),
    "renameat": (264, 38), "renameat2": (316, 276), "link": (86, None), "linkat": (265, 37), "symlink": (88, None),
    "symlinkat": (266, 36), "mknod": (133, None), "mknodat": (259, 33), "truncate": (76, 45), "ftruncate": (77, 46),
    "fallocate": (285, 47), "fadvise64": (221, 223), "readahead": (187, 213), "copy_file_range": (326, 285),
    "flock": (73, 32), "fsync": (74, 82), "fdatasync": (75, 83), "sync_file_range": (277, 84), "umask": (95, 166),
    "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59), "fcntl": (72, 25),
    "ioctl": (16, 29),
    # memory
    "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226), "brk": (12, 214),
    "madvise": (28, 233), "mincore": (27, 232), "msync": (26, 227), "membarrier": (324, 283),
    "get_mempolicy": (239, 236), "set_mempolicy": (238, 237), "mbind": (237, 235),
    # its own processes and threads
    "clone": (56, 220), "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "exit": (60, 93), "exit_group": (231, 94), "wait4": (61, 260), "waitid": (247, 95), "kill": (62, 129),
    "tkill": (200, 130), "tgkill": (234, 131), "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178),
    "getpgrp": (111, None), "getpgid": (121, 155), "setpgid": (109, 154), "getsid": (124, 156), "setsid": (112, 157),
    "set_tid_address": (218, 96), "set_robust_list": (273, 99), "futex": (202, 98), "futex_waitv": (449, 449),
    "futex_wake": (454, 454), "futex_wait": (455, 455), "futex_requeue": (456, 456), "rseq": (334, 293),
    "restart_syscall": (219, 128), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "sched_setaffinity": (203, 122), "sched_getparam": (143, 121), "sched_getscheduler": (145, 120),
    "sched_getattr": (315, 275), "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    "sched_rr_get_interval": (148, 127), "getpriority": (140, 141), "ioprio_get": (252, 31), "getrusage": (98, 165),
    "times": (100, 153), "getrlimit": (97, 163), "setrlimit": (160, 164), "prlimit64": (302, 261), "prctl": (157, 167),
    "arch_prctl": (158, None), "getcpu": (309, 168), "uname": (63, 160), "sysinfo": (99, 179), "getrandom": (318, 278),
    # users, to be asked about
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getgroups": (115, 158),
    "getresuid": (118, 148), "getresgid": (120, 150), "capget": (125, 90),
    # signals and time
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "pause": (34, None), "alarm": (37, None),
    "getitimer": (36, 102), "setitimer": (38, 103), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169), "time": (201, None),
    "timer_create": (222, 107), "timer_settime": (223, 110), "timer_gettime": (224, 108),
    "timer_getoverrun": (225, 109), "timer_delete": (226, 111), "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86), "timerfd_gettime": (287, 87),
    # waiting, and the unix sockets that the grader connects to
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72), "epoll_create": (213, None),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441), "eventfd": (284, None), "eventfd2": (290, 19), "signalfd": (282, None),
    "signalfd4": (289, 74), "socket": (41, 198), "socketpair": (53, 199), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242), "getsockname": (51, 204), "getpeername": (52, 205),
    "getsockopt": (55, 209), "setsockopt": (54, 208), "sendto": (44, 206), "recvfrom": (45, 207), "recvmsg": (47, 212),
    "recvmmsg": (299, 243), "shutdown": (48, 210),
}  # fmt: skip

#: Not allowed, and not answered by EPERM as all others are; numbers as above.
ANSWERED: dict[str, tuple[int | None, int | None]] = {
    # that do nothing
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "utime": (132, None),
    "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274),
    # that an older system would not have
    "clone3": (435, 435), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "io_setup": (206, 0), "memfd_create": (319, 279), "pidfd_open": (434, 434), "sendfile": (40, 71),
    "splice": (275, 76), "tee": (276, 77), "vmsplice": (278, 75), "cachestat": (451, 451),
    "map_shadow_stack": (453, 453),
    # that fail with another error than EPERM
    "connect": (42, 203), "sendmsg": (46, 211), "sendmmsg": (307, 269), "getxattr": (191, 8), "lgetxattr": (192, 9),
    "fgetxattr": (193, 10), "listxattr": (194, 11), "llistxattr": (195, 12), "flistxattr": (196, 13),
}  # fmt: skip

#: ``shutil.copy``, ``tempfile`` and archives set modes and times, ZeroMQ the scheduling of its threads. They go on
#: undisturbed, and everything stays as it is: Landlock does not look at such marks, on files outside either.
_PRETENDED = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "futimesat", "utimensat",
    "sched_setscheduler", "sched_setparam", "sched_setattr",
)  # fmt: skip
#: The C library and Python then take the older call, or read and write: arguments that can be looked at, and no memory
#: that is held by a pipe, a socket or a file without a name.
_ABSENT = (
    "clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "memfd_create", "pidfd_open",
    "sendfile", "splice", "tee", "vmsplice", "cachestat", "map_shadow_stack",
)  # fmt: skip
#: Connecting is never needed, the grader connects to the kernel. A message could carry descriptors, which live on in a
#: socket where nothing counts them.
_NETWORK = ("connect", "sendmsg", "sendmmsg", "socket", "socketpair")
_ATTRIBUTES = ("getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr")

ERRORS: dict[str, int] = {
    **dict.fromkeys(_PRETENDED, 0),
    **dict.fromkeys(_ABSENT, errno.ENOSYS),
    **dict.fromkeys(_NETWORK, errno.EACCES),
    **dict.fromkeys(_ATTRIBUTES, errno.EOPNOTSUPP),
    "ioctl": errno.ENOTTY,
    "mmap": errno.ENOMEM,
}

#: A shared mapping without a file outlives whoever filled it, and is counted for no process that does not look at it:
#: each may be this large, and is taken for this large.
SHARED_BYTES = 64 << 20

_RLIMIT_CPU = 0
_SOL_SOCKET, _BUFFER_SIZES = 1, (7, 8, 32, 33)
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_MAP_HUGE = 0x40000  # the machine's reserve of huge pages is no process's memory
_FILE_TYPE, _REGULAR, _FIFO = 0xF000, 0x8000, 0x1000
_SOCKET_TYPE = 0xFF  # SOCK_CLOEXEC and SOCK_NONBLOCK stand above the type
_UNIX, _STREAM, _SEQPACKET = 1, 1, 5
#: Namespaces, and a child that would be the supervisor's.
_REFUSED_CLONE = 0x7E020080 | 0x8000
_CLONE_THREAD, _CLONE_FILES = 0x10000, 0x400
_COMMANDS = (
    0x5401, 0x802C542A, 0x540F, 0x5413,  # questions that a terminal would answer
    0x541B, 0x5411, 0x5421, 0x5450, 0x5451, 0x5460,  # FIONREAD, SIOCOUTQ, FIONBIO, FIONCLEX, FIOCLEX, FIOQSIZE
    0x40049409, 0x4020940D, 0x80086601,  # FICLONE, FICLONERANGE, FS_IOC_GETFLAGS
)  # fmt: skip
#: Descriptors, their flags, and locks; no leases, signals of files, or larger pipes.
_FILE_COMMANDS = (0, 1, 2, 3, 4, 5, 6, 7, 9, 36, 37, 38, 1027, 1028, 1030, 1032, 1033, 1034)
#: Names of threads and mappings, questions, huge pages, timer slack, processor features: not dumpable, parent's death.
_OPTIONS = (2, 3, 15, 16, 21, 23, 27, 29, 30, 37, 38, 39, 40, 41, 42, 50, 51, 52, 54, 55, 56, 63, 64, 0x53564D41)


@dataclass(frozen=True)
class Test:
    """A half of an argument, under ``mask``, is one of ``values``; or is none of them, where ``among`` is False."""

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    among: bool = True
    high: bool = False


#: name -> ways in which the call is allowed, each a row of tests that all hold; anything else is an error.
RULES: dict[str, tuple[tuple[Test, ...], ...]] = {
    # A datagram could be sent to any path without connecting, so that only streams remain.
    "socket": ((Test(0, (_UNIX,)), Test(1, (_STREAM,), _SOCKET_TYPE)),),
    "socketpair": ((Test(0, (_UNIX,)), Test(1, (_STREAM, _SEQPACKET), _SOCKET_TYPE)),),
    # What lies in a socket counts as the size that the system gives every socket's buffer.
    "setsockopt": ((Test(1, (_SOL_SOCKET,), among=False),), (Test(2, _BUFFER_SIZES, among=False),)),
    # What a thread has open is seen at its process, so that none may have open files of its own.
    "clone": (
        (Test(0, (0,), _REFUSED_CLONE | _CLONE_THREAD),),
        (Test(0, (0,), _REFUSED_CLONE), Test(0, (_CLONE_FILES,), _CLONE_FILES)),
    ),
    # At the end of its time on the processor a process is killed by the system, as if somebody else had done it.
    "setrlimit": ((Test(0, (_RLIMIT_CPU,), among=False),),),
    "prlimit64": (
        (Test(0, (0,)), Test(1, (_RLIMIT_CPU,), among=False)),
        (Test(0, (0,)), Test(2, (0,)), Test(2, (0,), high=True)),
    ),
    "sched_setaffinity": ((Test(0, (0,)),),),
    "prctl": ((Test(0, _OPTIONS),),),
    "fcntl": ((Test(1, _FILE_COMMANDS),),),
    "ioctl": ((Test(1, _COMMANDS),),),
    "mknod": ((Test(1, (0, _REGULAR, _FIFO), _FILE_TYPE),),),
    "mknodat": ((Test(2, (0, _REGULAR, _FIFO), _FILE_TYPE),),),
    "mmap": (
        (Test(3, (0,), _MAP_ANONYMOUS | _MAP_HUGE),),
        (Test(3, (0,), _MAP_SHARED | _MAP_HUGE),),
        (Test(3, (0,), _MAP_HUGE), Test(1, (0,), 0xFFFFFFFF & ~(SHARED_BYTES - 1)), Test(1, (0,), high=True)),
    ),
}
