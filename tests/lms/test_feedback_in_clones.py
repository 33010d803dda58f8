"""Feedback as a commit in each clone: beside the student's work, and nothing of the repository runs."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from autograder.cli import main
from tests.lms.conftest import CLASS, came_from

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("git") is None, reason="clones are made with git")]
BRANCH = "autograder-feedback"


def git(folder, *words):
    known = ["-c", "user.name=Student", "-c", "user.email=student@example.org"]
    return subprocess.run(["git", *known, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clones(tmp_path):
    """The users are the numbers of the origins; each repository would run something if it could."""
    for number in range(101, 101 + len(CLASS)):
        clone = tmp_path / "clones" / f"toy-{number}"
        clone.mkdir(parents=True)
        git(clone, "init", "-q", "-b", "main")
        (clone / "1_sums.ipynb").write_text("mine")
        (clone / ".gitattributes").write_text("* filter=evil\n")
        git(clone, "add", ".")
        git(clone, "commit", "-q", "-m", "done")
        git(clone, "config", "filter.evil.clean", f"touch {tmp_path}/ran")
        for name in ("post-commit", "reference-transaction", "post-index-change"):
            (clone / ".git" / "hooks" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
            (clone / ".git" / "hooks" / name).chmod(0o755)
    return tmp_path / "clones"


def feedback(course, clones):
    return main(["--course-dir", str(course.root), "feedback", "toy", "--to", "git", "--clones", str(clones)])


def test_each_clone_has_its_students_pages_on_a_branch_of_their_own(course, clones, tmp_path, capsys):
    came_from(course, "github")
    before = {clone.name: git(clone, "rev-parse", "main") for clone in clones.iterdir()}
    assert feedback(course, clones) == 0
    for number, student in enumerate(CLASS, start=101):
        clone = clones / f"toy-{number}"
        shown = git(clone, "show", f"{BRANCH}:feedback/toy/1_sums.html")
        assert shown == (course.root / "feedback" / student / "toy" / "1_sums.html").read_text()
        assert git(clone, "rev-parse", "main") == before[clone.name]
        assert git(clone, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
        assert sorted(path.name for path in clone.iterdir()) == [".git", ".gitattributes", "1_sums.ipynb"]
        assert git(clone, "ls-tree", "-r", "--name-only", BRANCH).split() == ["feedback/toy/1_sums.html"]
    assert not (tmp_path / "ran").exists()
    assert f"push origin {BRANCH}" in capsys.readouterr().out


def test_the_same_pages_are_committed_once_and_other_assignments_stay(course, clones):
    came_from(course, "github")
    assert feedback(course, clones) == 0
    clone = clones / "toy-101"
    git(clone, "config", "--unset", "filter.evil.clean")
    git(clone, "checkout", "-q", BRANCH)
    (clone / "feedback" / "earlier").mkdir()
    (clone / "feedback" / "earlier" / "a.html").write_text("earlier")
    (clone / "feedback" / "toy" / "gone.html").write_text("of a notebook that is no more")
    git(clone, "add", "-f", "feedback")
    git(clone, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "more")
    git(clone, "checkout", "-q", "main")
    assert feedback(course, clones) == 0
    listed = git(clone, "ls-tree", "-r", "--name-only", BRANCH).split()
    assert listed == ["feedback/earlier/a.html", "feedback/toy/1_sums.html"]
    count = git(clone, "rev-list", "--count", BRANCH)
    assert feedback(course, clones) == 0
    assert git(clone, "rev-list", "--count", BRANCH) == count
    assert git(clones / "toy-102", "rev-list", "--count", BRANCH).strip() == "1"


def test_who_has_no_clone_is_said(course, clones, capsys):
    came_from(course, "github")
    shutil.rmtree(clones / "toy-102")
    assert feedback(course, clones) == 1
    assert "bob is left out" in capsys.readouterr().err
    assert feedback(course, clones / "nowhere") == 2
