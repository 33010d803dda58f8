"""References for ``ClassificationHead`` and ``TransformerForSequenceClassification``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case, compare_value
from autograder.oracles.attention import softmax
from autograder.oracles.encoder_lab_attempts import judge_attempts
from autograder.oracles.encoder_lab_drawing import (
    Wrong,
    linear_weight,
    normal,
    project,
)
from autograder.oracles.encoder_lab_encoder import ENCODER, encoder_sizes, encoder_weights, torch_encoder

Array = np.ndarray


def _make_head(generator: np.random.Generator) -> list[Case]:
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
            "logits": project(pooled, weights, "linear"),
            "p": np.array(share),
        }
        sizes = {"d_model": d_model, "num_classes": classes, "dropout_prob": share}
        cases.append(Case(sizes, {"pooled": pooled, "hidden_states": hidden_states}, weights, {}, expected))
    return cases


def judge_head(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """As ever; a dropout that is missing or in the wrong place costs half."""
    judgement = compare_case(exercise, case, answers)
    if {check.name for check in judgement.checks if not check.passed} == {"p"}:
        message = "The dropout does not drop the share it is told to."
        return Judgement(
            [Check("head-dropout", False, message, "dropout_prob is an argument.", "head-dropout")], share=0.5
        )
    if judgement.earned < 1:
        return judgement
    bias = np.broadcast_to(case.weights["linear.bias"], case.expected["logits"].shape)
    training = answers.arrays.get("in_training")
    if training is None or not compare_value("in_training", training, bias, exercise).passed:
        late = Check(
            "M16-late",
            False,
            "In training it is the logits that are dropped.",
            "The dropout comes before the linear layer.",
            "M16-late",
        )
        return Judgement([late], share=0.5)
    if not bool(np.any(answers.arrays.get("drops", np.array(False)))):
        return Judgement(
            [Check("M16-none", False, "Nothing is dropped in training.", "dropout, then linear.", "M16-none")],
            share=0.5,
        )
    return judgement


def _logits(change: Callable[[Array], Array]) -> Wrong:
    return lambda case: {"logits": change(case.expected["logits"])}


def _activated(activate: Callable[[Array], Array]) -> Wrong:
    return lambda case: {"logits": project(activate(case.inputs["pooled"].astype(np.float64)), case.weights, "linear")}


HEAD_MISTAKES = [
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
        "Nothing stands behind the linear layer.",
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
]


def _make_model(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, tokens, sizes, classes in (
        (2, 5, encoder_sizes(23, 9, 12, 3, 17, 2), 4),
        (3, 4, encoder_sizes(19, 7, 8, 4, 11, 3), 2),
    ):
        d_model = sizes["d_model"]
        weights = {f"transformer_encoder.{name}": array for name, array in encoder_weights(generator, sizes).items()}
        weights |= {
            "classifier.linear.weight": linear_weight(generator, classes, d_model),
            "classifier.linear.bias": normal(generator, classes),
        }
        inputs = {
            "input_ids": generator.integers(1, sizes["vocab_size"], (batch, tokens)),
            "encoded": normal(generator, batch, tokens, d_model),
            "head_matrix": normal(generator, d_model, classes, size=d_model**-0.5),
            "head_shift": normal(generator, classes),
        }
        config = sizes | {"num_classes": classes, "dropout_prob": 0.25}
        case = Case(config, inputs, weights)
        first = torch_encoder(inputs["input_ids"], weights, sizes, "transformer_encoder.")[:, 0]
        expected = {
            "encoder_arguments": np.array([[sizes[name] for name in ENCODER]]),
            "head_arguments": np.array([[d_model, classes, 0.25]]),
            "stand_in/logits": _pooled(lambda x: x[:, 0])(case)["logits"],
            "own/logits": project(first, weights, "classifier.linear"),
        }
        cases.append(Case(config, inputs, weights, {}, expected))
    return cases


def _pooled(pool: Callable[[Array], Array], finish: Callable[[Array], Array] | None = None) -> Wrong:
    def answers(case: Case) -> Mapping[str, Array]:
        logits = (
            pool(case.inputs["encoded"].astype(np.float64)) @ case.inputs["head_matrix"] + case.inputs["head_shift"]
        )
        return {"logits": logits if finish is None else finish(logits)}

    return answers


LOOK_FIRST = "[CLS] is the first token of every sentence; its vector stands for all of it."
MODEL_MISTAKES = [
    Mistake(
        "M15-mean",
        "The tokens were averaged; the sheet asks for the first one.",
        LOOK_FIRST,
        _pooled(lambda x: x.mean(1)),
    ),
    Mistake("M15-last", "The last token was taken, not the first.", LOOK_FIRST, _pooled(lambda x: x[:, -1])),
    Mistake("M15-second", "The second token was taken, not the first.", LOOK_FIRST, _pooled(lambda x: x[:, 1])),
    Mistake("M15-sum", "The tokens were added up.", LOOK_FIRST, _pooled(lambda x: x.sum(1))),
    Mistake("M15-max", "The largest number over the tokens was taken.", LOOK_FIRST, _pooled(lambda x: x.max(1))),
    Mistake(
        "M15-sentence",
        "The tokens of the first sentence were taken, not the first tokens of the sentences.",
        "The batch is axis 0, the tokens are axis 1.",
        _pooled(lambda x: x[0]),
    ),
    Mistake("M15-all", "Every token has logits of its own.", LOOK_FIRST, _pooled(lambda x: x)),
    Mistake(
        "M15-softmax",
        "These are probabilities, not logits.",
        "The model returns what the head gives.",
        _pooled(lambda x: x[:, 0], softmax),
    ),
    Mistake(
        "M15-relu",
        "A ReLU was applied to the logits.",
        "The model returns what the head gives.",
        _pooled(lambda x: x[:, 0], lambda x: np.maximum(x, 0)),
    ),
    Mistake(
        "M15-early",
        "A ReLU was applied before the head.",
        "The head takes the vector as it is.",
        _pooled(lambda x: np.maximum(x[:, 0], 0)),
    ),
]


EXERCISES = [
    Exercise(_make_head, judge_head, HEAD_MISTAKES, framework="torch", slug="encoder_lab/classification_head"),
    Exercise(_make_model, judge_attempts, MODEL_MISTAKES, framework="torch", slug="encoder_lab/classifier"),
]
