"""One class, graded by stock nbgrader and by the ``autograder`` command: nobody's configuration speaks of the other."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.classroom.row import Row
from autograder.classroom.run import GradingOptions, grade_class
from autograder.model.course import Course
from tests.pipeline.conftest import nbgrader
from tests.plain import quickstart, styles

#: student -> cell -> automatic score (None: a person has to look), by "notebook/cell"
Scores = dict[str, dict[str, float | None]]


@dataclass
class Graded:
    """Scores from both gradebooks, and what else the two said."""

    stock: Scores = field(default_factory=dict)
    ours: Scores = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    course: Course | None = None


def scores(root: Path, assignment: str) -> Scores:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {
            submission.student.id: {
                f"{notebook.name}/{grade.name}": grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(assignment)
        }


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Graded]:
    """Assignment -> how it was graded. nbgrader's own quickstart course, with one assignment more."""
    root = tmp_path_factory.mktemp("plain") / "physics"
    assert nbgrader(root.parent, "quickstart", "physics").returncode == 0
    styles.write_source(root)
    handed_in = {"ps1": quickstart, "styles": styles}
    for assignment, module in handed_in.items():
        done = nbgrader(root, "generate_assignment", assignment)
        assert done.returncode == 0, done.said[-2000:]
        module.hand_in_all(root)
    stock = Path(shutil.copytree(root, root.parent / "stock"))
    for assignment in handed_in:
        nbgrader(stock, "autograde", assignment)  # it ends with 1 where one submission fails
    course, found = Course(root), {}
    for assignment in handed_in:
        rows = grade_class(course, GradingOptions(assignment, workers=2))
        by_student = {row.student: row for row in rows}
        found[assignment] = Graded(scores(stock, assignment), scores(root, assignment), by_student, course)
    return found
