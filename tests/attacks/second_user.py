"""A real second user of this machine, and a grader at work among that user's traps and attempts.

The second user has an account of their own; only root can make one. See ``other_user.py`` for what is tried.
"""

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from autograder.files.temporary import own_folder
from autograder.kernel.kernels import Kernels
from autograder.kernel.outputs import Outputs
from autograder.model.limits import Limits
from tests.attacks import other_user
from tests.attacks.ordinary import Unavailable
from tests.attacks.other_user import Attempt, Prey
from tests.feedback.toy import build_course

NAME = "autograder-stranger"
_PYTHON = "/usr/bin/python3"  # that of a virtual environment may lie where only its owner may go
_LIMITS = Limits()
_TREASURE = "years of work"


@contextmanager
def second_user() -> Iterator[int]:
    """The number of a user who is there as long as this lasts. Raises Unavailable with the reason where none can be."""
    if os.geteuid() != 0:
        raise Unavailable("only root can become a second user")
    if shutil.which("useradd") is None or not os.path.exists(_PYTHON):
        raise Unavailable(f"this machine has no useradd, or no {_PYTHON} that every user can run")
    done = subprocess.run(["useradd", "--no-create-home", NAME], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 9):  # 9: there already
        raise Unavailable(f"no second user can be made: {done.stderr.strip()}")
    try:
        yield pwd.getpwnam(NAME).pw_uid
    finally:
        subprocess.run(["userdel", NAME], capture_output=True, check=False)


def as_second_user(uid: int, task: dict[str, object]) -> list[str]:
    """What ``other_user.py`` prints as that user. It runs a copy that everybody can read, and ends within a minute."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        script = Path(folder, "other_user.py")
        shutil.copy(other_user.__file__, script)
        script.chmod(0o644)
        done = subprocess.run(
            ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", _PYTHON, "-I", str(script),
             json.dumps(task)],
            capture_output=True, text=True, timeout=60, check=False, cwd="/", env={"PATH": os.environ["PATH"]},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def attempts(uid: int, prey: Prey) -> list[Attempt]:
    return [Attempt(**json.loads(line)) for line in as_second_user(uid, asdict(prey))]


@contextmanager
def shared_temporary_folder() -> Iterator[Path]:
    """A folder like /tmp, in which everybody may make things; temporary files of this process lie there meanwhile."""
    before, place = tempfile.tempdir, Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o1777)
    tempfile.tempdir = str(place)
    try:
        yield place
    finally:
        tempfile.tempdir = before
        shutil.rmtree(place)


def answer_of(kernels: Kernels) -> str:
    """What a kernel prints that reads one file: 42."""
    scratch = kernels.new_scratch({"a.txt": b"42"}, {})
    kernel = kernels.start(scratch, _LIMITS.memory_bytes, _LIMITS.processes, _LIMITS.disk_bytes)
    outputs = Outputs(1 << 20)
    kernel.execute("print(open('a.txt').read())", seconds=20, outputs=outputs, remembered=True)
    kernels.retire(kernel, scratch)
    return str(outputs.finish()[0].text).strip()


@dataclass(frozen=True)
class AmongTraps:
    """What a grader does in a temporary folder in which another user was before it: two runs, one after the other.

    touched: what the other user made, and is no longer as it was; left: what the grader left behind.
    """

    answers: tuple[str, ...]
    touched: tuple[str, ...]
    left: tuple[str, ...]
    traps: int

    @property
    def is_safe(self) -> bool:
        return self == AmongTraps(("42", "42"), (), (), self.traps) and self.traps > 0


def grader_among_traps(uid: int) -> AmongTraps:
    with shared_temporary_folder() as place:
        as_second_user(uid, {"traps": str(place), "grader": os.geteuid()})
        (place / "treasure" / "thesis").write_text(_TREASURE)
        own = own_folder()
        assert own.stat().st_uid == os.geteuid()
        before = _state(place, own)
        found = []
        for _ in range(2):  # the second finds what the first left
            with Kernels.open() as kernels:
                found.append(answer_of(kernels))
        after = _state(place, own)
        touched = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        left = sorted(path.name for path in own.iterdir())
        traps = sum(owner == uid for _, _, owner, _ in before.values())
        return AmongTraps(tuple(found), tuple(touched), tuple(left), traps)


def _state(place: Path, own: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Everything in the folder that is not the grader's own, and how it is."""
    return {
        str(path): (found.st_ino, found.st_mode, found.st_uid, path.read_bytes() if path.is_file() else b"")
        for path in sorted(place.rglob("*"))
        if not path.is_relative_to(own)
        for found in [path.lstat()]
    }


def attempts_on_a_grader_at_work(uid: int) -> list[Attempt]:
    """What that user gets while a class is graded; the last one is the grader itself, which must still work."""
    with ExitStack() as stack:
        place = stack.enter_context(shared_temporary_folder())
        # in a folder that everybody may enter, as a home on a shared machine: the course's own folder is closed
        shared = Path(tempfile.mkdtemp(dir="/tmp"))
        stack.callback(shutil.rmtree, shared)
        shared.chmod(0o755)
        course = build_course(shared / "course")
        course.root.chmod(0o700)
        kernels = stack.enter_context(Kernels.open())
        assert answer_of(kernels) == "42"
        scratch = kernels.new_scratch({}, {})
        kernel = kernels.start(scratch, _LIMITS.memory_bytes, _LIMITS.processes, _LIMITS.disk_bytes)
        at_work = [process.pid for process in psutil.Process().children(recursive=True)]
        assert at_work
        found = attempts(uid, Prey((os.getpid(), *at_work), str(place), str(own_folder()), str(course.root)))
        answer = answer_of(kernels)
        kernel.close()
    return [*found, Attempt("stop the grader by any of these", answer != "42", f"the next kernel answers {answer}")]
