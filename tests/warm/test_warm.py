"""``autograder warm``: what is kept ready is used by just the courses that it fits, and ends by itself."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from autograder import cli
from autograder.classroom import head_start, run
from autograder.kernel import kernels as module
from autograder.kernel import warm
from autograder.kernel.imports import KernelImports, imports_of
from autograder.kernel.kernels import Kernels
from autograder.model.course import Course
from benchmarks.courses import make_course, without_warm_modules
from tests.grading import leave_out_shown

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("warm")]

ASSIGNMENT = "numpy_attention"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files of this test alone; what is kept there ends with it."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "t").mkdir()
    monkeypatch.delenv(warm.SWITCH, raising=False)
    yield tmp_path / "t"
    warm.stop()
    wait(lambda: not keepers(tmp_path / "t"))


def keepers(place: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if "autograder.kernel.keep_warm" in process.cmdline() and process.environ().get("TMPDIR") == str(place):
                found.append(process)
    return found


def wait(until: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def has_ended(process: psutil.Process) -> bool:
    """A child of ours stays as a zombie until we ask for it."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Course:
    folder = tmp_path_factory.mktemp("warm") / "course"
    course = without_warm_modules(make_course(folder, 2, only="1_attention", assignment=ASSIGNMENT))
    leave_out_shown(course.root, ASSIGNMENT)
    return course


@pytest.fixture
def course(made: Course, tmp_path: Path) -> Course:
    return Course(shutil.copytree(made.root, tmp_path / "course"))


def grade(course: Course) -> None:
    assert cli.main(["--course-dir", str(course.root), "grade", ASSIGNMENT, "--force", "--json"]) == 0


def verdicts(course: Course) -> list[str]:
    """Without the seconds, which are never the same."""
    folders = course.autograded_folders(ASSIGNMENT).values()
    return [re.sub(r'"seconds": [\d.e-]+', "", (one / "verdicts.json").read_text()) for one in folders]


def test_a_class_is_graded_the_same_with_it_and_it_stays(course, place, capsys, monkeypatch):
    grade(course)
    capsys.readouterr()
    before = verdicts(course)
    monkeypatch.chdir(course.root)
    assert cli.main(["warm"]) == 0
    assert capsys.readouterr().out.startswith("ready; it ends when no command has used it for 30 minutes")
    (keeper,) = keepers(place)
    (server,) = keeper.children()
    with monkeypatch.context() as no_other_server:
        for caller in (head_start, run):
            no_other_server.setattr(caller, "KernelForkServer", None)
        grade(course)
    capsys.readouterr()
    assert verdicts(course) == before
    assert keeper.is_running() and keeper.children() == [server]
    assert cli.main(["warm"]) == 0 and capsys.readouterr().out == "it is ready already\n"
    assert cli.main(["warm", "--stop"]) == 0 and capsys.readouterr().out == "1 ended\n"
    wait(lambda: has_ended(keeper))
    assert cli.main(["warm", "--stop"]) == 0 and capsys.readouterr().out == "0 ended\n"


@contextlib.contextmanager
def kept_here(imports: KernelImports, idle_seconds: float = 600) -> Iterator[threading.Thread]:
    """A server that a thread of this process keeps."""
    said = _Said()
    thread = threading.Thread(target=warm.keep, args=(imports, idle_seconds, said))
    thread.start()
    assert said.ready.wait(60)
    try:
        yield thread
    finally:
        warm.stop()
        thread.join(60)
        assert not thread.is_alive()


@contextlib.contextmanager
def kept_in_a_process(imports: KernelImports, place: Path) -> Iterator[None]:
    """A server that another process keeps."""
    command = [sys.executable, "-m", "autograder.kernel.keep_warm"]
    asked = json.dumps({"imports": asdict(imports), "idle_seconds": 600})
    keeper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert keeper.stdin is not None and keeper.stdout is not None
    with keeper, keeper.stdin, keeper.stdout:
        keeper.stdin.write(asked)
        keeper.stdin.close()
        assert keeper.stdout.read() == "ready\n"
        try:
            yield
        finally:
            warm.stop()


class _Said(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.ready = threading.Event()

    def write(self, text: str) -> int:
        self.ready.set()
        return len(text)


def test_no_other_server_is_started_where_one_fits(monkeypatch):
    monkeypatch.setattr(module, "KernelForkServer", None)
    with kept_here(KernelImports()), Kernels.open() as opened, opened.answers():
        assert opened.confined
    with pytest.raises(TypeError), Kernels.open():
        pass


@pytest.mark.parametrize(
    "other", [KernelImports(warm=("json",)), KernelImports(pictures=False), KernelImports(paths=("/opt",))]
)
def test_one_with_other_imports_is_not_taken(other):
    with kept_here(KernelImports()):
        assert warm.kept_fork_server(other) is None


def test_one_of_another_environment_is_not_taken(monkeypatch):
    with kept_here(KernelImports()):
        monkeypatch.setenv("LANG", "tlh")
        assert warm.kept_fork_server(KernelImports()) is None


def test_one_is_not_taken_after_the_library_was_changed(tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    (library / "__init__.py").write_text("x = 1\n")
    imports = KernelImports((str(library),), (str(tmp_path),))
    with kept_here(imports):
        found = warm.kept_fork_server(imports)
        assert found is not None
        found.close()
        (library / "more.py").write_text("y = 2\n")
        assert warm.kept_fork_server(imports) is None


def test_the_switch_turns_it_off(monkeypatch):
    with kept_here(KernelImports()):
        monkeypatch.setenv(warm.SWITCH, "0")
        assert warm.kept_fork_server(KernelImports()) is None


def test_it_ends_when_nobody_has_used_it_for_so_long_and_not_before():
    with kept_here(KernelImports(), idle_seconds=0.1) as thread:
        found = warm.kept_fork_server(KernelImports())
        assert found is not None
        time.sleep(3)
        assert thread.is_alive()
        found.close()
        thread.join(20)
        assert not thread.is_alive()
        assert warm.kept_fork_server(KernelImports()) is None


def test_one_that_is_stopped_ends_when_its_last_user_is_done():
    with kept_here(KernelImports()) as thread:
        found = warm.kept_fork_server(KernelImports())
        assert found is not None
        assert warm.stop() == 1
        time.sleep(2)
        assert thread.is_alive()
        found.close()
        thread.join(20)
        assert not thread.is_alive()


def test_a_keeper_that_was_killed_is_not_taken(course, place, monkeypatch):
    monkeypatch.chdir(course.root)
    assert cli.main(["warm"]) == 0
    (keeper,) = keepers(place)
    keeper.kill()
    wait(lambda: has_ended(keeper))
    assert warm.kept_fork_server(imports_of(course)) is None
    grade(course)


def test_one_that_is_kept_anew_while_the_last_one_is_in_use_is_taken_and_leaves_nothing(place):
    with kept_here(KernelImports()) as first:
        user = warm.kept_fork_server(KernelImports())
        assert user is not None
        warm.stop()
        with kept_in_a_process(KernelImports(), place):
            user.close()
            first.join(20)
            again = warm.kept_fork_server(KernelImports())
            assert again is not None and again.address != user.address
            again.close()
    assert list(warm.folder().iterdir()) == []


def test_a_folder_that_others_may_write_into_is_passed_over():
    folder = warm.folder()
    folder.chmod(0o770)
    assert warm.folder() != folder
    assert warm.kept_fork_server(KernelImports()) is None


def test_a_link_in_the_folder_s_place_is_passed_over(tmp_path):
    folder = warm.folder()
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    assert warm.folder().resolve() not in (folder, tmp_path / "elsewhere")


@pytest.mark.parametrize("written", ["", "{}", "[]", json.dumps({"address": "/nowhere"}), json.dumps({"address": 3})])
def test_a_file_that_leads_nowhere_is_passed_over(written):
    (warm.folder() / f"{warm.state(KernelImports())}.json").write_text(written)
    assert warm.kept_fork_server(KernelImports()) is None


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf"])
def test_minutes_below_0_are_refused(course, monkeypatch, capsys, minutes):
    monkeypatch.chdir(course.root)
    assert cli.main(["warm", f"--minutes={minutes}"]) == 2
    assert "--minutes must be a number above 0" in capsys.readouterr().err


def test_the_folder_belongs_to_the_user_alone():
    found = warm.folder().stat()
    assert found.st_uid == os.getuid() and found.st_mode & 0o777 == (0o711 if os.getuid() == 0 else 0o700)
