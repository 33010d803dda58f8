"""Another user of this machine, as on a hub that gives every student a shell: attacks on a grader at work.

``python -m tests.attacks.other_user TARGET.json`` makes all attempts, as whoever calls it, and prints one line of JSON
for each: what it did, and whether it got through. It runs as a real second user; see ``test_other_user.py``.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

_PTRACE_ATTACH, _PTRACE_DETACH = 16, 17


@dataclass(frozen=True)
class Prey:
    """What another user knows or finds: numbers of the grader's processes, its folders, the course."""

    processes: tuple[int, ...]
    temporary: str  # where the folder for everything temporary lies
    own: str  # that folder
    course: str


@dataclass(frozen=True)
class Attempt:
    name: str
    got_through: bool
    detail: str


def _refused(action: Callable[[], object]) -> str:
    """Why an action failed; empty where it did not."""
    try:
        action()
    except OSError as error:
        return f"{type(error).__name__}: {error.strerror}"
    return ""


def list_the_own_folder(prey: Prey) -> Iterator[str]:
    yield _refused(lambda: os.listdir(prey.own))


def make_something_in_it(prey: Prey) -> Iterator[str]:
    yield _refused(lambda: os.mkfifo(f"{prey.own}/lock"))
    yield _refused(lambda: os.symlink("/etc", f"{prey.own}/link"))


def rename_it_or_take_it_away(prey: Prey) -> Iterator[str]:
    yield _refused(lambda: os.rename(prey.own, f"{prey.own}.mine"))
    yield _refused(lambda: os.rmdir(prey.own))
    yield _refused(lambda: shutil.rmtree(prey.own))


def connect_to_sockets(prey: Prey) -> Iterator[str]:
    """Every unix socket below the temporary folder that the system lists to everybody."""
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        path = line.split(maxsplit=7)[7] if len(line.split(maxsplit=7)) > 7 else ""
        if path.startswith(prey.own):
            for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
                with contextlib.closing(socket.socket(socket.AF_UNIX, kind)) as one:
                    yield _refused(lambda one=one, path=path: one.connect(path))  # type: ignore[misc]
    yield "nothing else is listed"


def signal_processes(prey: Prey) -> Iterator[str]:
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        for pid in prey.processes:
            yield _refused(lambda pid=pid, number=number: os.kill(pid, number))  # type: ignore[misc]


def trace_processes(prey: Prey) -> Iterator[str]:
    libc = ctypes.CDLL(None, use_errno=True)
    for pid in prey.processes:
        if libc.ptrace(_PTRACE_ATTACH, pid, None, None) == 0:
            libc.ptrace(_PTRACE_DETACH, pid, None, None)
            yield ""
        yield os.strerror(ctypes.get_errno())


def read_processes(prey: Prey) -> Iterator[str]:
    for pid in prey.processes:
        for name in ("environ", "mem", "maps", "cwd", "fd"):
            path = f"/proc/{pid}/{name}"
            if name == "cwd":
                yield _refused(lambda path=path: os.readlink(path))  # type: ignore[misc]
            elif name == "fd":
                yield _refused(lambda path=path: os.listdir(path))  # type: ignore[misc]
            else:
                yield _refused(lambda path=path: Path(path).read_bytes())  # type: ignore[misc]


def read_the_course(prey: Prey) -> Iterator[str]:
    root = Path(prey.course)
    yield _refused(lambda: os.listdir(root))
    for name in ("gradebook.db", "course.toml", "exercises/toy/manifest.json", "submitted", ".autograder"):
        yield _refused(lambda name=name: (root / name).read_bytes())  # type: ignore[misc]
        yield _refused(lambda name=name: os.listdir(root / name))  # type: ignore[misc]


def change_the_course(prey: Prey) -> Iterator[str]:
    root = Path(prey.course)
    yield _refused(lambda: (root / ".autograder" / "toy.lock").write_text(""))
    yield _refused(lambda: (root / "gradebook.db").write_bytes(b""))
    yield _refused(lambda: os.rename(root, root.with_name("mine")))


ATTEMPTS = (
    list_the_own_folder, make_something_in_it, rename_it_or_take_it_away, connect_to_sockets, signal_processes,
    trace_processes, read_processes, read_the_course, change_the_course,
)  # fmt: skip


def make_traps(place: Path, grader: int) -> None:
    """Before the grader starts: under every name that it has used, what stops it, or leads it elsewhere."""
    treasure = place / "treasure"
    treasure.mkdir(mode=0o777)
    treasure.chmod(0o777)
    (place / f"autograder-{grader}").mkdir(mode=0o777)
    for name in ("ag-x", "k-x", "f-x", f"autograder-{grader}-aaaaaaaa"):
        (place / name).mkdir(mode=0o777)
        (place / name).chmod(0o777)
        for file in ("lock", "socket", "0.json"):
            os.mkfifo(place / name / file, 0o666)
    (place / f"autograder-{grader}" / "x").symlink_to(treasure)
    (place / f"autograder-{grader}-bbbbbbbb").symlink_to(treasure)
    os.mkfifo(place / f"autograder-{grader}-cccccccc", 0o666)


def main() -> None:
    task = json.loads(sys.argv[1])
    if "traps" in task:
        make_traps(Path(task["traps"]), task["grader"])
        return
    prey = Prey(**{**task, "processes": tuple(task["processes"])})
    for attempt in ATTEMPTS:
        said = list(attempt(prey))
        print(json.dumps(asdict(Attempt(attempt.__name__.replace("_", " "), "" in said, "; ".join(sorted(set(said)))))))


if __name__ == "__main__":
    main()
