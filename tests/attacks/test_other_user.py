"""Another user of this machine: nothing stops or waits, nothing is read, nothing is removed or changed.

The grader grades a real class; a second user, whom the system knows, has laid traps before and attacks meanwhile.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from autograder.files.temporary import own_folder
from autograder.kernel.imports import KernelImports
from autograder.kernel.kernels import Kernels
from autograder.kernel.outputs import Outputs
from autograder.kernel.warm import kept_fork_server
from autograder.model.limits import Limits
from tests.attacks import other_user
from tests.attacks.other_user import ATTEMPTS, Attempt, Prey
from tests.feedback.toy import build_course

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("attacks"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become a second user"),
    pytest.mark.skipif(not os.path.exists("/usr/bin/python3"), reason="no Python that every user can run"),
]

NAME = "autograder-stranger"
LIMITS = Limits()


@pytest.fixture(scope="module")
def stranger() -> Iterator[int]:
    """A second user with an account of their own; its number."""
    if shutil.which("useradd") is None:
        pytest.skip("this machine makes no users")
    done = subprocess.run(["useradd", "--no-create-home", NAME], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 9):  # 9: there already
        pytest.skip(f"no second user can be made: {done.stderr.strip()}")
    import pwd

    yield pwd.getpwnam(NAME).pw_uid
    subprocess.run(["userdel", NAME], capture_output=True, check=False)


def as_stranger(uid: int, task: dict) -> list[str]:
    """What the attacks print; the system's Python runs a copy that everybody can read. Ends, or fails, in a minute."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        script = Path(folder, "other_user.py")
        shutil.copy(other_user.__file__, script)
        script.chmod(0o644)
        done = subprocess.run(
            ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups",
             "/usr/bin/python3", "-I", str(script), json.dumps(task)],
            capture_output=True, text=True, timeout=60, check=False, cwd="/", env={"PATH": os.environ["PATH"]},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def trapped(stranger: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder like /tmp, in which the second user has made everything that the grader could look for."""
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o1777)
    as_stranger(stranger, {"traps": str(place), "grader": os.geteuid()})
    (place / "treasure" / "thesis").write_text("years of work")
    monkeypatch.setattr("tempfile.tempdir", str(place))
    yield place
    shutil.rmtree(place)


def state(place: Path) -> dict[str, tuple[int, ...]]:
    """Everything that the second user made, and how it is."""
    return {str(path): (found.st_ino, found.st_mode, found.st_uid) for path in sorted(place.rglob("*"))
            if not path.is_relative_to(own_folder()) for found in [path.lstat()]}  # fmt: skip


def test_e1_a_grader_between_the_traps_of_another_user_neither_waits_nor_touches_them(
    trapped: Path, stranger: int
) -> None:
    own = own_folder()
    assert own.stat().st_uid == os.geteuid() and not own.is_relative_to(trapped / f"autograder-{os.geteuid()}")
    before = state(trapped)
    assert any(owner == stranger for _, _, owner in before.values())
    assert kept_fork_server(KernelImports()) is None
    for _ in range(2):  # the second finds what the first left
        with Kernels.open() as kernels:
            assert answer_of(kernels) == "42"
    assert state(trapped) == before
    assert (trapped / "treasure" / "thesis").read_text() == "years of work"
    assert list(own.iterdir()) == []


def answer_of(kernels: Kernels) -> str:
    scratch = kernels.new_scratch({"a.txt": b"42"}, {})
    kernel = kernels.start(scratch, LIMITS.memory_bytes, LIMITS.processes, LIMITS.disk_bytes)
    outputs = Outputs(1 << 20)
    kernel.execute("print(open('a.txt').read())", seconds=20, outputs=outputs, remembered=True)
    kernels.retire(kernel, scratch)
    return str(outputs.finish()[0].text).strip()


def test_e1_no_attempt_of_another_user_on_a_grader_at_work_gets_through(
    stranger: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    place.chmod(0o1777)
    monkeypatch.setattr("tempfile.tempdir", str(place))
    # in a folder that everybody may enter, as a home on a shared machine: the course's own folder is closed
    shared = Path(tempfile.mkdtemp(dir="/tmp"))
    shared.chmod(0o755)
    course = build_course(shared / "course")
    course.root.chmod(0o700)
    try:
        with Kernels.open() as kernels:
            assert answer_of(kernels) == "42"
            kernel = kernels.start(
                kernels.new_scratch({}, {}), LIMITS.memory_bytes, LIMITS.processes, LIMITS.disk_bytes
            )
            at_work = [process.pid for process in psutil.Process().children(recursive=True)]
            assert at_work
            prey = Prey((os.getpid(), *at_work), str(place), str(own_folder()), str(course.root))
            found = [Attempt(**json.loads(line)) for line in as_stranger(stranger, asdict(prey))]
            assert answer_of(kernels) == "42"  # everything still works
            kernel.close()
        assert [one.name for one in found] == [attempt.__name__.replace("_", " ") for attempt in ATTEMPTS]
        assert [one for one in found if one.got_through] == []
        assert any("Permission denied" in one.detail for one in found if one.name == "connect to sockets")
    finally:
        shutil.rmtree(place)
        shutil.rmtree(shared)


def test_e1_the_attempts_get_through_where_nothing_is_closed(stranger: int, tmp_path: Path) -> None:
    """Else the test above would say nothing: the same attempts on a folder that is open to all."""
    open_place = Path(tempfile.mkdtemp(dir="/tmp"))
    own, course = open_place / "own", open_place / "course"
    victim = subprocess.Popen(["/bin/sleep", "60"], user=stranger, cwd="/")
    try:
        for folder in (open_place, own, course):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777)
        (course / "gradebook.db").write_text("grades")
        prey = Prey((victim.pid,), str(open_place), str(own), str(course))
        found = [Attempt(**json.loads(line)) for line in as_stranger(stranger, asdict(prey))]
        through = {one.name for one in found if one.got_through}
        assert through >= {"list the own folder", "make something in it", "signal processes", "read the course"}
    finally:
        victim.kill()
        victim.wait()
        shutil.rmtree(open_place, ignore_errors=True)
