"""Deleting the late policy, or one assignment in it, takes back what it cost; nbgrader's own penalties stay."""

import shutil
from datetime import UTC, datetime

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.gradebook.late.times import record_times
from tests.exports.conftest import cells
from tests.feedback.toy import ASSIGNMENT, NOTEBOOK, hand_in
from tests.small_class import table

POLICY = '[assignments.toy]\ndeadline = 2026-11-20T09:00:00Z\nper_day = "20%"\n'


@pytest.fixture(name="course")
def late_course(course):
    """Ada is one day late, by the policy; Bob has nothing taken off."""
    for student in ("ada", "bob"):
        hand_in(course, student, cells=cells(3.0, 2.0))
    record_times(course.root, ASSIGNMENT, {"ada": datetime(2026, 11, 20, 12, tzinfo=UTC)})
    (course.root / "late_policy.toml").write_text(POLICY)
    assert export(course) == {"ada": "4", "bob": "5"}
    return course


def export(course):
    assert main(["--course", str(course.root), "export", ASSIGNMENT, "--to", "csv"]) == 0
    lines = table(course.root / "exports" / f"{ASSIGNMENT}.csv")
    return {student: f"{float(line['score']):g}" for student, line in lines.items()}


def penalties(course):
    with Gradebook(course.db_url) as gradebook:
        return {one.student.id: one.notebooks[0].late_submission_penalty for one in
                gradebook.assignment_submissions(ASSIGNMENT)}  # fmt: skip


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


@pytest.mark.parametrize(("student", "points", "score"), [("bob", 1.5, "3.5"), ("ada", 0.25, "4.75")])
def test_a_penalty_that_nbgrader_wrote_stays_also_in_the_place_of_ours(course, student, points, score):
    with Gradebook(course.db_url) as gradebook:
        gradebook.find_submission_notebook(NOTEBOOK, ASSIGNMENT, student).late_submission_penalty = points
        gradebook.db.commit()
    (course.root / "late_policy.toml").unlink()
    assert export(course) == {"ada": "5", "bob": "5"} | {student: score}
    assert penalties(course)[student] == points


def test_the_policy_can_come_back(course):
    (course.root / "late_policy.toml").rename(course.root / "away")
    export(course)
    (course.root / "away").rename(course.root / "late_policy.toml")
    assert export(course) == {"ada": "4", "bob": "5"}
