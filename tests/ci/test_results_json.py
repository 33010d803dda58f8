"""results.json holds to Gradescope's documented format, and never says 0 where there is no grade."""

from __future__ import annotations

import json

import jsonschema
import pytest

from autograder.ci.outcome import Disclosure, failed_outcome
from autograder.ci.results import results_json
from tests.ci.outcomes import HELD, HOSTILE, broken, every_status, with_text

_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
#: "Output format" in https://gradescope-autograders.readthedocs.io/en/latest/specs/, key by key.
DOCUMENTED = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "visibility": _VISIBILITY,
        "stdout_visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "tags": {"type": "array"},
                    "visibility": _VISIBILITY,
                    "extra_data": {"type": "object"},
                },
            },
        },
    },
}


def read(outcome, disclosure=Disclosure.NOW) -> dict:
    results = json.loads(results_json(outcome, disclosure))
    jsonschema.validate(results, DOCUMENTED)
    return results


@pytest.mark.parametrize("disclosure", Disclosure)
def test_the_score_is_the_sum_of_the_tests_and_of_the_points(disclosure):
    results = read(every_status(), disclosure)
    assert results["score"] == every_status().points == 7.5
    assert sum(test.get("score", 0) for test in results["tests"]) == 7.5


def test_every_graded_cell_is_a_test_with_its_points_and_words():
    tests = {test["number"]: test for test in read(every_status())["tests"]}
    assert list(tests) == ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4"]
    assert (tests["1.1"]["name"], tests["1.1"]["status"]) == ("1 Embedding: Embeddings", "passed")
    assert (tests["1.2"]["score"], tests["1.2"]["max_score"], tests["1.2"]["status"]) == (2.5, 5.0, "failed")
    assert tests["1.3"]["output"] == "Rows must sum to 1.\nWhich axis?"
    assert {test["visibility"] for test in tests.values()} == {"visible"}


def test_a_written_answer_has_no_score_until_a_person_gives_one():
    results = read(every_status())
    (essay,) = [test for test in results["tests"] if test["name"].endswith("Essay")]
    assert "score" not in essay and "status" not in essay
    assert "Up to 5 more points" in results["output"]


@pytest.mark.parametrize("disclosure", HELD)
def test_what_hidden_tests_say_is_held_back_and_visible_checks_are_shown(disclosure):
    tests = read(every_status(), disclosure)["tests"]
    for test in tests:
        held = "score" in test and not test["name"].endswith("Reasons")
        assert test["visibility"] == (disclosure.value if held else "visible"), test["name"]
    shown = {test["name"]: test for test in tests if test["visibility"] == "visible"}
    assert shown["1 Embedding: Scores (visible check)"]["status"] == "failed"
    assert shown["1 Embedding: Weights (visible check)"]["status"] == "passed"
    assert "status" not in shown["2 Block: Loop (visible check)"]
    assert "Rows must sum to 1.\nWhich axis?" not in [test["output"] for test in shown.values()]


@pytest.mark.parametrize(
    "outcome", [broken(), failed_outcome("ada", "distilbert", "no kernel could be started")], ids=["partly", "wholly"]
)
@pytest.mark.parametrize("disclosure", Disclosure)
def test_a_failure_of_the_grader_has_no_score_at_all(outcome, disclosure):
    results = read(outcome, disclosure)
    assert "score" not in json.dumps(results)
    assert "tests" not in results  # an empty list of tests could be added up to 0
    assert results["output"].startswith("Not graded: ")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_text_comes_out_as_it_went_in(text):
    (test,) = read(with_text(text.encode("utf-8", "ignore").decode()))["tests"]
    assert test["output"] == text.encode("utf-8", "ignore").decode()
