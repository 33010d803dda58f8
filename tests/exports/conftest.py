"""A graded course of one small notebook, with students whose names are trouble."""

import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.model.course import Course
from autograder.model.verdict import CellVerdict
from tests.feedback.toy import build_course, hand_in

#: student -> (first name, last name)
NAMES = {
    "ada": ("Ada, Countess", 'Love"lace'),
    "bob": ("=HYPERLINK(A1)", "@SUM(1+1)"),
    "jorg": ("Jörg", "Müßiggang-Øster"),
    "layla": ("ليلى", "الأخيلية"),
    "noa": ("נועה", "\u202eכהן\u202c"),
    "rene": ("René\nde", "-2+3+cmd|' /C calc'!A0"),
    "semi": ('x;=1+1;"', "+49;@y"),
}


def cells(points: float | None = 3.0, written: float | None = None, status: str = "") -> tuple[CellVerdict, ...]:
    """``row_sums`` (3 points) judged, ``why`` (2 points) written."""
    judged = status or ("passed" if points == 3 else "failed")
    return (
        CellVerdict("row_sums", judged, points, 3.0),  # type: ignore[arg-type]
        CellVerdict("why", "manual" if written is None else "passed", written, 2.0),
    )


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return build_course(tmp_path_factory.mktemp("toy") / "course")


@pytest.fixture
def course(released: Course, tmp_path: Path) -> Course:
    """Released, and nothing handed in."""
    return Course(shutil.copytree(released.root, tmp_path / "course"))


@pytest.fixture(scope="session")
def named(released: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Everybody of NAMES has 3 + 2 points; to be read, not written into."""
    course = Course(shutil.copytree(released.root, tmp_path_factory.mktemp("named") / "course"))
    for student, (first, last) in NAMES.items():
        hand_in(course, student, cells=cells(3.0, 2.0))
        rename(course, student, first, last)
    return course


def rename(course: Course, student: str, first: str, last: str, email: str = "", lms: str = "") -> None:
    with Gradebook(course.db_url) as gradebook:
        gradebook.update_or_create_student(
            student, first_name=first, last_name=last, email=email or f"{student}@uni.example", lms_user_id=lms
        )


def mark(course: Course, student: str, cell: str, points: float | None, extra: float | None = None) -> None:
    """As a person does in the formgrader."""
    with Gradebook(course.db_url) as gradebook:
        grade = gradebook.find_grade(cell, "1_sums", "toy", student)
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = points, extra, False
        gradebook.db.commit()


def comment(course: Course, student: str, cell: str, text: str) -> None:
    with Gradebook(course.db_url) as gradebook:
        gradebook.find_comment(cell, "1_sums", "toy", student).manual_comment = text
        gradebook.db.commit()
