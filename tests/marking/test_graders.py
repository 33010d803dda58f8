"""``autograder assign-graders``: even, always the same, and few students change hands."""

import json
import re
from collections import Counter

import pytest

from autograder import cli
from autograder.gradebook.records import record_path
from autograder.gradebook.roster import pseudonym
from autograder.marking.answers import assigned
from tests.regrade.conftest import SHEET, STUDENTS, World

CLASS = [f"student{number}" for number in range(50)]


@pytest.mark.parametrize("graders", [["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d", "e", "f", "g"]])
def test_shares_differ_by_one_at_most(graders):
    counts = Counter(assigned("x", CLASS, graders, {}).values())
    assert sum(counts.values()) == 50 and max(counts.values()) - min(counts.values()) <= 1


def test_the_order_of_the_class_does_not_matter_and_the_assignment_does():
    found = assigned("x", CLASS, ["a", "b"], {})
    assert assigned("x", CLASS[::-1], ["a", "b"], {}) == found != assigned("y", CLASS, ["a", "b"], {})


def test_who_has_a_grader_keeps_them_where_that_is_even():
    before = assigned("x", CLASS, ["a", "b"], {})
    later = assigned("x", [*CLASS, "new1", "new2"], ["a", "b"], before)
    assert all(later[student] == grader for student, grader in before.items())
    third = assigned("x", CLASS, ["a", "b", "c"], before)
    moved = [student for student in CLASS if third[student] != before[student]]
    assert len(moved) == 16 and {third[student] for student in moved} == {"c"}
    assert set(assigned("x", CLASS, ["b"], before).values()) == {"b"}


def test_fewer_students_than_graders():
    assert Counter(assigned("x", ["one"], ["a", "b"], {}).values()).total() == 1
    assert assigned("x", [], ["a", "b"], {}) == {}


def command(world: World, capsys, *words: str) -> str:
    capsys.readouterr()
    assert cli.main(["--course-dir", str(world.course.root), *words]) == 0
    return capsys.readouterr().out


def test_progress_is_shown_for_each_grader(world, capsys):
    words = ("assign-graders", SHEET, "--json")
    first = json.loads(command(world, capsys, *words, "--graders", "lin,sam"))["students"]
    assert sorted(one["student"] for one in first) == sorted(STUDENTS)
    assert sorted(Counter(one["grader"] for one in first).values()) == [1, 2]
    (eve,) = [one for one in first if one["to_read"]]
    assert eve["student"] == "eve" and eve["to_read"] == ["1_sums/why"]
    assert eve["pages"][0].startswith("/formgrader/submissions/")
    world.mark("eve", "why", 1.0)
    second = json.loads(command(world, capsys, *words))["students"]
    assert not any(one["to_read"] for one in second)
    assert [one["grader"] for one in second] == [one["grader"] for one in first]
    assert "to read" in command(world, capsys, "assign-graders", SHEET)


def test_anonymous_shows_no_id(world, capsys):
    said = command(world, capsys, "assign-graders", SHEET, "--graders", "lin,sam", "--anonymous")
    assert pseudonym(world.course.root, "eve") in said
    # whole words: a pseudonym may well have ada in it
    assert not {*re.findall(r"\w+", said)} & {*STUDENTS}


def test_an_anonymous_report_holds_no_id(world, capsys):
    command(world, capsys, "report", SHEET, "--anonymous", "--out", str(world.course.root / "reports" / "shown"))
    page = (world.course.root / "reports" / "shown" / "index.html").read_text(encoding="utf-8")
    text = page.partition("<body")[2]
    text = "".join(
        part.partition('"')[2] if part.startswith("base64") else part for part in text.split("data:image/png;")
    )
    assert all(pseudonym(world.course.root, student) in text for student in STUDENTS)
    assert not any(f">{student}<" in text or f" {student} " in text for student in STUDENTS)


@pytest.mark.parametrize(
    ("words", "said"), [((), "nobody is assigned to sums"), (("--graders", "a,a"), "expected every name once")]
)
def test_bad_input_is_one_line(world, capsys, words, said):
    assert cli.main(["--course-dir", str(world.course.root), "assign-graders", SHEET, *words]) == 2
    assert said in capsys.readouterr().err
    assert not record_path(world.course.root, "graders", SHEET).exists()
