"""The corpus against a grader that is an ordinary user: its kernels have that user's uid, and only the confinement
keeps them from his files and processes.

``python -m tests.attacks.ordinary ID...``: as root, becomes an ordinary user first, in a mount namespace in which that
user can read Python and this checkout, wherever they lie. Prints one line of JSON for each attack.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

UID = 12345
#: What the right answer to the attacked exercise earns.
FULL = 5.0
ROOT = Path(__file__).resolve().parents[2]
_NEW_MOUNTS, _BIND, _RECURSIVE, _PRIVATE = 0x20000, 4096, 16384, 1 << 18
_SECONDS_EACH = 60


@dataclass(frozen=True)
class Outcome:
    """What an attack came to: points, the notebook's status, points of an honest submission after it, and whether any
    file of the grader's user was changed."""

    id: str
    points: float | None
    status: str
    honest_after: float | None
    changed: bool


class Unavailable(Exception):
    """This machine cannot run the corpus as an ordinary user; the message says why."""


def outcomes(ids: Sequence[str]) -> dict[str, Outcome]:
    """Run attacks with an ordinary user's grader. Raises Unavailable with the reason where that cannot be done."""
    with tempfile.TemporaryDirectory(prefix="user-", dir="/tmp") as home:
        if os.geteuid() == 0:
            os.chown(home, UID, UID)
        variables = {
            "HOME": home, "TMPDIR": home, "USER": "student-grader", "LOGNAME": "student-grader", "LANG": "C.UTF-8",
            "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "tests.attacks.ordinary", *ids],
            cwd=ROOT, env=variables, capture_output=True, text=True, check=False,
            timeout=120 + _SECONDS_EACH * len(ids),
        )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 3:
        raise Unavailable(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr[-3000:]
    return {(outcome := Outcome(**json.loads(line))).id: outcome for line in lines}


def become_an_ordinary_user() -> None:
    """For good. Raises Unavailable where no namespace can be had, or the user could not read what it needs."""
    needed = sorted({Path(sys.prefix), Path(sys.base_prefix).resolve(), ROOT})
    shut = sorted({outermost for path in needed if (outermost := _outermost_shut(path)) is not None})
    libc = ctypes.CDLL(None, use_errno=True)

    def checked(result: int, what: str) -> None:
        if result:
            raise Unavailable(f"{what}: {os.strerror(ctypes.get_errno())}")

    if shut:
        checked(libc.unshare(_NEW_MOUNTS), "no mount namespace can be had")
        checked(libc.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None), "mounts cannot be made private")
    opened = [(path, os.open(path, os.O_PATH)) for path in needed if any(one in path.parents for one in shut)]
    for folder in shut:
        checked(libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, b"mode=755"), f"{folder} cannot be covered")
    for path, descriptor in opened:
        path.mkdir(parents=True, exist_ok=True)
        source = f"/proc/self/fd/{descriptor}".encode()
        checked(libc.mount(source, os.fsencode(path), None, _BIND | _RECURSIVE, None), f"{path} cannot be mounted")
        os.close(descriptor)
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    for path in (ROOT / "autograder" / "pipeline" / "grade.py", Path(os.__file__), Path(sys.executable)):
        if not os.access(path, os.R_OK):
            raise Unavailable(f"an ordinary user cannot read {path}")


def _outermost_shut(path: Path) -> Path | None:
    """The first folder on the way to ``path`` through which others may not go."""
    return next((one for one in (*reversed(path.parents), path) if not one.stat().st_mode & 0o001), None)


def _run(ids: Sequence[str]) -> None:
    from tests.attacks.attack import fingerprint, submission
    from tests.attacks.corpus import ATTACKS
    from tests.attacks.machine import MACHINE
    from tests.attacks.test_attacks import BRIEF, graded, released, solved

    course = Path(tempfile.mkdtemp()) / "course"
    shutil.copytree(ROOT / "release" / "distilbert", course / "submitted" / "other" / "distilbert")
    (course / "gradebook.db").write_bytes(b"SQLite format 3\0")
    before = fingerprint(course)
    for attack in [one for one in (*ATTACKS, *MACHINE) if one.id in ids]:
        verdict = graded(submission(attack, released(), course, 9), BRIEF).verdict.notebooks[0]
        after = graded(solved()).verdict.points
        outcome = Outcome(attack.id, verdict.points, verdict.status, after, fingerprint(course) != before)
        print(json.dumps(asdict(outcome)), flush=True)


if __name__ == "__main__":
    try:
        if os.geteuid() == 0:
            become_an_ordinary_user()
            os.execv(sys.executable, [sys.executable, "-m", "tests.attacks.ordinary", *sys.argv[1:]])
        _run(sys.argv[1:])
    except Unavailable as why:
        print(why, file=sys.stderr)
        sys.exit(3)
