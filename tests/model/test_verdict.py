"""Parts of a point add up to whole ones, and whatever a submission had a hand in is made fit to be shown."""

from pathlib import Path

import pytest

from autograder.ci.outcome import printable
from autograder.gradebook.read import Student
from autograder.gradebook.results import StudentResult, result_of
from autograder.model import plain_text as plain
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict, presentable, same, total
from tests.tree import modules

PARTS = (0.1, 0.2, 0.3, 1.1, 2.2)


def test_sums_of_parts_are_what_people_write() -> None:
    assert sum(PARTS[:2]) != 0.3 and total(PARTS[:2]) == 0.3
    assert total(PARTS) == 3.9 and same(sum(PARTS[3:]), 3.3) and not same(3.3, 3.31)


def test_verdicts_and_results_are_full_where_every_part_is() -> None:
    cells = tuple(CellVerdict(f"c{part}", "passed", part, part) for part in PARTS[:3])
    verdict = NotebookVerdict("ada", "lab", "p1", cells)
    assert (verdict.points, verdict.max_points, verdict.status) == (0.6, 0.6, "passed")
    result = StudentResult(Student("ada"), {("p1", cell.cell): result_of(cell) for cell in cells})
    assert result.points == result.max_points == result.score == 0.6


ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e5 of 5\x85\ud800[bold]\r\x08"


def test_no_other_module_makes_text_fit_for_a_console():
    users = [path.name for path in modules("autograder") if "rich.markup" in path.read_text()]
    assert users == ["plain_text.py"]


@pytest.mark.parametrize("show", [plain.one_line, plain.name, plain.on_console, plain.paragraph, printable])
def test_control_characters_and_direction_marks_are_shown_and_not_followed(show):
    shown = show(HOSTILE)
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert "\\u202e" in shown
    assert show("x" * 10**6)[:100] == "x" * 100
    assert len(show("\x01" * 10**6)) < 50_000


def test_a_verdict_is_presentable_however_much_was_said_in_it():
    check = Check("name", False, HOSTILE * 10_000, HOSTILE * 10_000)
    verdict = NotebookVerdict("s", "a", "n", (CellVerdict("c", "failed", 0.0, 1.0, (check,)),), (HOSTILE * 1000,) * 500)
    shown = presentable(verdict)
    assert len(str(shown)) < 50_000
    assert shown.notes[-1] == "and 450 more notes of this sort"
    assert presentable(shown).cells == shown.cells
