"""``autograder regrade``: the right students change, nobody else, manual grades stay, and nothing falls by itself."""

import csv
import io
import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder import cli
from autograder.assignment.assignment import Assignment
from autograder.classroom import run as classroom
from autograder.classroom.regrading import plan_regrade
from autograder.classroom.run import GradingOptions, Row, grade_class
from autograder.classroom.workers import JobResult
from autograder.errors import GradingError
from autograder.exports.formats import make, remarks
from autograder.gradebook import gather as gathering
from autograder.gradebook import read
from autograder.gradebook.gather import gather, gather_from, gather_in_parts
from autograder.gradebook.late.times import record_times
from autograder.gradebook.read import open_book
from autograder.gradebook.regradings import read_regradings, regradings_path
from autograder.gradebook.waivers import NAME, read_waivers
from autograder.gradebook.write import add_cells
from autograder.model.course import Course
from autograder.pipeline import fingerprint
from autograder.release.generate import generate, require_same_cells
from tests.regrade.conftest import NOTEBOOK, SHEET, STUDENTS, World, exercise

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


@pytest.mark.parametrize(
    ("shares", "options", "changed"),
    [
        ({"bob": 1.0}, [], {"bob": 3.0}),  # the right student
        ({"ada": 0.0, "bob": 1.0}, [], {"bob": 3.0}),  # no grade falls
        ({"ada": 0.0}, ["--lower"], {"ada": 0.0}),  # unless that is asked for
        ({"eve": 0.5}, ["--lower"], {}),  # a mark by hand beats what the test says
    ],
)
def test_a_corrected_test_changes_the_right_student_and_manual_grades_stay(world, shares, options, changed):
    world.mark("eve", "first", 2.5)
    world.correct_test("first")
    world.shares |= {(student, "first"): share for student, share in shares.items()}
    assert regrade(world, "--yes", *options) == 0
    before = BEFORE | {"eve": BEFORE["eve"] | {"first": 2.5}}
    assert world.points() == before | {name: before[name] | {"first": points} for name, points in changed.items()}


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


def test_a_mended_rule_changes_the_right_student(world, capsys, monkeypatch):
    monkeypatch.setattr(classroom, "rule_parts", lambda assignment: {"rule second": "mended"})
    world.shares |= {("ada", "second"): 0.5}
    students = document(world, capsys, "--yes")["students"]
    assert {one["student"]: len(one["changes"]) for one in students} == {"ada": 1, "bob": 0, "eve": 0}
    assert {one["why"] for one in students} == {"rule of second changed"}
    assert world.points() == BEFORE | {"ada": BEFORE["ada"] | {"second": 1.0}}


def test_other_points_keep_the_share_that_was_earned(world):
    def halve(found: nbformat.NotebookNode) -> None:
        next(cell for cell in found.cells if cell.id == "first").metadata.nbgrader["points"] = 6

    world.correct(halve)
    generate(Course(world.course.root), SHEET)
    world.shares[("ada", "first")] = 0.0
    assert regrade(world, "--yes") == 0
    found = world.points()
    assert (found["ada"]["first"], found["bob"]["first"], found["bob"]["why"]) == (6.0, 3.0, 0.5)


def come_in(world: World) -> Assignment:
    path = world.course.source(SHEET) / f"{NOTEBOOK}.ipynb"
    found = nbformat.read(path, as_version=4)
    found.cells[-1:-1] = exercise("third")
    nbformat.write(found, path)
    return Assignment.unreleased(world.course, SHEET)


def test_an_exercise_that_comes_in_costs_nobody_what_they_have(world, capsys):
    source = come_in(world).source
    assert sorted(add_cells(world.course.db_url, SHEET, source)) == ["third", "third_answer"]
    generate(world.course, SHEET)
    world.shares[("eve", "third")] = 1.0  # her notebook has it in a cell of her own, say
    students = document(world, capsys, "--yes")["students"]
    assert [one["student"] for one in students] == ["ada", "bob", "eve"]
    new = {"ada": 0.0, "bob": 0.0, "eve": 4.0}
    assert world.points() == {student: one | {"third": new[student]} for student, one in BEFORE.items()}
    assert {row.max_points for row in gather(world.course, SHEET).rows} == {10.0}
    assert add_cells(world.course.db_url, SHEET, source) == []


def test_it_comes_in_only_where_that_is_meant(world):
    assignment = come_in(world)
    with pytest.raises(GradingError, match=r"is new, but submissions were graded.*--add-exercises"):
        require_same_cells(world.course, assignment)
    require_same_cells(world.course, assignment, adding=True)
    assignment.source[NOTEBOOK].cells = [cell for cell in assignment.source[NOTEBOOK].cells if cell.id != "second"]
    with pytest.raises(GradingError, match="'second' is gone"):
        require_same_cells(world.course, assignment, adding=True)


WHY = 'the text was "ambiguous" \\ unclear'


def waive(world: World, *words: str) -> int:
    return cli.main(["--course-dir", str(world.course.root), "waive", SHEET, *words])


def totals(world: World) -> dict[str, tuple[float, float]]:
    return {row.student.id: (row.points_so_far, row.max_points) for row in gather(world.course, SHEET).rows}


def test_in_full_everybody_has_its_points_and_nothing_else_changes(world, capsys):
    world.mark("eve", "first", 3.5)  # extra credit stays
    assert waive(world, "first", "--full", "--reason", WHY) == 0
    assert "Points of 1 of 3 students change" in capsys.readouterr().out
    expected = {student: one | {"first": 3.0} for student, one in BEFORE.items()}
    assert world.points() == expected | {"eve": expected["eve"] | {"first": 3.5}}


def test_dropped_it_is_in_no_sum_and_a_waived_answer_is_waited_for_no_longer(world):
    assert waive(world, "first", "--drop", "--reason", WHY) == 0
    assert totals(world) == {"ada": (1.0, 3.0), "bob": (0.5, 3.0), "eve": (2.0, 3.0)}
    assert gather(world.course, SHEET).max_points == 3.0
    assert waive(world, "why", "--full", "--reason", WHY) == 0
    states = {row.student.id: (row.state, row.points) for row in gather(world.course, SHEET).rows}
    assert states == {"ada": ("graded", 1.0), "bob": ("graded", 1.0), "eve": ("graded", 3.0)}


def test_taken_back_it_counts_as_it_was_graded(world):
    world.mark("bob", "first", 2.5)
    assert waive(world, "first", "--drop", "--reason", WHY) == 0
    assert waive(world, "first", "--withdraw") == 0
    assert world.points() == BEFORE | {"bob": BEFORE["bob"] | {"first": 2.5}}
    assert not (world.course.root / NAME).exists()


def test_the_reason_is_in_feedback_report_and_exports(world):
    assert waive(world, "first", "--full", "--reason", WHY, "--date", "2026-11-20") == 0
    said = f"waived, full points for everybody ({WHY}, 2026-11-20)"
    table = gather(world.course, SHEET)
    assert f"first: {said}" in remarks(table)
    (ada, *_) = csv.DictReader(io.StringIO(make(table, "csv").data.decode("utf-8-sig")))
    assert ada[f"{NOTEBOOK}/first (3)"] == "3"
    assert command(world, "feedback") == 0 and command(world, "report") == 0
    quoted = said.replace('"', "&#34;")
    pages = [*world.course.every_feedback.rglob("*.html"), world.course.root / "reports" / SHEET / "index.html"]
    assert len(pages) == 4
    assert all(quoted.casefold() in page.read_text(encoding="utf-8").casefold() for page in pages)


def test_regrade_and_waiver_go_together(world, capsys):
    assert waive(world, "first", "--full", "--reason", WHY) == 0
    world.correct_test("first")
    world.shares[("ada", "first")] = 0.0
    assert cli.main(["--course-dir", str(world.course.root), "regrade", SHEET, "--yes", "--no-isolation"]) == 0
    assert "Points of 0 of 3 students change" in capsys.readouterr().out
    assert waive(world, "first", "--withdraw") == 0
    assert world.points() == BEFORE, "what was there before the waiver did not fall"


def test_another_waiver_replaces_the_first_and_comments_on_top_stay(world):
    (world.course.root / NAME).write_text("# decided by the board\n")
    for how in ("--full", "--drop"):
        assert waive(world, "second", how, "--reason", "a") == 0
    (one,) = read_waivers(world.course.root)
    assert (one.notebook, one.exercise, one.counts) == (NOTEBOOK, "second", "drop")
    assert (world.course.root / NAME).read_text().startswith("# decided by the board\n")


@pytest.mark.parametrize("reason", ['"""', "\\u0041", "é\x7f’", "tab\there", "#", "'''"])
def test_every_reason_is_read_as_it_was_written(world, reason):
    assert waive(world, "first", "--full", "--reason", reason) == 0
    (one,) = read_waivers(world.course.root)
    assert one.reason.replace("\t", " ").replace("\x7f", "") != ""
    assert waive(world, "second", "--full", "--reason", "b") == 0
    assert read_waivers(world.course.root)[0] == one


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("frist", "--full", "--reason", "a"), "did you mean 'first'?"),
        (("first", "--reason", "a"), "expected one of --full, --drop and --withdraw"),
        (("first", "--full", "--drop", "--reason", "a"), "expected one of"),
        (("first", "--full"), "--reason is missing"),
        (("first", "--withdraw"), "is not waived"),
        (("first", "--full", "--reason", "a", "--date", "yesterday"), "expected a date"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(world, capsys, words, said):
    assert waive(world, *words) == 2
    assert said in capsys.readouterr().err
    assert not (world.course.root / NAME).exists()


GOOD = {
    "assignment": '"sums"', "notebook": f'"{NOTEBOOK}"', "exercise": '"first"', "counts": '"full"', "reason": '"a"',
    "date": "2026-11-20",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"counts": '"fully"'}, 'expected counts = "full" or "drop"'),
        ({"exercise": '"frist"'}, "did you mean 'first'?"),
        ({"date": '"2026-11-20"'}, "expected date = a date"),
        ({"reason": '""'}, "expected reason = a text"),
        ({"reson": '"a"'}, "did you mean 'reason'?"),
        ({"date": "2026-13-20"}, "cannot be read"),
    ],
)
def test_a_typo_in_the_file_is_an_error_and_not_ignored(world, change, said):
    lines = [f"{key} = {value}" for key, value in {**GOOD, **change}.items()]
    (world.course.root / NAME).write_text("[[waiver]]\n" + "\n".join(lines) + "\n")
    with pytest.raises(GradingError, match=NAME) as error:
        gather(world.course, SHEET)
    assert said in str(error.value)


def of_parts(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    for module in (read, gathering):
        monkeypatch.setattr(module, "PART", size)


def verdict_path(world: World, student: str) -> Path:
    return world.course.autograded(student, SHEET) / "verdicts.json"


def of_another_version(world: World) -> None:
    said = json.loads(verdict_path(world, "bob").read_text())
    said["notebooks"][0]["cells"].insert(0, {**said["notebooks"][0]["cells"][0], "cell": "gone"})
    verdict_path(world, "bob").write_text(json.dumps(said))


def late(world: World) -> None:
    text = f'[assignments.{SHEET}]\ndeadline = 2026-11-30T12:00:00Z\nper_day = 1\nextensions = {{ "zoe" = 2 }}\n'
    with Gradebook(world.course.db_url) as gradebook:
        gradebook.add_student("zoe")  # has not handed in
    (world.course.root / "late_policy.toml").write_text(text)
    record_times(world.course.root, SHEET, dict.fromkeys(STUDENTS, datetime(2026, 12, 1, 13, tzinfo=UTC)))


def waived(world: World) -> None:
    (world.course.root / "waivers.toml").write_text(
        f'[[waiver]]\nassignment = "{SHEET}"\nnotebook = "{NOTEBOOK}"\nexercise = "first"\ncounts = "full"\n'
        'reason = "unclear"\ndate = 2026-11-20\n'
    )


CHANGES: dict[str, Callable[[World], object]] = {
    "nothing": lambda world: None,
    "a mark by hand": lambda world: world.mark("ada", "why", 1.0),
    "an exercise that one verdict alone has": of_another_version,
    "no verdict": lambda world: verdict_path(world, "ada").unlink(),
    "a verdict that cannot be read": lambda world: verdict_path(world, "eve").write_text("{"),
    "groups": lambda world: (world.course.root / "groups.toml").write_text(f'[{SHEET}]\nred = ["kim", "eve"]\n'),
    "no gradebook": lambda world: (world.course.root / "gradebook.db").unlink(),
    "late": late,
    "waived": waived,
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_rows_of_parts_are_those_of_the_whole(world, monkeypatch, change):
    CHANGES[change](world)
    students = ["kim", *STUDENTS] if change == "groups" else list(STUDENTS)
    with open_book(world.course.db_url) or nullcontext() as book:
        whole = gather_from(world.course, SHEET, book, students).rows
        for size in (1, 2):
            of_parts(monkeypatch, size)
            rows = tuple(gather_in_parts(world.course, SHEET, book, students))
            assert rows == whole
            assert [list(row.exercises) for row in rows] == [list(row.exercises) for row in whole]
    assert [row.student.id for row in whole] == sorted(students)


def graded_twice(world: World) -> list[list[Row]]:
    return [grade_class(world.course, GradingOptions(SHEET, force=force)) for force in (True, False)]


def test_grading_in_parts_gives_the_same_table_first_and_again(world, monkeypatch):
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(world.judge, todo))
    whole = graded_twice(world)
    of_parts(monkeypatch, 2)
    assert graded_twice(world) == whole


def test_who_is_not_in_a_new_gradebook_is_found_in_parts(world, monkeypatch):
    of_parts(monkeypatch, 2)
    with Gradebook(world.course.db_url) as gradebook:
        gradebook.remove_submission(SHEET, "bob")
    rows = grade_class(world.course, GradingOptions(SHEET))
    assert [row.student for row in rows if row.rewritten] == ["bob"]
    assert all(row.skipped for row in rows)


def test_a_class_with_groups_and_questions_is_not_graded_again_for_nothing(world, monkeypatch):
    monkeypatch.setattr(fingerprint, "asking", lambda cell: True)
    monkeypatch.setattr(classroom, "_results", lambda course, todo, order, server: map(world.judge, todo))
    CHANGES["groups"](world)
    grade_class(world.course, GradingOptions(SHEET, force=True))
    assert plan_regrade(world.course, GradingOptions(SHEET)).again == {}
    (world.course.root / "groups.toml").unlink()
    assert set(plan_regrade(world.course, GradingOptions(SHEET)).again.values()) == {"groups.toml changed"}
