"""Deleting the late policy, or one assignment in it, takes back what it cost; nbgrader's own penalties stay."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.gradebook.late.times import record_times
from autograder.model.course import Course
from tests.exports.conftest import cells
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, build_course, hand_in

POLICY = '[assignments.toy]\ndeadline = 2026-11-20T09:00:00Z\nper_day = "20%"\n'


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return build_course(tmp_path_factory.mktemp("toy") / "course")


@pytest.fixture
def course(released, tmp_path):
    """Ada is one day late, by the policy; Bob has 1.5 points off by nbgrader's own means."""
    made = Course(shutil.copytree(released.root, tmp_path / "course"))
    for student in ("ada", "bob"):
        hand_in(made, student, cells=cells(3.0, 2.0))
    record_times(made.root, ASSIGNMENT, {"ada": datetime(2026, 11, 20, 12, tzinfo=UTC)})
    (made.root / "late_policy.toml").write_text(POLICY)
    assert export(made) == {"ada": "4", "bob": "5"}
    return made


def export(course):
    assert main(["--course", str(course.root), "export", ASSIGNMENT, "--to", "csv"]) == 0
    lines = (course.root / "exports" / f"{ASSIGNMENT}.csv").read_text(encoding="utf-8-sig").splitlines()
    column = lines[0].split(",").index("score")
    return {line.split(",")[0]: f"{float(line.split(',')[column]):g}" for line in lines[1:]}


def penalties(course):
    with Gradebook(course.db_url) as gradebook:
        return {one.student.id: one.notebooks[0].late_submission_penalty for one in
                gradebook.assignment_submissions(ASSIGNMENT)}  # fmt: skip


def penalise(course, student, points):
    with Gradebook(course.db_url) as gradebook:
        notebook = gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, student)
        notebook.late_submission_penalty = points
        gradebook.db.commit()


@pytest.mark.parametrize("rest", [None, "", POLICY.replace(".toy", ".other")])
def test_the_penalty_goes_with_the_rule_that_made_it(course, rest):
    path = course.root / "late_policy.toml"
    if rest is None:
        path.unlink()
    else:
        path.write_text(rest)
        (course.source("other")).mkdir()
        shutil.copy(course.source(ASSIGNMENT) / f"{NOTEBOOK}.ipynb", course.source("other"))
    assert export(course) == {"ada": "5", "bob": "5"}
    assert not any(penalties(course).values())


def test_feedback_takes_it_back_too(course):
    page = course.feedback("ada", ASSIGNMENT) / f"{NOTEBOOK}.html"
    assert main(["--course", str(course.root), "feedback", ASSIGNMENT]) == 0
    assert "taken off" in page.read_text()
    (course.root / "late_policy.toml").unlink()
    assert main(["--course", str(course.root), "feedback", ASSIGNMENT]) == 0
    assert "taken off" not in page.read_text()


def test_a_penalty_that_nbgrader_wrote_stays(course):
    (course.root / "late_policy.toml").unlink()
    penalise(course, "bob", 1.5)
    assert export(course) == {"ada": "5", "bob": "3.5"}
    assert penalties(course)["bob"] == 1.5


def test_a_penalty_that_nbgrader_put_in_the_place_of_ours_stays(course):
    penalise(course, "ada", 0.25)
    (course.root / "late_policy.toml").unlink()
    assert export(course)["ada"] == "4.75"


def test_the_policy_can_come_back(course):
    (course.root / "late_policy.toml").rename(course.root / "away")
    export(course)
    (course.root / "away").rename(course.root / "late_policy.toml")
    assert export(course) == {"ada": "4", "bob": "5"}
