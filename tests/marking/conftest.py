"""A class of six, and a page for two people who mark it."""

import shutil
from pathlib import Path

import pytest

from autograder.marking.desk import Desk
from autograder.model.course import Course
from tests.marking.classroom import ASSIGNMENT, WRITTEN, hand_in, make_course
from tests.regrade.conftest import graded, world  # noqa: F401

RIGHT, WRONG = (WRITTEN["scale"]["kinds"][kind][0] for kind in ("right", "speed"))


@pytest.fixture(scope="session")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Three wrote the same about the scale, one something else, one nothing."""
    course = make_course(tmp_path_factory.mktemp("marking") / "course")
    texts = {"ada": RIGHT, "bob": RIGHT.upper(), "cid": f"{RIGHT}!", "dan": WRONG}
    for student, text in texts.items():
        hand_in(course, student, {"scale": text, "padding": "Pads.", "cls": "It sums up.", "figure": "plt.plot(w)"})
    hand_in(course, "eve", {"padding": "Pads."})
    return course


@pytest.fixture
def course(handed_in: Course, tmp_path: Path) -> Course:
    return Course(shutil.copytree(handed_in.root, tmp_path / "course"))


@pytest.fixture
def desk(course: Course) -> Desk:
    return Desk(course, ASSIGNMENT)
