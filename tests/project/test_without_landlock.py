"""Where student code cannot be confined: the kit's own sample class is graded, nobody else's work is, tests say why."""

import shutil
import subprocess
import sys

import pytest

from autograder.cli import main
from autograder.model.course import Course
from autograder.release.generate import generate
from tests.grading import ROOT
from tools.demo import EXPECTED
from tools.demo.__main__ import main as demo

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="system-call filters are Linux's")]
FILTER = [sys.executable, str(ROOT / "tests" / "without_landlock.py"), sys.executable]


def without_landlock(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*FILTER, *words], cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("command", ["grade", "release"])
def test_anybody_elses_work_is_refused_with_what_to_do(tmp_path, command):
    assert main(["init", str(tmp_path / "physics")]) == 0
    course = Course(tmp_path / "physics")
    generate(course, "signals")
    shutil.copytree(course.release("signals"), course.submitted("ada", "signals"))

    run = ["-c", "import sys; from autograder.cli import main; sys.exit(main())", "--course-dir", str(course.root)]
    done = without_landlock(*run, command, "signals")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "student code cannot be confined on this machine" in done.stderr and "Linux 6.2 or newer" in done.stderr
    assert r"\n" not in done.stderr
    assert not course.autograded("ada", "signals").exists()


def test_the_demo_grades_its_own_students_alone_and_says_so_in_one_line():
    done = without_landlock("-c", "from tools.demo.__main__ import _unconfined; print(_unconfined())")
    said, options, *more = done.stdout.splitlines()
    assert not more and "the kit's own" in said and "a container or WSL 2" in said
    named = [word for student in EXPECTED for word in ("--student", student)]
    assert options == str(["--no-isolation", *named])


def test_the_demo_grades_nobody_whom_it_did_not_write_itself(tmp_path, monkeypatch, capsys):
    """The folder of the demo leads to another one, or is a file."""
    monkeypatch.setattr("tools.demo.__main__.ROOT", tmp_path)
    (tmp_path / "build").mkdir()
    (tmp_path / "own" / "submitted").mkdir(parents=True)
    (tmp_path / "build" / "demo").symlink_to(tmp_path / "own")
    assert demo() == 2
    assert "build/demo could not be emptied and made anew" in capsys.readouterr().out
    assert (tmp_path / "own" / "submitted").is_dir()


def test_a_test_that_needs_confinement_is_skipped_and_names_what_is_missing():
    done = without_landlock("-m", "pytest", "tests/isolation/test_library.py", "-q", "-rs", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert "needs Linux with confinement, and this machine lacks Landlock (none)" in done.stdout
    assert "failed" not in done.stdout and "error" not in done.stdout
