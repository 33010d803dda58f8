"""Confinement of the current process, for good and for all that it starts."""

import os
import sys
from pathlib import Path

from autograder.isolation import landlock, seccomp, system
from autograder.isolation.policy import Policy

if sys.platform != "win32":  # where nothing is confined, the module is imported all the same
    import resource

#: Added to the process id, so that each confined process of a grader that runs as root has a uid of its own.
_FIRST_UID = 2_000_000_000
_NOBODY = 65534
_OPEN_FILES = 256
_PENDING_SIGNALS = 1024
#: Kernels that may count against one limit. The supervisor holds each to its own number; the limit must not make one
#: kernel fail for what another one has.
_COUNTED_TOGETHER = 16


def separate_pids() -> bool:
    """Have the children of this process live in a process-id namespace of their own; False where that is refused.

    When its first process ends, the system ends all the others at once, whatever became of the grader. With it comes
    a namespace for System V's and POSIX message queues, semaphores and shared memory, where that can be had.
    """
    uid, gid = os.getuid(), os.getgid()
    user = 0 if os.geteuid() == 0 else system.CLONE_NEWUSER
    if not any(_unshared(user | system.CLONE_NEWPID | more) for more in (system.CLONE_NEWIPC, 0)):
        return False
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    return True


def _unshared(flags: int) -> bool:
    try:
        system.unshare(flags)
    except OSError:
        return False
    return True


def confine(policy: Policy) -> None:
    """Confine this process to ``policy``. It must have one thread, and have imported what it will need.

    Raises OSError where the system refuses any part of it: a process that is half confined must not go on.
    """
    for folder in policy.write:
        os.makedirs(folder, exist_ok=True)
    _drop_privileges([*policy.write, *policy.sockets])
    system.die_with_parent()  # after the change of uid, which would undo it
    Path("/proc/self/oom_score_adj").write_text("1000")
    _limit(policy)
    landlock.restrict(
        [
            *((Path(path), landlock.READ) for path in policy.read),
            *((Path(path), landlock.LIST) for path in policy.listed),
            *((Path(path), landlock.CHANGE) for path in policy.write),
            *((Path(path), landlock.MAKE_SOCK) for path in policy.sockets),
            (Path("/dev/null"), landlock.DEVICE),
        ]
    )
    seccomp.install()


def _drop_privileges(folders: list[str]) -> None:
    """Give up all rights of a root; as an ordinary user, those that a user namespace lent."""
    if os.geteuid() != 0:
        system.keep_capabilities()
        return
    for uid in (_FIRST_UID + _outer_pid(), _NOBODY):
        try:
            _become(uid, folders)
            return
        except OSError:  # a container may know few uids
            continue
    raise PermissionError("root could not give up its rights: run the grader as an ordinary user")


def _become(uid: int, folders: list[str]) -> None:
    for folder in folders:
        for place, _, files in os.walk(folder):
            os.chown(place, uid, uid)
            for file in files:
                os.chown(os.path.join(place, file), uid, uid, follow_symlinks=False)
    os.setgroups([])
    # The environment may lie where only root reads; Landlock, not the mode of a file, says what may be read here.
    system.prctl(system.PR_SET_KEEPCAPS, 1)
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    system.keep_capabilities(system.CAP_DAC_READ_SEARCH)
    system.prctl(system.PR_SET_DUMPABLE, 1)  # undone by the change of uid; /proc/self must stay readable


def _outer_pid() -> int:
    """This process's number outside of its process-id namespace, which no other living process has."""
    return int(os.readlink("/proc/self"))


def _limit(policy: Policy) -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    tasks = policy.processes * (1 if _has_own_count() else _COUNTED_TOGETHER)
    bounds = {
        resource.RLIMIT_AS: pages * resource.getpagesize() + policy.memory_bytes,
        resource.RLIMIT_NPROC: _others_of_this_user() + tasks,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_FSIZE: policy.disk_bytes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: _PENDING_SIGNALS,  # a user's processes share what is allowed of these
    }
    for limit, bound in bounds.items():
        hard = resource.getrlimit(limit)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(limit, (bound, bound))


def _has_own_count() -> bool:
    """Whether no other process counts against this one's limit: in a user namespace, or under a uid of its own."""
    return os.getpid() == 1 or os.getuid() >= _FIRST_UID


def _others_of_this_user() -> int:
    """Threads that count against this user's limit already."""
    if _has_own_count():
        return 0
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == os.getuid():
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:  # it ended meanwhile
                continue
    return count
