"""A course to collect for."""

from __future__ import annotations

import shutil

import pytest

from autograder.model.course import Course
from tests.collect.uploads import SHEET
from tests.grading import ROOT, copy_exercises


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    root = tmp_path_factory.mktemp("collect") / "course"
    for stage in ("source", "release"):
        shutil.copytree(ROOT / stage / SHEET, root / stage / SHEET)
    copy_exercises(root, SHEET)
    return root


@pytest.fixture
def course(released, tmp_path):
    return Course(shutil.copytree(released, tmp_path / "course"))
