"""Whose points count, and that nothing undecided is ever a number."""

from __future__ import annotations

import shutil
import warnings
from datetime import UTC, datetime

import pytest
from nbgrader.api import Gradebook

from autograder.errors import GradingError, NothingToGrade
from autograder.exports.formats import remarks
from autograder.gradebook.gather import gather
from autograder.gradebook.late.times import record_times
from autograder.gradebook.results import StudentResult
from tests.exports.conftest import cells, mark, rename
from tests.feedback.toy import hand_in

KEY, WHY = ("1_sums", "row_sums"), ("1_sums", "why")


def row(course, student: str = "ada") -> StudentResult:
    return next(row for row in gather(course, "toy").rows if row.student.id == student)


def test_without_anything_graded_it_is_said(course):
    with pytest.raises(NothingToGrade, match="run 'autograder grade toy' first"):
        gather(course, "toy")


def test_a_written_answer_waits_and_the_sum_waits_with_it(course):
    hand_in(course, "ada", cells=cells(3.0, None))
    ada = row(course)
    assert (ada.state, ada.waiting, ada.exercises[KEY].points) == ("waiting", [WHY], 3.0)
    assert (ada.points, ada.deduction, ada.score) == (None, None, None)


def test_a_mark_by_hand_ends_the_waiting_and_beats_the_judge(course):
    hand_in(course, "ada", cells=cells(3.0, None))
    mark(course, "ada", "why", 1.5)
    assert (row(course).state, row(course).score) == ("graded", 4.5)
    mark(course, "ada", "row_sums", 2.0)
    assert row(course).score == 3.5
    mark(course, "ada", "row_sums", 0.0)
    assert row(course).score == 1.5


def test_extra_credit_counts_with_a_mark_and_not_without(course):
    hand_in(course, "ada", cells=cells(3.0, None))
    mark(course, "ada", "why", None, extra=1.0)
    assert row(course).state == "waiting"
    mark(course, "ada", "why", 2.0, extra=1.0)
    assert row(course).score == 6.0
    with Gradebook(course.db_url) as gradebook:
        assert gradebook.find_submission("toy", "ada").score == 6.0


def test_a_failure_of_the_grader_is_no_zero_although_the_gradebook_still_has_points(course):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    hand_in(course, "ada", cells=cells(None, 2.0, "infrastructure"))
    with Gradebook(course.db_url) as gradebook:
        gradebook.find_grade("row_sums", "1_sums", "toy", "ada").auto_score = 3.0
        gradebook.db.commit()
    assert (row(course).state, row(course).score) == ("infrastructure", None)
    mark(course, "ada", "row_sums", 1.0)
    assert (row(course).state, row(course).score) == ("graded", 3.0)


def test_a_real_zero_is_a_zero(course):
    hand_in(course, "ada", cells=cells(0.0, 0.0))
    assert (row(course).state, row(course).score) == ("graded", 0.0)


def test_a_submission_that_was_never_graded_waits_for_the_grader(course):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    course.submitted("bob", "toy").mkdir(parents=True)
    with Gradebook(course.db_url) as gradebook, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader builds its rows outside of the session
        gradebook.update_or_create_student("eve")
        gradebook.update_or_create_submission("toy", "eve")  # as nbgrader does before it runs anything
    for student in ("bob", "eve"):
        assert (row(course, student).state, row(course, student).score) == ("infrastructure", None)


def test_an_unreadable_verdict_waits_for_the_grader_unless_the_gradebook_knows(course):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    (course.autograded("ada", "toy") / "verdicts.json").write_text("{")
    assert (row(course).state, row(course).score) == ("graded", 5.0)
    hand_in(course, "bob", cells=cells(3.0, 2.0))
    (course.root / "gradebook.db").unlink()
    assert (row(course).state, row(course).score) == ("infrastructure", None)
    assert row(course, "bob").score == 5.0


def test_who_handed_in_nothing_has_no_score(course):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    rename(course, "eve", "Eve", "Elsewhere")
    assert (row(course, "eve").state, row(course, "eve").score) == ("nothing handed in", None)
    assert not remarks(gather(course, "toy"))[0].startswith("1 student (ada)")


def test_a_class_without_a_gradebook_has_the_judges_points(course):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    (course.root / "gradebook.db").unlink()
    assert row(course).score == 5.0
    assert not (course.root / "gradebook.db").exists()


def test_a_gradebook_that_is_none_is_said_in_one_line(course):
    hand_in(course, "ada")
    (course.root / "gradebook.db").write_text("no database at all")
    with pytest.raises(GradingError, match="the gradebook cannot be opened"):
        gather(course, "toy")


POLICY = """
[assignments.toy]
deadline = 2026-11-30T23:59:00Z
per_day = "20%"
hard_deadline = 2026-12-07T23:59:00Z
after_hard_deadline = "refused"
"""
LATE = datetime(2026, 12, 1, 12, tzinfo=UTC)


def test_the_policy_takes_points_off_and_only_the_policy(course):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    with Gradebook(course.db_url) as gradebook:
        gradebook.find_submission("toy", "ada").notebooks[0].late_submission_penalty = 0.5
        gradebook.db.commit()
    record_times(course.root, "toy", {"ada": LATE})
    assert (row(course).deduction, row(course).score) == (0.5, 4.5)  # nbgrader's own, as no policy speaks
    (course.root / "late_policy.toml").write_text(POLICY)
    assert (row(course).points, row(course).deduction, row(course).score) == (5.0, 1.0, 4.0)


def test_a_submission_that_waits_or_that_the_grader_failed_on_has_no_penalty(course):
    (course.root / "late_policy.toml").write_text(POLICY)
    record_times(course.root, "toy", {"ada": LATE, "bob": LATE})
    hand_in(course, "ada", cells=cells(None, 2.0, "infrastructure"))
    hand_in(course, "bob", cells=cells(3.0, None))
    for student in ("ada", "bob"):
        assert (row(course, student).deduction, row(course, student).score) == (None, None)


def test_a_refused_submission_has_no_score_and_is_named(course):
    (course.root / "late_policy.toml").write_text(POLICY)
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    record_times(course.root, "toy", {"ada": datetime(2026, 12, 24, tzinfo=UTC)})
    assert (row(course).state, row(course).score, row(course).deduction) == ("refused", None, None)
    assert any(line.startswith("1 student (ada): handed in after the hard") for line in remarks(gather(course, "toy")))


def test_a_students_own_timestamp_counts_for_nothing(course):
    (course.root / "late_policy.toml").write_text(POLICY)
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    folder = course.submitted("ada", "toy")
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text("2026-11-01 00:00:00 UTC")
    record_times(course.root, "toy", {"ada": LATE})
    assert row(course).score == 4.0


def test_without_a_recorded_time_a_submission_is_on_time_and_that_is_said(course):
    (course.root / "late_policy.toml").write_text(POLICY)
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    assert row(course).score == 5.0
    said = "1 student (ada): no time was recorded, counted as on time"
    assert said in remarks(gather(course, "toy"))
    record_times(course.root, "toy", {"ada": LATE})
    assert said not in remarks(gather(course, "toy"))


def test_a_typo_in_the_policy_stops_everything(course):
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    for text, said in (
        ("[assignments.toys]\ndeadline = 2026-11-30T23:59:00Z", "unknown assignment 'toys'; did you mean 'toy'?"),
        (POLICY + "[assignments.toy.extensions]\nadda = 1", "unknown student 'adda'; did you mean 'ada'?"),
    ):
        (course.root / "late_policy.toml").write_text(text)
        with pytest.raises(GradingError) as caught:
            gather(course, "toy")
        assert said in str(caught.value)


def test_free_days_spent_on_an_earlier_sheet_are_gone(course):
    shutil.copytree(course.root / "source" / "toy", course.root / "source" / "earlier")
    text = "free_days = 2\nper_day = 1\n[assignments.toy]\ndeadline = 2026-12-14T12:00:00Z\n"
    earlier = "[assignments.earlier]\ndeadline = 2026-11-30T12:00:00Z\n"
    (course.root / "late_policy.toml").write_text(text + earlier)
    hand_in(course, "ada", cells=cells(3.0, 2.0))
    record_times(course.root, "toy", {"ada": datetime(2026, 12, 16, tzinfo=UTC)})
    assert (row(course).lateness.days, row(course).score) == (2, 5.0)
    record_times(course.root, "earlier", {"ada": datetime(2026, 12, 1, tzinfo=UTC)})
    assert (row(course).lateness.free_days_used, row(course).score) == (1, 4.0)
