"""``autograder regrade``: the right students change, nobody else, manual grades stay, and nothing falls by itself."""

from __future__ import annotations

import json

import pytest

from autograder import cli
from autograder.classroom import run as classroom
from autograder.classroom.workers import JobResult
from autograder.gradebook.regradings import read_regradings, regradings_path
from tests.regrade.conftest import NOTEBOOK, SHEET, World

pytestmark = pytest.mark.slow

BEFORE = {
    "ada": {"first": 3.0, "second": 0.0, "why": 1.0},
    "bob": {"first": 1.5, "second": 0.0, "why": 0.5},
    "eve": {"first": 0.0, "second": 2.0, "why": None},
}


def command(world: World, *words: str) -> int:
    return cli.main(["--course-dir", str(world.course.root), words[0], SHEET, *words[1:]])


def regrade(world: World, *words: str) -> int:
    return command(world, "regrade", *words, "--no-isolation")


def document(world: World, capsys, *words: str) -> dict:
    capsys.readouterr()
    assert regrade(world, *words, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_nobody_is_graded_again_where_nothing_has_changed(world, capsys):
    world.shares[("bob", "first")] = 1.0  # the judge would say so, but nobody asks
    assert regrade(world, "--yes") == 0
    assert "Nobody is graded again" in capsys.readouterr().out
    assert world.points() == BEFORE


def test_a_corrected_test_changes_the_right_student_and_manual_grades_stay(world):
    world.correct_test("first")
    world.shares[("bob", "first")] = 1.0
    assert regrade(world, "--yes") == 0
    assert world.points() == BEFORE | {"bob": BEFORE["bob"] | {"first": 3.0}}


def test_without_diff_or_yes_nothing_is_run(world, capsys, monkeypatch):
    world.correct_test("first")
    monkeypatch.setattr(classroom, "_results", lambda *given: pytest.fail("it graded"))
    assert regrade(world) == 0
    assert "cell first changed: 3 students" in capsys.readouterr().out


def test_the_difference_is_shown_and_nothing_is_written(world, capsys):
    world.correct_test("first")
    world.shares[("bob", "first")] = 1.0
    before = {path: path.read_bytes() for path in world.course.root.rglob("verdicts.json")}
    found = document(world, capsys, "--diff")
    changes = {one["student"]: one["changes"] for one in found["students"]}
    change = {"notebook": NOTEBOOK, "exercise": "first", "old": 1.5, "new": 3.0, "kept": None}
    assert changes == {"ada": [], "bob": [change], "eve": []} and not found["written"]
    assert {one["why"] for one in found["students"]} == {"cell first changed"}
    assert world.points() == BEFORE and {path: path.read_bytes() for path in before} == before
    assert read_regradings(world.course.root, SHEET) == {}
    assert regrade(world, "--diff") == 0
    said = capsys.readouterr().out
    assert "bob" in said and "1.5" in said and "Nothing was written" in said


def test_no_grade_falls_without_lower(world, capsys):
    world.correct_test("first")
    world.shares |= {("ada", "first"): 0.0, ("bob", "first"): 1.0}
    found = document(world, capsys, "--yes")
    kept = {"notebook": NOTEBOOK, "exercise": "first", "old": 3.0, "new": 3.0, "kept": 0.0}
    assert {one["student"]: one["changes"] for one in found["students"]}["ada"] == [kept]
    assert world.points() == BEFORE | {"bob": BEFORE["bob"] | {"first": 3.0}}
    world.grade()
    assert world.points()["ada"] == BEFORE["ada"], "it stands: the journal knows what it was made from"


def test_with_lower_it_falls(world):
    world.correct_test("first")
    world.shares[("ada", "first")] = 0.0
    assert regrade(world, "--yes", "--lower") == 0
    assert world.points() == BEFORE | {"ada": BEFORE["ada"] | {"first": 0.0}}


def test_a_manual_grade_beats_what_the_corrected_test_says(world, capsys):
    world.mark("bob", "first", 2.5)
    world.correct_test("first")
    world.shares[("bob", "first")] = 0.0
    changes = {one["student"]: one["changes"] for one in document(world, capsys, "--yes", "--lower")["students"]}
    assert changes == {"ada": [], "bob": [], "eve": []}
    assert world.points() == BEFORE | {"bob": BEFORE["bob"] | {"first": 2.5}}


def test_a_new_submission_is_left_to_grade(world, capsys):
    world.hand_in("bob", "Another answer.")
    world.correct_test("first")
    world.shares[("bob", "first")] = 1.0
    found = document(world, capsys, "--yes")
    assert found["left_to_grade"] == ["bob"] and [one["student"] for one in found["students"]] == ["ada", "eve"]
    assert world.points() == BEFORE


def test_a_failure_of_the_grader_leaves_the_grade(world, capsys, monkeypatch):
    world.correct_test("first")
    world.shares[("bob", "first")] = 1.0

    def fail(job):
        return JobResult(job, None, "the worker died") if job.student == "ada" else world.judge(job)

    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(fail, todo))
    assert regrade(world, "--yes") == 1
    assert "the worker died" in capsys.readouterr().out
    assert world.points() == BEFORE | {"bob": BEFORE["bob"] | {"first": 3.0}}
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(world.judge, todo))
    assert [one["student"] for one in document(world, capsys, "--diff")["students"]] == ["ada"]


def test_each_feedback_page_says_so(world):
    world.correct_test("first")
    world.shares |= {("ada", "first"): 0.0, ("bob", "first"): 1.0}
    assert regrade(world, "--yes") == 0 and command(world, "feedback") == 0
    pages = {path.parts[-3]: path.read_text() for path in world.course.every_feedback.rglob("*.html")}
    assert all("(cell first changed)" in page and "Graded again on 2" in page for page in pages.values())
    assert "First had 1.5 points then and 3 after it" in pages["bob"]
    assert "First kept its 3 points" in pages["ada"]
    assert "your points stayed the same" in pages["eve"]


def test_a_line_that_was_cut_off_hides_no_other(world):
    world.correct_test("first")
    assert regrade(world, "--yes") == 0
    path = regradings_path(world.course.root, SHEET)
    path.write_bytes(path.read_bytes()[:-9])
    world.correct_test("second")
    assert regrade(world, "--yes") == 0
    assert sorted(map(len, read_regradings(world.course.root, SHEET).values())) == [1, 2, 2]


def test_where_nothing_is_graded_one_line_says_so(world, capsys):
    (world.course.root / ".autograder" / f"{SHEET}.jsonl").unlink()
    assert regrade(world) == 2
    assert "run 'autograder grade sums' first" in capsys.readouterr().err
