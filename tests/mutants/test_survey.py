"""Mutants of a tiny course: what costs points is rejected, what nothing tells apart is proven or survives."""

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.model.course import Course
from autograder.mutants import rows, run
from autograder.mutants.rows import Survey, page, survey
from tests.exercises.tiny import EXERCISE, tiny_course
from tests.grading import ROOT

pytestmark = pytest.mark.slow  # a process that imports and forks, for each of them
#: Its one case has numbers above 0 alone.
BLIND = EXERCISE.replace("generator.normal(size=5)", "1 + generator.random(size=5)")
CAREFUL = "def double(x):\n    if (x < 0).any():\n        return x + x\n    return 2 * x\n"


def surveyed(tmp_path, answers: str = "", exercise: str = EXERCISE, solution: str = "") -> Survey:
    assignment = tiny_course(tmp_path, answers, exercise)
    if solution:
        assignment.source["1_tiny"].cells[2].source = solution
    return survey(Course(tmp_path), assignment, "", 0, 0, 1, lambda done, of: None)


def tiny_assignment(root) -> Assignment:
    return Assignment.unreleased(Course(root), "tiny")


def kinds(found: Survey) -> dict[str, str]:
    return {one.description: found.outcomes[one.id].kind for one in found.chosen}


def test_a_change_that_costs_points_is_rejected_by_the_name_of_the_mistake(tmp_path):
    found = surveyed(tmp_path, exercise=EXERCISE.replace("x**2", "3 * x"))
    assert kinds(found)["constant, line 2: 2 → 3"] == "named"
    assert found.survivors == []


def test_what_differs_on_inputs_that_no_case_has_survives_and_says_on_which(tmp_path):
    found = surveyed(tmp_path, exercise=BLIND, solution=CAREFUL)
    survivors = {one.description: outcome.said for one, outcome in found.survivors}
    assert "term, line 3: x + x → x" in survivors
    assert "double(x=" in survivors["term, line 3: x + x → x"] and "negative" in survivors["term, line 3: x + x → x"]


def test_what_nothing_tells_apart_is_equivalent_and_says_what_was_tried(tmp_path):
    found = surveyed(tmp_path, exercise=BLIND, solution=CAREFUL)
    same = [one.id for one in found.chosen if one.description == "comparison, line 2: x < 0 → (x <= 0)"]
    outcome = found.outcomes[same[0]]
    assert outcome.kind == "equivalent"
    assert "freshly drawn cases" in outcome.said and "100 times larger" in outcome.said


def test_an_author_may_accept_a_survivor_with_a_reason(tmp_path):
    accepting = 'ACCEPTED = {"term": "Nobody asks for numbers below 0.", "gone-1": "old"}\n'
    found = surveyed(tmp_path, accepting, BLIND, CAREFUL)
    outcomes = {one.operator: found.outcomes[one.id] for one in found.chosen if one.line == 3}
    assert (outcomes["term"].kind, outcomes["term"].said) == ("accepted", "Nobody asks for numbers below 0.")
    assert list(found.stale) == ["gone-1"]


def test_a_second_run_tries_nothing_again(tmp_path, monkeypatch):
    first = surveyed(tmp_path)
    monkeypatch.setattr(run, "try_one", lambda *_: pytest.fail("tried again"))
    monkeypatch.setattr(rows.subprocess, "run", lambda *_, **__: pytest.fail("compared again"))
    again = survey(Course(tmp_path), tiny_assignment(tmp_path), "", 0, 0, 1, lambda done, of: None)
    assert again.outcomes == first.outcomes


def with_cell(root, place: int, source: str) -> Assignment:
    """The tiny assignment with one more code cell."""
    path = root / "source" / "tiny" / "1_tiny.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(place, nbformat.v4.new_code_cell(source))
    nbformat.write(notebook, path)
    return tiny_assignment(root)


def test_a_cell_that_no_graded_cell_needs_leaves_what_was_found_as_it_is(tmp_path):
    before = run.trusted(tiny_course(tmp_path), ["doubled"])
    assert run.trusted(with_cell(tmp_path, 2, "shown = 1"), ["doubled"]) == before


@pytest.mark.parametrize("source", ["double = abs", "from math import *"])
def test_a_cell_that_a_graded_cell_may_need_makes_what_was_found_stale(tmp_path, source):
    before = run.trusted(tiny_course(tmp_path), ["doubled"])
    assert run.trusted(with_cell(tmp_path, 2, source), ["doubled"]) != before


def test_a_changed_exercise_of_one_file_makes_what_was_found_stale(tmp_path):
    assignment = tiny_course(tmp_path)
    path = tmp_path / "exercises" / "tiny" / "halved.py"
    path.write_text("EXERCISE = None\n")
    before = run.trusted(assignment, ["halved"])
    path.write_text("EXERCISE = True\n")
    assert run.trusted(assignment, ["halved"]) != before


def test_survivors_are_listed_and_end_with_exit_code_1(tmp_path, capsys):
    notebook = tiny_course(tmp_path, exercise=BLIND).source["1_tiny"]
    notebook.cells[2].source = CAREFUL
    nbformat.write(notebook, tmp_path / "source" / "tiny" / "1_tiny.ipynb")
    code = main(["--course-dir", str(tmp_path), "mutants", "tiny", "--workers", "1"])
    said = capsys.readouterr().out
    assert code == 1
    assert "+        return x\n" in said and "Exercise(accepted={id: reason})" in said


def test_the_page_has_every_part_and_what_was_tried(tmp_path):
    assignment = tiny_course(tmp_path, exercise=BLIND)
    found = survey(Course(tmp_path), assignment, "", 0, 0, 1, lambda done, of: None)
    text = page([(assignment, found)])
    assert f"| doubled | {len(found.chosen)} |" in text and "fresh" in text


def test_the_sections_of_other_assignments_stay_and_count_in_the_sum(tmp_path):
    assignment = tiny_course(tmp_path)
    found = survey(Course(tmp_path), assignment, "", 0, 0, 1, lambda done, of: None)
    number, alone = len(found.chosen), page([(assignment, found)])
    both = page([(assignment, found)], before=alone.replace("## tiny", "## another"))
    assert both.index("## another") < both.index("## tiny")
    assert f"In all {number} mutants" in alone and f"In all {2 * number} mutants" in both
    assert page([(assignment, found)], before=both) == both


def test_an_exercise_that_does_not_exist_is_said_in_one_line(tmp_path, capsys):
    tiny_course(tmp_path)
    assert main(["--course-dir", str(tmp_path), "mutants", "tiny", "--exercise", "trebled"]) == 2
    assert "no autograded exercise 'trebled'" in capsys.readouterr().err


def test_no_mutant_of_the_courses_own_sample_survives():
    """``make mutants`` tries all of them."""
    opened = Assignment.unreleased(Course(ROOT), "numpy_attention")
    found = survey(Course(ROOT), opened, "", 12, 0, 1, lambda done, of: None)
    assert len(found.outcomes) == 12
    assert [f"{mutant.description}: {outcome.said}" for mutant, outcome in found.survivors] == []
