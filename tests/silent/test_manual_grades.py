"""A manual grade counts for the answer that it was given for, and for no other."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest
from nbgrader.api import Gradebook

from autograder.exports.formats import make
from autograder.feedback import write_feedback
from autograder.gradebook.gather import gather
from autograder.gradebook.results import StudentResult
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict
from autograder.report.statistics import read_results, waiting_for_people
from tests.exports.conftest import cells, comment, mark
from tests.feedback.toy import NOTEBOOK, build_course, hand_in

READ = {"why": "Because every row is normalised."}
OTHER = {"why": "I do not know any more."}


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Course:
    return build_course(tmp_path_factory.mktemp("by_hand") / "course")


@pytest.fixture
def course(released, tmp_path) -> Course:
    """Ada's written answer was read, and has 1.5 of its 2 points and a comment."""
    course = Course(shutil.copytree(released.root, tmp_path / "course"))
    hand_in(course, "ada", READ, cells=cells(3.0, None))
    mark(course, "ada", "why", 1.5)
    comment(course, "ada", "why", "Say which axis.")
    return course


def ada(course: Course) -> StudentResult:
    return next(row for row in gather(course, "toy").rows if row.student.id == "ada")


def waits(course: Course, cell: str = "why") -> bool:
    with Gradebook(course.db_url) as gradebook:
        return bool(gradebook.find_grade(cell, NOTEBOOK, "toy", "ada").needs_manual_grade)


def test_graded_again_with_the_same_answer_it_stays_graded(course):
    for _ in range(2):
        hand_in(course, "ada", READ, cells=cells(3.0, None))
        assert (ada(course).state, ada(course).score, waits(course)) == ("graded", 4.5, False)
        assert ada(course).comments == {(NOTEBOOK, "why"): "Say which axis."}


def test_another_answer_waits_in_every_place(course):
    hand_in(course, "ada", OTHER, cells=cells(3.0, None))
    assert waits(course)
    assert (ada(course).state, ada(course).score, ada(course).points_so_far) == ("waiting", None, 3.0)
    (line,) = csv.DictReader(io.StringIO(make(gather(course, "toy"), "csv").data.decode("utf-8-sig")))
    assert (line["state"], line["score"], line["comments"]) == ("waiting", "", "")
    (one,) = waiting_for_people(read_results(course, "toy").rows)
    assert (one.why, one.cell, one.students) == ("changed", "why", ("ada",))
    (page,) = write_feedback(course, "toy", "ada")
    text = page.read_text(encoding="utf-8")
    assert "Say which axis." not in text and "<strong>3</strong> of 5 points so far" in text
    assert "Waits to be read by a person" in text


def test_a_person_who_decides_about_the_new_answer_ends_the_waiting(course):
    hand_in(course, "ada", OTHER, cells=cells(3.0, None))
    mark(course, "ada", "why", 0.5)
    assert (ada(course).state, ada(course).score) == ("graded", 3.5)
    hand_in(course, "ada", OTHER, cells=cells(3.0, None))
    assert (ada(course).state, ada(course).score) == ("graded", 3.5)


def test_an_answer_that_comes_back_has_its_grade_back(course):
    hand_in(course, "ada", OTHER, cells=cells(3.0, None))
    hand_in(course, "ada", READ, cells=cells(3.0, None))
    assert (ada(course).state, ada(course).score) == ("graded", 4.5)


def test_a_comment_about_an_earlier_answer_is_kept_and_marked_for_the_instructor_alone(course):
    hand_in(course, "ada", OTHER, cells=cells(3.0, None))
    hand_in(course, "ada", OTHER, cells=cells(3.0, None))
    mark(course, "ada", "why", 0.5)
    with Gradebook(course.db_url) as gradebook:
        kept = gradebook.find_comment("why", NOTEBOOK, "toy", "ada").manual_comment
    first, second = kept.split("\n")
    assert first.startswith("[Written about an earlier answer") and second == "Say which axis."
    assert ada(course).comments == {}
    comment(course, "ada", "why", second)
    assert ada(course).comments == {(NOTEBOOK, "why"): "Say which axis."}


def test_a_comment_on_code_is_about_that_code(course):
    comment(course, "ada", "row_sums_answer", "The other axis.")
    hand_in(course, "ada", READ, cells=cells(3.0, None))
    assert ada(course).comments[NOTEBOOK, "row_sums_answer"] == "The other axis."
    hand_in(course, "ada", READ | {"row_sums_answer": "def row_sums(x):\n    return x.sum(1)"}, cells=cells(3.0, None))
    assert (NOTEBOOK, "row_sums_answer") not in ada(course).comments


def test_points_that_overrule_the_grader_count_for_that_code_alone(course):
    mark(course, "ada", "row_sums", 2.0)
    hand_in(course, "ada", READ, cells=cells(0.0, None))
    assert ada(course).exercises[NOTEBOOK, "row_sums"].points == 2.0
    hand_in(course, "ada", READ | {"row_sums_answer": "def row_sums(x):\n    return x"}, cells=cells(0.0, None))
    overruled = ada(course).exercises[NOTEBOOK, "row_sums"]
    assert (overruled.status, overruled.points, waits(course, "row_sums")) == ("manual", None, True)
    assert ada(course).exercises[NOTEBOOK, "why"].points == 1.5, "the written answer is the same"


def test_a_failure_of_the_grader_takes_the_grade_and_a_good_run_gives_it_back(course):
    broken = (CellVerdict("row_sums", "infrastructure", None, 3.0), CellVerdict("why", "infrastructure", None, 2.0))
    hand_in(course, "ada", READ, cells=broken)
    assert (ada(course).state, ada(course).score) == ("infrastructure", None)
    hand_in(course, "ada", READ, cells=cells(3.0, None))
    assert (ada(course).state, ada(course).score) == ("graded", 4.5)


@pytest.mark.parametrize("damage", ["gone", "no JSON", "[]"])
def test_without_a_record_of_the_answer_a_person_looks_again(course, damage):
    record = course.root / ".autograder" / "answers" / "toy" / "ada.json"
    assert set(json.loads(record.read_text())) == {NOTEBOOK}
    record.unlink() if damage == "gone" else record.write_text(damage)
    hand_in(course, "ada", READ, cells=cells(3.0, None))
    assert (ada(course).state, waits(course)) == ("waiting", True)


def test_extra_credit_on_an_answer_that_nobody_has_read_is_no_point(course):
    hand_in(course, "bob", READ, cells=cells(3.0, None))
    mark(course, "bob", "why", None, extra=1.0)
    bob = next(row for row in gather(course, "toy").rows if row.student.id == "bob")
    assert (bob.exercises[NOTEBOOK, "why"].points, bob.score, bob.points_so_far) == (None, None, 3.0)
    (page,) = write_feedback(course, "toy", "bob")
    assert "<strong>3</strong> of 5 points so far" in page.read_text(encoding="utf-8")
