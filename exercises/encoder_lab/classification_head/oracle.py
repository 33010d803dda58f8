"""``ClassificationHead``: dropout, then a linear layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_case,
    compare_value,
    named,
    without_side_effects,
)

from ..._attention import linear, softmax
from .._arrays import Wrong, linear_weight, normal
from .._naming import NAMES, with_names

Array = np.ndarray


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, d_model, classes, share in ((5, 4, 12, 3, 0.4), (4, 3, 10, 2, 0.3)):
        weights = {
            "linear.weight": linear_weight(generator, classes, d_model),
            "linear.bias": normal(generator, classes),
        }
        hidden_states = normal(generator, batch, tokens, d_model)
        pooled = np.ascontiguousarray(hidden_states[:, 0])
        expected = {
            "linear": np.array([classes, d_model]),
            "logits": linear(pooled, weights, "linear"),
            "p": np.array(share),
        }
        sizes = {"d_model": d_model, "num_classes": classes, "dropout_prob": share}
        cases.append(Case(sizes, {"pooled": pooled, "hidden_states": hidden_states}, weights, {}, expected))
    return cases


def judge_head(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The default rule; a dropout that is missing or in the wrong place, or a missing bias, costs half."""
    judgement = compare_case(exercise, case, answers)
    if {check.name for check in judgement.checks if not check.passed} == {"p"}:
        return named(exercise, "head-dropout")
    if judgement.earned < 1:
        return judgement
    if not bool(np.all(answers.arrays.get("has_bias", np.array(True)))):
        return named(exercise, "head-bias")
    # in training, with the weights at zero: the bias alone is left, unless the logits themselves are dropped
    bias = np.broadcast_to(case.weights["linear.bias"], case.expected["logits"].shape)
    training = answers.arrays.get("in_training")
    if training is None or not compare_value("in_training", training, bias, exercise).passed:
        return named(exercise, "M16-late")
    if not bool(np.any(answers.arrays.get("drops", np.array(False)))):
        return named(exercise, "M16-none")
    factor = answers.arrays.get("factor")
    if factor is not None and not np.isclose(factor * (1 - case.config["dropout_prob"]), 1, atol=1e-3):
        return named(exercise, "head-dropout")
    return judgement


def _logits(change: Callable[[Array], Array]) -> Wrong:
    return lambda case: {"logits": change(case.expected["logits"])}


def _activated(activate: Callable[[Array], Array]) -> Wrong:
    return lambda case: {"logits": linear(activate(case.inputs["pooled"].astype(np.float64)), case.weights, "linear")}


MISTAKES = [
    Mistake(
        "M15-softmax",
        "These are probabilities, not logits: a softmax was applied.",
        "Whoever wants probabilities applies it later.",
        _logits(softmax),
    ),
    Mistake(
        "M15-batch",
        "A softmax over the batch was applied.",
        "The head returns raw scores.",
        _logits(lambda x: softmax(x, 0)),
    ),
    Mistake(
        "M15-log",
        "These are log-probabilities, not logits.",
        "The head returns raw scores.",
        _logits(lambda x: np.log(softmax(x))),
    ),
    Mistake(
        "M15-sigmoid",
        "These have been through a sigmoid.",
        "The head returns raw scores.",
        _logits(lambda x: 1 / (1 + np.exp(-x))),
    ),
    Mistake(
        "M15-late",
        "A ReLU was applied to the logits.",
        "Nothing comes after the linear layer.",
        _logits(lambda x: np.maximum(x, 0)),
    ),
    Mistake(
        "M15-tanh",
        "A tanh was applied before the linear layer.",
        "dropout, then linear, and nothing else.",
        _activated(np.tanh),
    ),
    Mistake(
        "M15-relu",
        "A ReLU was applied before the linear layer.",
        "dropout, then linear, and nothing else.",
        _activated(lambda x: np.maximum(x, 0)),
    ),
    Mistake(
        "head-dropout", "The dropout does not drop the share it is told to.", "dropout_prob is an argument.", share=0.5
    ),
    Mistake(
        "M16-late",
        "In training it is the logits that are dropped.",
        "The dropout comes before the linear layer.",
        share=0.5,
    ),
    Mistake("M16-none", "Nothing is dropped in training.", "dropout, then linear.", share=0.5),
    Mistake(
        "head-bias",
        "The linear layer has no bias: a class cannot be more frequent than another without a reason in the vector.",
        "nn.Linear has one, unless it is told otherwise.",
        share=0.5,
    ),
    *NAMES,
    *SIDE_EFFECTS,
]


EXERCISE = Exercise(_make, with_names(without_side_effects(judge_head), linear="linear"), MISTAKES, framework="torch")
