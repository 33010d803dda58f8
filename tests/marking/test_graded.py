"""Answers graded with real kernels: in their own cell, in another one, and such as no grader could judge."""

import contextlib
import io
import json
from typing import Any

import pytest

from autograder.marking.answers import rendered
from autograder.marking.desk import Desk, Marker, member
from autograder.marking.pages import group_page
from autograder.model.course import Course
from tests import damaged_lab as lab
from tests.damaged_lab import answered, at, released, words

pytestmark = pytest.mark.slow

EXPLAIN, SQUARE = (lab.NAME, "explain"), (lab.NAME, "test_square")


def graded(course: Course) -> dict[str, Any]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        lab.run(course, "grade", lab.LAB, "--json")
    return {row["student"]: row for row in json.loads(out.getvalue())["students"]}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = lab.make_lab(tmp_path_factory.mktemp("marking") / "course")
    lab.hand_in(course, "ada", answered(course))
    elsewhere = answered(course, "")
    elsewhere["cells"].append(words("Because minus times minus is plus, here below."))
    lab.hand_in(course, "bob", elsewhere)
    text = answered(course)
    at(text, "square")["source"] = at(released(course), "square")["source"]
    text["cells"].append(words("My code:\n\ndef square(x):\n    return x * x\n"))
    lab.hand_in(course, "cid", text)
    lab.hand_in(course, "dan", {f"{lab.NAME}.ipynb": b"<html>log in first</html>"})
    lab.hand_in(course, "eve", answered(course, ""))
    graded(course)
    return course


def test_everything_that_waits_for_a_person_is_there_and_shown(course: Course) -> None:
    desk = Desk(course, lab.LAB)
    answers = desk.read().answers
    explained = {one.student: one for one in answers[EXPLAIN]}
    assert {student for student, one in explained.items() if one.waits} == {"ada", "bob", "cid", "dan"}
    assert explained["bob"].text == "Because minus times minus is plus, here below."
    assert explained["eve"].blank and explained["eve"].auto_score == 0.0
    assert explained["dan"].read.said and not explained["dan"].blank
    tests = {one.student: one for one in answers[SQUARE]}
    assert set(tests) == {"cid", "dan"}
    for key, found in ((EXPLAIN, explained), (SQUARE, tests)):
        for answer in found.values():
            cells = desk.reader.cells_of(answer, key)
            assert cells is not None and (rendered(cells) or answer.student == "dan")


def test_the_points_of_the_tests_stand_beside_an_answer_that_is_open_alone(course: Course) -> None:
    desk, lin = Desk(course, lab.LAB), Marker("lin")
    read = desk.read_for(lin)
    ada = next(one for one in read.answers[EXPLAIN] if one.student == "ada")
    group = next(one for one in desk.groups(EXPLAIN, read.answers[EXPLAIN], lin) if ada in one.answers)
    page = group_page(desk, lin, read, EXPLAIN, group, ada.row)
    assert "Tests of this notebook: 5 of 5 points." in page
    assert "Tests of this notebook" not in group_page(desk, lin, read, EXPLAIN, group)


def test_marks_hold_until_the_answer_changes(course: Course) -> None:
    desk, lin = Desk(course, lab.LAB), Marker("lin")
    answers = desk.read().answers
    desk.mark(
        lin, EXPLAIN, [member(one) for one in answers[EXPLAIN] if one.student in ("ada", "bob")], 4, "Yes.", False
    )
    desk.mark(lin, SQUARE, [member(one) for one in answers[SQUARE] if one.student == "cid"], 2, "", False)
    rows = graded(course)
    assert rows["ada"]["points"] == rows["bob"]["points"] == 9
    assert rows["cid"]["waiting"] == ["explain"] and rows["cid"]["points_so_far"] == 5
    assert {one.student: one.state.score for one in desk.read().answers[SQUARE]}["cid"] == 2
    lab.hand_in(course, "ada", answered(course, "Something else."))
    assert graded(course)["ada"]["waiting"] == ["explain"]
    assert {one.student for one in desk.read().answers[EXPLAIN] if one.waits} == {"ada", "cid", "dan"}
