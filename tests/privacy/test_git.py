"""What a term leaves behind about students never gets into git by ``git add .``."""

import shutil
import subprocess
import zipfile

import pytest

from autograder.cli import main
from tests.exports.conftest import cells
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, ROOT, build_course, hand_in
from tests.pipeline.conftest import nbgrader

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
STUDENT = "u7654321"


def git(root, *words):
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def repository(root):
    """A course under version control, before the term."""
    course = build_course(root)
    shutil.copy(ROOT / ".gitignore", root)
    (root / "late_policy.toml").write_text("[assignments.toy]\ndeadline = 2026-11-20T09:00:00Z\n")
    git(root, "init", "-q")
    git(root, "config", "user.email", "instructor@uni.example")
    git(root, "config", "user.name", "instructor")
    git(root, "add", ".gitignore", "nbgrader_config.py", "course.toml", "late_policy.toml", "source", "release")
    git(root, "commit", "-q", "-m", "the course")
    return course


def term(course):
    """Collect with every list that there is, grade, feedback, report, every export, nbgrader's own."""
    root = course.root
    for name in ("ada", "bob"):
        with zipfile.ZipFile(root / "submissions.zip", "w") as made:
            made.writestr(f"lovelace_101_1_{NOTEBOOK}.ipynb", name)
        (root / "students.csv").write_text(f"id,student\n101,{STUDENT}\n")
        (root / "times.csv").write_text("id,time\n101,2026-11-20T09:00:00Z\n")
        words = ["submissions.zip", "--names", "students.csv", "--times", "times.csv", "--yes", "--force"]
        words = [str(root / word) if "." in word else word for word in words]
        assert main(["--course", str(root), "collect", ASSIGNMENT, *words]) == 0
    (root / "extensions.toml").write_text(f"[toy]\n{STUDENT} = 2\n")
    hand_in(course, STUDENT, cells=cells(3.0, 2.0))
    for words in (["feedback"], ["report"], *(["export", "--to", to] for to in ("csv", "json", "canvas", "moodle"))):
        assert main(["--course", str(root), words[0], ASSIGNMENT, *words[1:]]) == 0
    assert nbgrader(root, "export").returncode == 0


@pytest.mark.slow
def test_a_term_in_the_kits_repository_leaves_nothing_to_add(tmp_path):
    course = repository(tmp_path / "course")
    term(course)
    assert git(course.root, "status", "--porcelain", "--untracked-files=all", "--ignored=no") == ""
    git(course.root, "add", ".")
    assert subprocess.run(["git", "-C", str(course.root), "grep", "-q", "--cached", STUDENT]).returncode == 1


def test_our_own_folders_keep_themselves_out_of_any_repository(tmp_path):
    root = tmp_path / "course"
    for name in (".autograder/times", "exports", "reports/toy"):
        (root / name).mkdir(parents=True)
        (root / name / f"{STUDENT}.txt").write_text("about a student")
    (root / "nbgrader_config.py").write_text("")
    git(root, "init", "-q")
    main(["--course", str(root), "report", "toy"])
    assert git(root, "status", "--porcelain", "--untracked-files=all").splitlines() == ["?? nbgrader_config.py"]


def test_an_instructors_own_gitignore_stays(tmp_path):
    (tmp_path / "exports").mkdir()
    (tmp_path / "exports" / ".gitignore").write_text("mine\n")
    (tmp_path / "nbgrader_config.py").write_text("")
    main(["--course", str(tmp_path), "report", "toy"])
    assert (tmp_path / "exports" / ".gitignore").read_text() == "mine\n"
