"""A course in a temporary folder, with the sample class handed in."""

import pickle
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.classroom.rows import Row
from autograder.classroom.run import GradingOptions, grade_class
from autograder.model.course import Course
from autograder.model.nbgrader import CommandResult, run_nbgrader
from tests.fork_servers import fork_servers_are_kept  # noqa: F401
from tests.grading import copy_exercises, leave_out_shown
from tests.once import made_once
from tools.bench.courses import make_course, without_warm_modules
from tools.demo import build_sample_class

ROOT = Path(__file__).resolve().parents[2]
#: What :func:`small_course` holds.
SMALL, SMALL_NOTEBOOK = "numpy_attention", "1_attention"


def nbgrader(course: Path, *words: str) -> CommandResult:
    """``nbgrader WORDS`` in the course's folder, as an instructor types it."""
    return run_nbgrader(words, course)


def new_course(folder: Path, assignment: str = "distilbert") -> Course:
    """A released course with an empty gradebook of its own."""
    released = made_once(f"released-{assignment}", lambda place: _release(place, assignment))
    return Course(shutil.copytree(released, folder, dirs_exist_ok=True))


def small_course(folder: Path, *students: str) -> Course:
    """A released notebook that needs no torch, its empty gradebook, and right answers of these students."""
    made = made_once("small-course", lambda place: course_of_exercises(place, SMALL_NOTEBOOK))
    course = without_warm_modules(Course(shutil.copytree(made, folder, dirs_exist_ok=True)))
    (solved,) = (course.root / "submitted").iterdir()
    for student in students:
        shutil.copytree(solved, course.root / "submitted" / student)
    shutil.rmtree(solved)
    return course


def course_of_exercises(folder: Path, notebooks: str) -> None:
    """A course with a solved submission of some notebooks of ``SMALL``, without the cells that only show something."""
    make_course(folder, 1, only=notebooks, assignment=SMALL)
    leave_out_shown(folder, SMALL)


def _release(folder: Path, assignment: str) -> None:
    folder.mkdir()
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "source" / assignment, folder / "source" / assignment)
    copy_exercises(folder, assignment)
    released = nbgrader(folder, "generate_assignment", assignment)
    assert released.returncode == 0, released.said[-2000:]


@dataclass(frozen=True)
class GradedClass:
    """The sample class in ``course``; ``rows``: what grading returned; ``seen``: how many were done, each time."""

    course: Course
    rows: list[Row]
    seen: list[int]


def graded_class(folder: Path) -> GradedClass:
    """A course in ``folder`` with the sample class graded."""
    made = made_once("graded-class", _grade)
    rows, seen = pickle.loads((made / "rows.pickle").read_bytes())
    return GradedClass(Course(shutil.copytree(made / "course", folder)), rows, seen)


def _grade(place: Path) -> None:
    seen: list[int] = []
    course = new_course(place / "course")
    build_sample_class(course.root)
    rows = grade_class(course, GradingOptions("distilbert", workers=2), lambda progress: seen.append(progress.done))
    (place / "rows.pickle").write_bytes(pickle.dumps((rows, seen)))


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Course:
    return new_course(tmp_path_factory.mktemp("course") / "course")


@pytest.fixture
def course(released, tmp_path) -> Course:
    """A fresh copy of the released course."""
    return Course(shutil.copytree(released.root, tmp_path / "course"))
