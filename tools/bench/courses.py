"""Courses to measure on: the real DistilBERT assignment, handed in solved by as many students as wanted."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from autograder.assignment.assignment import Assignment
from autograder.model.course import Course
from autograder.release.as_submitted import solved

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = "distilbert"

STOCK_CONFIG = """
c = get_config()
c.CourseDirectory.course_id = "transformers"
c.Execute.timeout = 120
"""


def environment() -> dict[str, str]:
    """One thread per kernel for every competitor, and nothing kept ready; nbgrader calls alembic by name."""
    folder, path = str(Path(sys.executable).parent), os.environ["PATH"]
    if folder not in path.split(os.pathsep):
        path = folder + os.pathsep + path
    wanted = {"OMP_NUM_THREADS": "1", "PATH": path, "PYTHONWARNINGS": "ignore"}
    return {**{name: value for name, value in os.environ.items() if name != "NBGRADER_DB_URL"}, **wanted}


def check_grades(course: Course, submissions: int) -> None:
    """Raise SystemExit unless all have full marks: only right grades are worth timing."""
    with Gradebook(course.db_url) as gradebook:
        scores = [(one.student.id, one.score, one.max_score) for one in gradebook.assignment_submissions(ASSIGNMENT)]
    if len(scores) != submissions or any(score != most for _, score, most in scores):
        raise SystemExit(f"{course.root}: {submissions} solved submissions should have full marks, but have {scores}")


def call(course: Path, *words: str) -> None:
    """Run ``python -m WORDS`` in the course's folder. Raises CalledProcessError with what it said."""
    subprocess.run([sys.executable, "-m", *words], cwd=course, check=True, env=environment(), capture_output=True)


def make_course(
    folder: Path, submissions: int, *, stock: bool = False, only: str = "*", assignment: str = ASSIGNMENT
) -> Course:
    """A released course with ``submissions`` solved submissions; ``only`` picks notebooks by pattern.

    stock: without our plug-ins, as ``pip install nbgrader`` gives it.
    """
    source = folder / "source" / assignment
    source.mkdir(parents=True)
    for path in (ROOT / "source" / assignment).glob(f"{only}.ipynb"):
        shutil.copy(path, source)
    shutil.copytree(ROOT / "exercises" / assignment, folder / "exercises" / assignment)
    for shared in (ROOT / "exercises").glob("*.py"):
        shutil.copy(shared, folder / "exercises")
    config = STOCK_CONFIG if stock else (ROOT / "nbgrader_config.py").read_text()
    (folder / "nbgrader_config.py").write_text(config)
    shutil.copy(ROOT / "course.toml", folder)
    call(folder, "nbgrader", "generate_assignment", assignment)
    opened = Assignment.open(folder, assignment)
    handed_in = solved(opened)
    for number in range(submissions):
        target = folder / "submitted" / f"student{number:04d}" / assignment
        target.mkdir(parents=True)
        for name in opened.source:
            notebook = nbformat.reads(handed_in.notebooks[name].decode(), as_version=4)
            (target / f"{name}.ipynb").write_text(nbformat.writes(notebook))
    return Course(folder)


def without_warm_modules(course: Course) -> Course:
    """The same course, whose fork server imports nothing but what every kernel needs, and so starts at once."""
    path = course.root / "course.toml"
    path.write_text(re.sub(r"(?ms)^warm = \[.*?^\]", "warm = []", path.read_text()))
    return Course(course.root)
