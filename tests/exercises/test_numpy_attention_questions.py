"""numpy_attention: how questions are read, and the tests that students write."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.exercise import Judgement
from course.check import numpy_attention as check
from tests.exercises.answers import text_of
from tests.exercises.numpy_attention_judged import ASSIGNMENT, answered, judged, mistakes, words
from tests.grading import REFERENCES, grade_cells


@pytest.mark.parametrize(
    ("letter", "word"),
    [("a", "average"), ("b", "dropout"), ("d", "narrower"), ("e", "error"), ("z", "one letter")],
)
def test_each_wrong_classifier_is_told_why(letter: str, word: str) -> None:
    judgement = answered("classifier_on_top", choice=letter)
    assert judgement.earned == 0
    assert word in words(judgement)


@pytest.mark.parametrize("said", ["c", "C", " c) ", "(c)."])
def test_the_right_classifier_counts_however_the_letter_is_written(said: str) -> None:
    assert answered("classifier_on_top", choice=said).earned == 1


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("DataLoader", "batches"),
        ("Dataset", "headlines"),
        ("Triage", "headlines"),
        ("embedding", "first layer"),
        ("embeddings", "first layer"),
        ("DistilBertModel", "model itself"),
        ("split()", "blanks"),
        ("BERT", "model itself"),
        ("numpy", "not what turns text"),
        ("tokenizer" + 200 * " ", "not what turns text"),
    ],
)
def test_what_does_not_prepare_the_text_is_told_why(said: str, word: str) -> None:
    judgement = answered("text_preparation", name=said)
    assert judgement.earned == 0
    assert word in words(judgement)


@pytest.mark.parametrize(
    ("cls", "sep", "share", "told"),
    [
        ("A", "(b)", 1, []),
        ("b", "a", 0, ["[CLS]", "[SEP]"]),
        ("a", "f", 0.5, ["full stop"]),
        ("d", "b", 0.5, ["[MASK]"]),
        ("e", "b", 0.5, ["[UNK]"]),
        ("a", "c", 0.5, ["[PAD]"]),
        ("?", "a", 0, ["[CLS]: expected one letter", "[SEP]"]),
    ],
)
def test_each_special_token_has_its_own_half(cls: str, sep: str, share: float, told: list[str]) -> None:
    judgement = answered("special_tokens", cls=cls, sep=sep)
    assert judgement.earned == share
    assert all(word in words(judgement) for word in told)


@pytest.mark.parametrize(
    ("said", "share"),
    [(["e", "A", "c."], 1), ("a, c, e", 1), (["a"], 0), (["a", "c", "e", "b"], 0.5), (["a", "f"], 0), (None, 0)],
)
def test_true_statements_are_read_as_people_write_them_and_judged_one_by_one(said: object, share: float) -> None:
    assert answered("pretraining", true_statements=said).earned == share


@pytest.mark.slow
def test_written_answers_wait_for_a_person() -> None:
    verdict = grade_cells(ASSIGNMENT, "2_finetuning", {})
    assert [(cell.cell, cell.max_points) for cell in verdict.cells if cell.status == "manual"] == [
        ("roles", 2),
        ("intuition", 2),
    ]
    assert verdict.points == 4


# --- tests that students write ----------------------------------------------------------------------------------------

WRONG_IMPLEMENTATIONS = 17


def judged_tests(name: str) -> list[Judgement]:
    """The judgements on the students' tests of a sample answer, for every case, without a kernel."""
    scope: dict[str, Any] = {"np": np}
    exec(text_of(f"{ASSIGNMENT}/written_tests", name), scope)
    test: Callable[..., Any] = scope["test_attention"]
    return [
        judged("written_tests", case, rejected=np.array(check.rejections(test, case.inputs)))
        for case in REFERENCES.cases(f"{ASSIGNMENT}/written_tests")
    ]


@pytest.mark.parametrize("name", ["facts", "comparison"])
def test_good_tests_catch_every_wrong_implementation(name: str) -> None:
    for judgement in judged_tests(name):
        assert judgement.earned == 1
        assert sum(one.passed for one in judgement.checks if one.name != "right") == WRONG_IMPLEMENTATIONS


def test_every_wrong_implementation_that_survives_is_named() -> None:
    for judgement in judged_tests("M2"):
        assert {"M2"} <= mistakes(judgement) <= {"M2", "M3", "uniform", "rounded"}
        assert judgement.earned == 1 - len(mistakes(judgement)) / WRONG_IMPLEMENTATIONS
    for judgement in judged_tests("M1-overflow"):
        assert mistakes(judgement) == {"M1-overflow"}


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("M4", "let pass"),
        ("returns False", "let pass"),
        ("always fails", "reject 4 of 4"),
        ("always stops", "reject 4 of 4"),
        ("asks for float64", "right implementations"),
        ("no tolerance, one key", "right implementations"),
        ("no tolerance, equal values", "right implementations"),
        ("asks for tiny numbers", "right implementations"),
    ],
)
def test_a_test_that_is_too_kind_or_too_strict_earns_nothing(name: str, word: str) -> None:
    worst = min(judged_tests(name), key=lambda judgement: judgement.earned)
    assert worst.earned == 0
    assert word in words(worst)
