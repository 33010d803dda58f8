"""The task that needs order: no bag of words can solve it, and a block with positions does."""

import math
from collections import Counter

import pytest
import torch
from torch import nn

from course import ablation
from course.reviews import load_reviews
from tests.claims.texts import run

pytestmark = pytest.mark.slow

NOTEBOOK = "transformer_tutorial/3_training"


@pytest.fixture(scope="module")
def model_class() -> type:
    """The classifier of the solution, with its own parts: a student's may be another, but has the same arguments."""
    given = {"torch": torch, "nn": nn, "F": nn.functional, "math": math}
    run(
        "transformer_tutorial/1_queries_keys_values",
        "dot-product-attention-answer",
        "self-attention-answer",
        given=given,
    )
    run("transformer_tutorial/2_transformer_block", "transformer-block-answer", given=given)
    run("transformer_tutorial/2_transformer_block", "positional-encoding-answer", "mean-pooling-answer", given=given)
    run(NOTEBOOK, "transformer-answer", given=given)
    return given["Transformer"]  # type: ignore[return-value]


def test_both_classes_hold_the_same_words() -> None:
    task = ablation.negations(n_train=4000, n_test=10)
    bags: dict[int, Counter[int]] = {0: Counter(), 1: Counter()}
    for row, label in zip(task.train.ids, task.train.labels, strict=True):
        bags[label].update(set(row) & {1, 2, 3})
    for word in (2, 3):
        share = bags[1][word] / (bags[0][word] + bags[1][word])
        assert 0.45 < share < 0.55
    assert bags[0][1] + bags[1][1] == 4000


def test_not_in_front_of_the_verdict_turns_it_round() -> None:
    task = ablation.negations(n_train=50, n_test=1)
    for row, label in zip(task.train.ids, task.train.labels, strict=True):
        words = [ablation.WORDS[token] for token in row]
        verdict = next(place for place, word in enumerate(words) if word in ablation.VERDICTS)
        assert label == (words[verdict] == "good") ^ (words.index("not") < verdict)


@pytest.mark.slow
def test_attention_with_positions_solves_what_a_bag_of_words_cannot(model_class: type) -> None:
    task = ablation.negations(n_test=400)
    variants = {variant.name: variant for variant in ablation.VARIANTS}
    assert ablation.accuracy(model_class, variants["bag of words"], task, seed=0) < 0.6
    assert ablation.accuracy(model_class, variants["depth 1, 4 heads"], task, seed=0) > 0.9


def test_the_same_seed_gives_the_same_number_and_the_table_has_a_line_for_each_variant(model_class: type) -> None:
    task = ablation.negations(n_train=64, n_test=50, epochs=1)
    bag = ablation.VARIANTS[:1]
    assert ablation.accuracy(model_class, bag[0], task, 1) == ablation.accuracy(model_class, bag[0], task, 1)
    printed = ablation.table(model_class, [task, task], seeds=(0, 1), variants=bag)
    assert len(printed.splitlines()) == 2 and printed.count(", ") == 2  # each of two runs, twice


def test_reviews_keep_their_labels_and_every_token_is_known() -> None:
    task = ablation.some_reviews(load_reviews(), n_train=100)
    assert list(task.train.labels) == list(load_reviews().train.labels[:100])
    assert {token for row in task.train.ids for token in row} <= set(range(2, task.num_tokens))
    assert {token for row in task.test.ids for token in row} <= set(range(1, task.num_tokens))
