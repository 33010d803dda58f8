"""``autograder waive``: an exercise counts in full or not at all, everywhere, with its reason, until taken back."""

from __future__ import annotations

import csv
import io

import pytest

from autograder import cli
from autograder.errors import GradingError
from autograder.exports.formats import make, remarks
from autograder.gradebook.gather import gather
from autograder.gradebook.waivers import NAME, read_waivers
from tests.regrade.conftest import NOTEBOOK, SHEET, World
from tests.regrade.test_regrade import BEFORE, command

pytestmark = pytest.mark.slow

WHY = 'the text was "ambiguous" \\ unclear'


def waive(world: World, *words: str) -> int:
    return cli.main(["--course-dir", str(world.course.root), "waive", SHEET, *words])


def totals(world: World) -> dict[str, tuple[float, float]]:
    return {row.student.id: (row.points_so_far, row.max_points) for row in gather(world.course, SHEET).rows}


def test_in_full_everybody_has_its_points_and_nothing_else_changes(world, capsys):
    assert waive(world, "first", "--full", "--reason", WHY) == 0
    assert "Points of 2 of 3 students change" in capsys.readouterr().out
    assert world.points() == {student: one | {"first": 3.0} for student, one in BEFORE.items()}


def test_dropped_it_is_in_no_sum(world):
    assert waive(world, "first", "--drop", "--reason", WHY) == 0
    assert totals(world) == {"ada": (1.0, 3.0), "bob": (0.5, 3.0), "eve": (2.0, 3.0)}
    assert gather(world.course, SHEET).max_points == 3.0


def test_a_waived_answer_is_waited_for_no_longer(world):
    assert waive(world, "why", "--full", "--reason", WHY) == 0
    states = {row.student.id: (row.state, row.points) for row in gather(world.course, SHEET).rows}
    assert states == {"ada": ("graded", 4.0), "bob": ("graded", 2.5), "eve": ("graded", 3.0)}


def test_extra_credit_beyond_the_points_stays(world):
    world.mark("ada", "first", 3.5)
    assert waive(world, "first", "--full", "--reason", WHY) == 0
    assert world.points()["ada"]["first"] == 3.5


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
