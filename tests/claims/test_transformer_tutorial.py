"""The numbers in the texts of ``transformer_tutorial`` follow from its data and its checkpoint."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from course import masked_words, pretrained
from course.parts import ReadyClassifier
from course.reviews import load_reviews
from course.tokenizer import load_tokenizer
from tests.claims.texts import numbers, printed_numbers, run, says
from tests.grading import solution

QUERIES, BLOCK, TRAINING, BIAS = (
    f"transformer_tutorial/{name}" for name in ("1_queries_keys_values", "2_transformer_block", "3_training", "4_bias")
)


@pytest.fixture(scope="module")
def gaps() -> dict[str, Any]:
    """The notebook's own cells, run: ``pairs``, ``controls`` and ``compare``."""
    names: dict[str, Any] = {"torch": torch, "pretrained": pretrained, "ReadyClassifier": ReadyClassifier}
    names |= {"load_tokenizer": load_tokenizer, "masked_words": masked_words}
    names["tutorial_plots"] = type("Plots", (), {"gaps": staticmethod(lambda *given: None)})
    run(BIAS, "sentiment-model", "sentiment-pairs", "sentiment-controls", "sentiment-gaps", given=names)
    return names


def gap(names: dict[str, Any], part: str) -> float:
    found = [sentence for sentence in (*names["pairs"], *names["controls"]) if part in sentence]
    assert len(found) == 1, part
    _, one, other = names["compare"](found[0])
    return abs(one - other)


@pytest.mark.parametrize(
    ("people", "things"), [("young people", "young trees"), ("young man", "young horse"), ("The family", "The piano")]
)
def test_the_same_words_make_as_large_a_gap_without_people(gaps: dict[str, Any], people: str, things: str) -> None:
    says(BIAS, "gaps-notice", "are **just as large, or larger**")
    assert gap(gaps, things) > 0.95 * gap(gaps, people)


def test_words_that_should_not_matter_make_the_gap_that_the_text_says(gaps: dict[str, Any]) -> None:
    (least,) = numbers(BIAS, "gaps-notice", "red or blue, seven or eight makes a gap of more than # for no reason")
    assert min(gap(gaps, "red/blue"), gap(gaps, "seven/eight")) > least > gap(gaps, "The doctor picked up his/her bag")


def test_the_table_beside_the_figure_prints_the_same_gaps(gaps: dict[str, Any]) -> None:
    rows = [printed_numbers(line) for line in run(BIAS, "gaps-table", given=gaps).splitlines()]
    assert rows == [
        [round(gap(gaps, people), 3), round(gap(gaps, things), 3)]
        for people, things in (("young man", "young horse"), ("The family", "The piano"))
    ]


def test_coin_tosses() -> None:
    printed = run(TRAINING, "luck-exact", given={})
    _, one_in, _, one_in_many = printed_numbers(printed)
    says(TRAINING, "luck-notice", "Among a thousand coin-tossers, about one scores more than 55 %.")
    assert 500 < one_in < 2000
    says(TRAINING, "luck-notice", "More than 60 % is reached by fewer than one in a billion")
    assert one_in_many > 1e9
    tosses, percent = numbers(TRAINING, "chance", "For n = # that is # %")
    assert round(100 * math.sqrt(0.25 / tosses), 1) == percent


def test_the_data_are_as_many_as_the_texts_say() -> None:
    reviews = load_reviews()
    for cell_id, sentence in (("title", "on # sentences from film reviews"), ("curves-notice", "With # sentences")):
        assert numbers(TRAINING, cell_id, sentence) == [len(reviews.train)]
    assert len(reviews.test) == 1000
    assert abs(sum(reviews.test.labels) / 1000 - 0.5) < 0.01
    says(TRAINING, "curves-notice", "and a million weights")
    assert 0.9e6 < 32 * load_tokenizer().vocab_size < 1.1e6  # most of the weights are word vectors


def test_counting_words_does_about_as_well_as_the_trained_model() -> None:
    """Naive Bayes: words without any order, as the note on luck says."""
    says(TRAINING, "luck-notice", "a model that only averages word vectors can score about as well")
    reviews = load_reviews()
    counts: dict[int, Counter[str]] = {0: Counter(), 1: Counter()}
    for text, label in zip(reviews.train.texts, reviews.train.labels, strict=True):
        counts[label].update(set(text.split()))
    totals = {label: sum(words.values()) for label, words in counts.items()}

    def weight(word: str) -> float:
        return math.log((counts[1][word] + 1) / totals[1]) - math.log((counts[0][word] + 1) / totals[0])

    hits = sum(
        (sum(map(weight, set(text.split()))) > 0) == label
        for text, label in zip(reviews.test.texts, reviews.test.labels, strict=True)
    )
    assert hits / len(reviews.test) > 0.73


def test_each_hand_turns_by_a_fixed_angle_of_its_own() -> None:
    says(BLOCK, "positions-notice", "turns each hand by a fixed angle of its own")
    angle = torch.arange(60)[:, None] / 10000 ** (torch.arange(0, 32, 2) / 32)
    steps = angle[2:] - angle[:-2]
    assert torch.allclose(steps, steps[:1].expand_as(steps), atol=1e-5)
    assert len(set(steps[0].tolist())) == 16


def test_a_block_needs_more_multiplications_than_a_recurrent_step_for_any_length() -> None:
    says(BLOCK, "think-complexity", "so a whole Transformer block needs more than one recurrent step for any n")
    p = 500
    for n in (1, 30, 1000):
        assert n * (4 * p * p + 4 * p * p) + 2 * n * n * p > n * 2 * p * p


def test_berts_size() -> None:
    assert numbers(BIAS, "masked-bert", "It is # MB large") == [round(masked_words.BERT.size / 1e6)]


@pytest.fixture(scope="module")
def ratios() -> dict[str, float]:
    """Stored sentence -> the first word's probability over the second's"""
    stored = [one for pair in masked_words.stored_pairs() for one in pair]
    return {one.sentence: list(one.words.values())[0] / list(one.words.values())[1] for one in stored}  # noqa: RUF015


NOTICE = "masked-notice"


def test_the_ratios_in_the_text_are_those_that_are_stored(ratios: dict[str, float]) -> None:
    def of(*sentences: str) -> list[float]:
        return [round(ratios[sentence], 1) for sentence in sentences]

    bag, late = "The {} picked up his/her bag.", "The {} said that he/she was late."
    for sentence, known in (
        ("For the doctor with the bag the ratio is #,", of(bag.format("doctor"))),
        ("with the same bag it is #: the", of(bag.format("person"))),
        ("with her bag the ratio is #, less than half", of(bag.format("nurse"))),
        ("the nurse has # and the visitor #", of(late.format("nurse"), late.format("visitor"))),
    ):  # fmt: skip
        assert [round(number, 1) for number in numbers(BIAS, NOTICE, sentence)] == known, sentence
    assert ratios[bag.format("nurse")] < ratios[bag.format("person")] / 2


def test_the_conclusions_about_masked_words_are_what_the_rows_show(ratios: dict[str, float]) -> None:
    (times,) = numbers(BIAS, NOTICE, "*eight* is more than # times as probable as *seven*")
    assert 1 / ratios["The train leaves at seven/eight."] > times
    (most,) = numbers(BIAS, NOTICE, "the two compared words together never have more than # %")
    stored = [one for pair in masked_words.stored_pairs() for one in pair]
    assert 100 * max(sum(one.words.values()) for one in stored) < most
    says(BIAS, "demo-masked", "of thirty sentences")
    assert len(stored) == 30


def test_the_cells_print_the_stored_probabilities_with_the_students_own_function() -> None:
    given: dict[str, Any] = {"torch": torch, "masked_words": masked_words}
    run(BIAS, "masked-word-probability-answer", given=given)
    printed = run(BIAS, "masked-stored", "masked-table", given=given)
    assert printed.count("most probable:") == 2
    rows = [line for line in printed.splitlines() if line.startswith("The doctor picked up his/her bag.")]
    doctor = masked_words.stored_pairs()[0][0]
    assert [round(value, 4) for value in doctor.words.values()] == printed_numbers(rows[-1])[:2]


def test_the_gradient_by_hand_is_what_finite_differences_measure() -> None:
    printed = printed_numbers(run(QUERIES, "gradient-by-hand", given={"torch": torch, "math": math}))
    one, other = numbers(QUERIES, "gradient", "is 3/16 · 12 - 3/16 · 4 = #; that of the second is #.")
    assert printed == [one, other] == [3 / 16 * 12 - 3 / 16 * 4, 3 / 16 * 4 - 3 / 16 * 12]
    large, small, again, once_more = numbers(QUERIES, "gradient-notice", "the weights # and # they are # · #, about a")
    assert (large, small) == (again, once_more)
    assert large + small == 1 and 0.0009 < large * small < 0.0011


def test_two_steps_by_the_formulas_are_two_steps_in_the_table() -> None:
    rows = [printed_numbers(line)[2:] for line in run(BLOCK, "rotation-by-hand", given={"math": math}).splitlines()]
    assert rows[0][:2] == numbers(BLOCK, "rotation", "(sin 2, cos 2), which is (#, #)")
    assert all(row[:2] == row[2:] for row in rows) and len(rows) == 2


@pytest.mark.parametrize("steps", [2, -3])
def test_the_rotated_row_points_most_nearly_at_the_row_so_many_steps_further(steps: int) -> None:
    says(BLOCK, "rotation-notice", "with row j is largest at `j = pos + steps`")
    space: dict[str, Any] = {"torch": torch, "nn": nn, "math": math}
    for name in ("positional_encoding", "shift_rotation"):
        exec(solution("transformer_tutorial", "2_transformer_block", f"{name}_answer"), space)
    pe = space["PositionalEncoding"](32, max_len=60).pe
    products = pe @ space["shift_rotation"](steps, 32).T @ pe.T
    assert (products.argmax(1)[5:55] == torch.arange(5, 55) + steps).all()


def test_the_numbers_of_the_bootstrap_are_those_of_its_cell() -> None:
    printed = printed_numbers(run(TRAINING, "bootstrap-numbers", given={"math": math, "np": np}))
    texts = ("about # % not at all", "adds their two variances finds # points", "have a standard error of # points")
    assert printed == [number for text in texts for number in numbers(TRAINING, "bootstrap", text)]
    says(TRAINING, "bootstrap", "40 times 1, 20 times -1 and 940 times 0")
    says(TRAINING, "bootstrap", "takes the accuracies to be 80 % and 78 %")
