"""Whose points count, and that nothing undecided is ever a number."""

import shutil
import warnings
from datetime import UTC, datetime

import pytest
from nbgrader.api import Gradebook

from autograder.errors import GradingError, NothingToGrade
from autograder.exports.formats import remarks
from autograder.gradebook.gather import gather
from autograder.gradebook.late.times import record_times
from autograder.gradebook.results import ResultsTable, StudentResult
from autograder.model.course import Course
from tests.exports.conftest import cells, mark, rename
from tests.feedback.toy import hand_in

KEY, WHY = ("1_sums", "row_sums"), ("1_sums", "why")
POLICY = """
[assignments.toy]
deadline = 2026-11-30T23:59:00Z
per_day = "20%"
hard_deadline = 2026-12-07T23:59:00Z
after_hard_deadline = "refused"
"""
LATE, TOO_LATE = datetime(2026, 12, 1, 12, tzinfo=UTC), datetime(2026, 12, 24, tzinfo=UTC)
JUDGED, WAITS, FAILED = cells(3.0, 2.0), cells(3.0, None), cells(None, 2.0, "infrastructure")

#: Student -> what the judge said, marks by hand (cell, points, extra credit) -> state and score.
FATES = {
    "judged": (JUDGED, [], "graded", 5.0),
    "zero": (cells(0.0, 0.0), [], "graded", 0.0),
    "waits": (WAITS, [], "waiting", None),
    "marked": (WAITS, [("why", 1.5)], "graded", 4.5),
    "beaten": (WAITS, [("why", 1.5), ("row_sums", 2.0)], "graded", 3.5),
    "beaten_to_0": (WAITS, [("why", 1.5), ("row_sums", 0.0)], "graded", 1.5),
    "extra_alone": (WAITS, [("why", None, 1.0)], "waiting", None),
    "extra": (WAITS, [("why", 2.0, 1.0)], "graded", 6.0),
    "grader_failed": (FAILED, [], "infrastructure", None),
    "failed_and_marked": (FAILED, [("row_sums", 1.0)], "graded", 3.0),
}
#: Student -> what the judge said, when it came -> state, deduction, score.
LATE_FATES = {
    "late": (JUDGED, LATE, "graded", 1.0, 4.0),
    "waits_late": (WAITS, LATE, "waiting", None, None),
    "failed_late": (FAILED, LATE, "infrastructure", None, None),
    "refused": (JUDGED, TOO_LATE, "refused", None, None),
    "unrecorded": (JUDGED, None, "graded", 0.0, 5.0),
}


def row(course: Course, student: str = "ada") -> StudentResult:
    return by_student(gather(course, "toy"))[student]


def by_student(table: ResultsTable) -> dict[str, StudentResult]:
    return {row.student.id: row for row in table.rows}


@pytest.fixture(scope="module")
def table(released, tmp_path_factory) -> ResultsTable:
    """Everybody of FATES; ``eve`` handed in nothing, ``bob`` and ``kim`` were never graded."""
    course = Course(shutil.copytree(released.root, tmp_path_factory.mktemp("fates") / "course"))
    for student, (judged, marks, *_) in FATES.items():
        if judged is FAILED:  # the gradebook still has points of an earlier time
            hand_in(course, student, cells=JUDGED)
        hand_in(course, student, cells=judged)
        for given in marks:
            mark(course, student, *given)
    rename(course, "eve", "Eve", "Elsewhere")
    course.submitted("bob", "toy").mkdir(parents=True)
    with Gradebook(course.db_url) as gradebook, warnings.catch_warnings():
        for student in ("grader_failed", "failed_and_marked"):
            gradebook.find_grade("row_sums", "1_sums", "toy", student).auto_score = 3.0
        warnings.simplefilter("ignore")  # nbgrader builds its rows outside of the session
        gradebook.update_or_create_student("kim")
        gradebook.update_or_create_submission("toy", "kim")  # as nbgrader does before it runs anything
        gradebook.db.commit()
        assert gradebook.find_submission("toy", "extra").score == 6.0
    return gather(course, "toy")


@pytest.mark.parametrize("student", FATES)
def test_what_counts_of_the_judges_points_and_of_marks_by_hand(table, student):
    *_, state, score = FATES[student]
    assert (by_student(table)[student].state, by_student(table)[student].score) == (state, score)


def test_the_sum_waits_with_the_answer_and_who_has_nothing_has_no_score(table):
    rows = by_student(table)
    waits = rows["waits"]
    assert (waits.waiting, waits.exercises[KEY].points) == ([WHY], 3.0)
    assert (waits.points, waits.deduction, waits.score) == (None, None, None)
    for student, state in (("bob", "infrastructure"), ("kim", "infrastructure"), ("eve", "nothing handed in")):
        assert (rows[student].state, rows[student].score) == (state, None)
    assert not any("judged" in line for line in remarks(table))


def test_without_anything_graded_it_is_said(course):
    with pytest.raises(NothingToGrade, match="run 'autograder grade toy' first"):
        gather(course, "toy")


def test_verdicts_and_gradebook_stand_in_for_each_other(course):
    for student in ("ada", "bob"):
        hand_in(course, student, cells=JUDGED)
    (course.autograded("ada", "toy") / "verdicts.json").write_text("{")
    assert (row(course).state, row(course).score) == ("graded", 5.0)
    (course.root / "gradebook.db").unlink()
    assert (row(course).state, row(course).score) == ("infrastructure", None)
    assert row(course, "bob").score == 5.0
    assert not (course.root / "gradebook.db").exists()
    (course.root / "gradebook.db").write_text("no database at all")
    with pytest.raises(GradingError, match="the gradebook cannot be opened"):
        gather(course, "toy")


def test_the_policy_takes_points_off_and_only_the_policy(course):
    for student, (judged, moment, *_) in LATE_FATES.items():
        hand_in(course, student, cells=judged)
        if moment:
            record_times(course.root, "toy", {student: moment})
    with Gradebook(course.db_url) as gradebook:
        gradebook.find_submission("toy", "late").notebooks[0].late_submission_penalty = 0.5
        gradebook.db.commit()
    for student in ("late", "unrecorded"):  # the student's own words count for nothing
        course.submitted(student, "toy").mkdir(parents=True)
        (course.submitted(student, "toy") / "timestamp.txt").write_text("2026-11-01 00:00:00 UTC")
    assert (row(course, "late").deduction, row(course, "late").score) == (0.5, 4.5)  # nbgrader's own: no policy speaks
    (course.root / "late_policy.toml").write_text(POLICY)
    table = gather(course, "toy")
    rows = by_student(table)
    assert rows["late"].points == 5.0
    for student, (*_, state, deduction, score) in LATE_FATES.items():
        found = rows[student]
        assert (found.state, found.deduction, found.score) == (state, deduction, score), student
    assert any(line.startswith("1 student (refused): handed in after the hard") for line in remarks(table))
    said = "1 student (unrecorded): no time was recorded, counted as on time"
    assert said in remarks(table)
    record_times(course.root, "toy", {"unrecorded": LATE})
    assert said not in remarks(gather(course, "toy"))


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("[assignments.toys]\ndeadline = 2026-11-30T23:59:00Z", "unknown assignment 'toys'; did you mean 'toy'?"),
        (POLICY + "[assignments.toy.extensions]\nadda = 1", "unknown student 'adda'; did you mean 'ada'?"),
    ],
)
def test_a_typo_in_the_policy_stops_everything(course, policy, said):
    hand_in(course, "ada", cells=JUDGED)
    (course.root / "late_policy.toml").write_text(policy)
    with pytest.raises(GradingError) as caught:
        gather(course, "toy")
    assert said in str(caught.value)


def test_free_days_spent_on_an_earlier_sheet_are_gone(course):
    shutil.copytree(course.root / "source" / "toy", course.root / "source" / "earlier")
    text = "free_days = 2\nper_day = 1\n[assignments.toy]\ndeadline = 2026-12-14T12:00:00Z\n"
    earlier = "[assignments.earlier]\ndeadline = 2026-11-30T12:00:00Z\n"
    (course.root / "late_policy.toml").write_text(text + earlier)
    hand_in(course, "ada", cells=JUDGED)
    record_times(course.root, "toy", {"ada": datetime(2026, 12, 16, tzinfo=UTC)})
    assert (row(course).lateness.days, row(course).score) == (2, 5.0)
    record_times(course.root, "earlier", {"ada": datetime(2026, 12, 1, tzinfo=UTC)})
    assert (row(course).lateness.free_days_used, row(course).score) == (1, 4.0)
