"""Mutants of a tiny course: what costs points is rejected, what nothing tells apart is proven or survives."""

from __future__ import annotations

from autograder.model.course import Course
from autograder.mutants.survey import Survey, survey
from tests.exercises.tiny import ORACLE, tiny_course

#: Its one case has numbers above 0 alone.
BLIND = ORACLE.replace("generator.normal(size=5)", "1 + generator.random(size=5)")
CAREFUL = "def double(x):\n    if (x < 0).any():\n        return x + x\n    return 2 * x\n"


def surveyed(tmp_path, answers: str = "RIGHT = []\nWRONG = []\n", oracle: str = ORACLE, solution: str = "") -> Survey:
    assignment = tiny_course(tmp_path, answers, oracle)
    if solution:
        assignment.source["1_tiny"].cells[2].source = solution
    return survey(Course(tmp_path), assignment, "", 0, 0, 1, lambda done, of: None)


def kinds(found: Survey) -> dict[str, str]:
    return {one.description: found.outcomes[one.id].kind for one in found.chosen}


def test_a_change_that_costs_points_is_rejected_by_the_name_of_the_mistake(tmp_path):
    found = surveyed(tmp_path, oracle=ORACLE.replace('x"] ** 2}', 'x"] * 3}'))
    assert kinds(found)["constant, line 2: 2 → 3"] == "named"
    assert found.survivors == []


def test_what_differs_on_inputs_that_no_case_has_survives_and_says_on_which(tmp_path):
    found = surveyed(tmp_path, oracle=BLIND, solution=CAREFUL)
    survivors = {one.description: outcome.said for one, outcome in found.survivors}
    assert "term, line 3: x + x → x" in survivors
    assert "double(x=" in survivors["term, line 3: x + x → x"] and "negative" in survivors["term, line 3: x + x → x"]


def test_what_nothing_tells_apart_is_equivalent_and_says_what_was_tried(tmp_path):
    found = surveyed(tmp_path, oracle=BLIND, solution=CAREFUL)
    same = [one.id for one in found.chosen if one.description == "comparison, line 2: x < 0 → (x <= 0)"]
    outcome = found.outcomes[same[0]]
    assert outcome.kind == "equivalent"
    assert "freshly drawn cases" in outcome.said and "100 times larger" in outcome.said
