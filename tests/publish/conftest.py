"""The small assignment, which has no stored reference, in a course with nothing beside it."""

import shutil
from pathlib import Path

import pytest

from autograder.model.course import Course
from autograder.release.generate import generate
from tests.feedback.toy import build_course


@pytest.fixture
def course(tmp_path):
    built = build_course(tmp_path / "course")
    (built.root / "course.toml").write_text('title = "Sums"\n')
    return built


@pytest.fixture
def judged(monkeypatch):
    """The missing reference is not what is tested."""
    monkeypatch.setattr("autograder.publish.publish.require_judgeable", lambda sheet: None)


def release_anew(root: Path) -> None:
    """With what source and settings say now."""
    shutil.rmtree(root / "release" / "toy")
    generate(Course(root), "toy")
