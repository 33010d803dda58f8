"""One graded class of a small notebook, which came from an LMS."""

import shutil
from pathlib import Path

import pytest

from autograder.gradebook.roster import Origin, record_origins
from autograder.model.course import Course
from tests.exports.conftest import cells, rename
from tests.feedback.toy import build_course, hand_in

#: student -> points in the judged exercise; everybody's written answer has 2.
CLASS = {"ada": 3.0, "bob": 0.0, "o_neill": 1.5}
FULL_NAMES = {"ada": "Ada Lovelace", "bob": "Bob <Byte>/Ohm", "o_neill": "Seán O_Neill 42"}


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = build_course(tmp_path_factory.mktemp("lms") / "course")
    for student, points in CLASS.items():
        hand_in(course, student, cells=cells(points, 2.0))
        rename(course, student, student.title(), "Muster")
    return course


@pytest.fixture
def course(graded: Course, tmp_path: Path) -> Course:
    return Course(shutil.copytree(graded.root, tmp_path / "course"))


def came_from(course: Course, kind: str) -> None:
    """Everybody's submission was collected from there; ``bob`` handed his in as a zip."""
    origins = {}
    for number, student in enumerate(CLASS, start=101):
        file = "work.zip" if student == "bob" else "1_sums.ipynb"
        files = {
            "1_sums.ipynb": f"{student}_{number}_{9000 + number}_{file}" + (" / 1_sums.ipynb" if "zip" in file else "")
        }
        origins[student] = Origin(kind, str(number), FULL_NAMES[student], files)
    record_origins(course.root, "toy", origins)
