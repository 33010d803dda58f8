"""The course total: weights, the lowest dropped, and nothing that is undecided counted as 0."""

import csv
import io
import json
import shutil
from datetime import UTC, datetime

import pytest

from autograder import cli
from autograder.exports import FORMATS
from autograder.gradebook.course_total import total_of
from autograder.gradebook.late.policy import Lateness
from autograder.gradebook.late.times import record_times
from autograder.gradebook.read import Student
from autograder.gradebook.results import ExerciseResult, GradedExercise, ResultsTable, StudentResult, waived
from autograder.gradebook.waivers import Waiver
from autograder.model.course import Course
from autograder.model.course_file import TotalRules
from autograder.release.generate import generate
from tests.exports.conftest import cells
from tests.feedback import toy

KEY = ("1_book", "task")


def result(points, most=10.0, status="graded", **more) -> StudentResult:
    given = {} if status == "missing" else {KEY: ExerciseResult(status, points, most)}
    return StudentResult(Student("ada"), given, **more)


def total(rules=None, **results):
    """Ada's total of a course whose assignments are ``results``; each has 10 points."""
    tables = [ResultsTable(name, (GradedExercise(*KEY, 10.0),), (row,)) for name, row in results.items()]
    full = StudentResult(Student("zoe"), {KEY: ExerciseResult("passed", 10.0, 10.0)})
    tables = [ResultsTable(one.assignment, one.exercises, (*one.rows, full)) for one in tables]
    return next(row for row in total_of(tables, rules or TotalRules()).rows if row.student.id == "ada")


def waived_result(counts):
    waiver = Waiver("a", *KEY, counts, "a wrong rule", datetime(2026, 12, 1, tzinfo=UTC).date())
    return StudentResult(Student("ada"), {KEY: waived(ExerciseResult("failed", 2.0, 10.0), waiver)})


MISSING, ZERO, DROP = result(None, status="missing"), TotalRules(missing="zero"), TotalRules(drop_lowest=1)
LATE, REFUSED = result(10.0, lateness=Lateness(2, share=0.8)), result(10.0, lateness=Lateness(9, refused=True))
#: Rules, Ada's results -> her points, how many there are, what is dropped.
TOTALS = [
    (None, {"a": result(4.0), "b": result(9.0)}, 13.0, 20.0, []),
    (TotalRules({"a": 2.0, "c": 0.0}), {"a": result(4.0), "b": result(9.0), "c": result(0.0)}, 17.0, 30.0, []),
    (DROP, {"a": result(4.0, 8.0), "b": result(3.0, 3.0), "c": result(2.0, 10.0)}, 7.0, 11.0, ["c"]),
    # of equal shares the one that weighs most
    (TotalRules({"b": 3.0}, drop_lowest=1), {"a": result(0.0), "b": result(0.0), "c": result(5.0)}, 5.0, 20.0, ["b"]),
    (None, {"a": result(8.0), "b": MISSING}, None, 20.0, []),
    (ZERO, {"a": result(8.0), "b": MISSING}, 8.0, 20.0, []),
    (DROP, {"a": result(0.0), "b": MISSING, "c": result(8.0)}, 8.0, 20.0, ["b"]),  # first of all
    (DROP, {"a": MISSING, "b": MISSING, "c": result(8.0)}, None, 20.0, ["a"]),
    (None, {"a": LATE, "b": result(5.0)}, 7.0, 20.0, []),
    (DROP, {"a": LATE, "b": result(5.0)}, 5.0, 10.0, ["a"]),
    (None, {"a": REFUSED, "b": result(5.0)}, None, 20.0, []),
    (ZERO, {"a": REFUSED, "b": result(5.0)}, 5.0, 20.0, []),
    (DROP, {"a": REFUSED, "b": result(5.0)}, 5.0, 10.0, ["a"]),
    (None, {"a": waived_result("full"), "b": result(5.0)}, 15.0, 20.0, []),
    (None, {"a": waived_result("drop"), "b": result(5.0)}, 5.0, 10.0, []),
    (TotalRules(drop_lowest=2), {"a": result(4.0)}, 4.0, 10.0, []),  # one always counts
]


@pytest.mark.parametrize(("rules", "results", "points", "most", "dropped"), TOTALS)
def test_the_total_by_its_rules(rules, results, points, most, dropped):
    made = total(rules, **results)
    assert (made.points, made.max_points, made.dropped) == (points, most, dropped)
    assert made.percent == (None if points is None else pytest.approx(100 * points / most))
    assert bool(made.waiting) == (points is None)


@pytest.mark.parametrize("status", ["manual", "infrastructure"])
def test_what_nobody_has_decided_is_neither_0_nor_dropped(status):
    made = total(TotalRules(drop_lowest=1, missing="zero"), a=result(None, status=status), b=result(9.0), c=result(4.0))
    assert (made.points, made.percent) == (None, None)
    assert [part.assignment for part in made.waiting] == ["a"] and made.dropped == ["c"]


@pytest.fixture(scope="module")
def handed_in(released, tmp_path_factory) -> Course:
    """``toy`` and ``more``, of 5 points each: ada did both, bob the first; eve's second waits; kim was late."""
    course = Course(shutil.copytree(released.root, tmp_path_factory.mktemp("two") / "course"))
    shutil.copytree(course.root / "source" / "toy", course.root / "source" / "more")
    generate(course, "more")
    for student, score in (("ada", 3.0), ("bob", 3.0), ("eve", 0.0), ("kim", 3.0)):
        toy.hand_in(course, student, cells=cells(score, 2.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toy, "ASSIGNMENT", "more")
        for student, written in (("ada", 0.0), ("eve", None), ("kim", 2.0)):
            toy.hand_in(course, student, cells=cells(3.0, written))
    record_times(course.root, "more", {"kim": datetime(2026, 12, 1, tzinfo=UTC)})
    (course.root / "late_policy.toml").write_text(
        '[assignments.more]\ndeadline = 2026-11-30T23:59:00Z\nper_day = "20%"\n'
    )
    return course


@pytest.fixture
def two(handed_in, tmp_path, monkeypatch) -> Course:
    """The course of two assignments, in the current folder."""
    course = Course(shutil.copytree(handed_in.root, tmp_path / "course"))
    monkeypatch.chdir(course.root)
    return course


def rules(course: Course, text: str) -> None:
    path = course.root / "course.toml"
    path.write_text(path.read_text() + f"\n[total]\n{text}\n")


def export(*words: str) -> int:
    return cli.main(["export", "--total", "--to", *words])


def test_the_command_writes_percent_and_points_and_says_who_waits(two, capsys):
    rules(two, "weights = {more = 2}")
    assert export("csv") == 0
    said = capsys.readouterr()
    assert said.out.strip().endswith("exports/course-total.csv")
    text = (two.root / "exports" / "course-total.csv").read_text("utf-8-sig")
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(text))}
    assert {name: (row["percent"], row["points"], row["max_points"]) for name, row in rows.items()} == {
        "ada": ("73.333333", "11", "15"), "bob": ("", "", "15"), "eve": ("", "", "15"),
        "kim": ("86.666667", "13", "15"),
    }  # fmt: skip
    assert rows["kim"]["more (5, weight 2)"] == "4" and rows["eve"]["waiting"] == "more"
    assert "more: not decided yet: eve" in said.err
    assert "more: nothing handed in, or refused: bob" in said.err


def test_the_command_drops_and_counts_what_is_missing_as_the_course_says(two):
    rules(two, 'drop_lowest = 1\nmissing = "zero"')
    assert export("json") == 0
    read = json.loads((two.root / "exports" / "course-total.json").read_text("utf-8"))
    rows = {row["student"]: row for row in read["students"]}
    assert {name: row["percent"] for name, row in rows.items()} == {"ada": 100.0, "bob": 100.0, "eve": None, "kim": 100}
    assert [part["dropped"] for part in rows["ada"]["assignments"] if part["assignment"] == "more"] == [True]


@pytest.mark.parametrize("to", sorted(set(FORMATS) - {"csv", "json"}))
def test_other_systems_get_the_percentage_as_one_assignment(two, to):
    assert export(to) == 0
    rows = list(csv.reader(io.StringIO((two.root / "exports" / f"course-total-{to}.csv").read_text("utf-8-sig"))))
    ada = next(row for row in rows if "ada" in row)
    bob = next(row for row in rows if "bob" in row)
    assert "80" in ada and not {"0", "50", "100"} & {*bob[5:]}


def test_an_assignment_that_nobody_has_yet_is_left_out_and_named(two, capsys):
    shutil.copytree(two.root / "source" / "toy", two.root / "source" / "later")
    assert export("csv") == 0
    assert "later: nothing is graded yet, and so it is left out" in capsys.readouterr().err
    assert "later" not in (two.root / "exports" / "course-total.csv").read_text("utf-8-sig")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("weights = {mor = 2}", "unknown assignment 'mor' in weights; did you mean 'more'?"),
        ("drop_lowest = 2", "expected drop_lowest to leave an assignment that counts; 2 of 2"),
        ("weights = {more = 0, toy = 0}", "0 of 2 have a weight above 0"),
        ("weights = {more = -1}", "total.weights.more: expected a number, 0 or more, got -1"),
        ("weights = {more = true}", "total.weights.more: expected a number, 0 or more, got True"),
        ("weights = {more = nan}", "total.weights.more: expected a number, 0 or more"),
        ("drop_lowest = 1.5", "total.drop_lowest: expected a whole number, 0 or more, got 1.5"),
        ("missing = 0", 'total.missing: expected "empty" or "zero", got 0'),
        ("drop_lowst = 1", "unknown key 'drop_lowst' in [total]; did you mean 'drop_lowest'?"),
    ],
)
def test_rules_that_cannot_hold_are_one_line_and_write_nothing(two, capsys, text, said):
    rules(two, text)
    assert export("csv") == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1
    assert not (two.root / "exports").exists()


@pytest.mark.parametrize("words", [["--to", "csv"], ["toy", "--total", "--to", "csv"]])
def test_an_assignment_or_the_total_and_not_both(two, capsys, words):
    assert cli.main(["export", *words]) == 2
    assert "expected an ASSIGNMENT, or --total" in capsys.readouterr().err


def test_a_course_without_grades_has_no_total(course, monkeypatch, capsys):
    monkeypatch.chdir(course.root)
    assert export("csv") == 2
    assert "nothing is graded in this course" in capsys.readouterr().err
