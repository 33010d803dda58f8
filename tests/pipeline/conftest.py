"""A course in a temporary folder, with the sample class handed in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.model.course import Course
from demo import build_sample_class
from tests.grading import copy_exercises

ROOT = Path(__file__).resolve().parents[2]


def nbgrader(course: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """``nbgrader WORDS`` in the course's folder, as an instructor types it."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *words], cwd=course, capture_output=True, text=True, env=environment
    )


def new_course(folder: Path, assignment: str = "distilbert") -> Course:
    """A released course with an empty gradebook of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "source" / assignment, folder / "source" / assignment)
    copy_exercises(folder, assignment)
    released = nbgrader(folder, "generate_assignment", assignment)
    assert released.returncode == 0, released.stderr[-2000:]
    return Course(folder)


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Course:
    return new_course(tmp_path_factory.mktemp("course") / "course")


@pytest.fixture
def course(released, tmp_path) -> Course:
    """A fresh copy of the released course."""
    return Course(shutil.copytree(released.root, tmp_path / "course"))


@pytest.fixture
def sample(course) -> Course:
    build_sample_class(course.root)
    return course
