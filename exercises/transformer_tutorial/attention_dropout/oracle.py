"""Dropout on the attention weights: in train mode, at the rate that the module was made with, and nowhere else."""

from __future__ import annotations

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    better_of_own_and_ready,
    compare_value,
    named,
    right,
    wrong,
)

from .._attention_cases import torch_attention
from .._attention_rules import OUTPUT, SCORES

Array = np.ndarray
RATE = 0.5


def make(generator: np.random.Generator) -> list[Case]:
    """One head. Value j is a 1 at place j, and a 1 at place t in all of them.

    So the first t numbers of an output are the weights as they were used, and the next one is their sum, unless
    something was dropped behind the weights.
    """
    b, t, k = 3, 6, 9
    inputs = {name: generator.normal(0, 1, (b, t, 1, k)).astype(np.float32) for name in ("queries", "keys")}
    values = np.zeros((b, t, 1, k), dtype=np.float32)
    values[:, :, 0, :t] = np.eye(t)
    values[..., t] = 1
    inputs["values"] = values
    return [Case({"rate": RATE}, inputs, expected={"evaluated": torch_attention(**inputs)})]


MISTAKES = [
    Mistake("M16", "In eval mode two calls on the same input differ: something is still dropped.",
            "nn.Dropout knows whether the module is in train or in eval mode; functional dropout must be told."),
    Mistake("DROPOUT-none", "In train mode nothing is dropped.", "The assignment's __init__ made a dropout layer."),
    Mistake("DROPOUT-scores", "In train mode the weights change, but none becomes 0.",
            "Were the scores dropped, before the softmax? Weights are what should be."),
    Mistake("DROPOUT-values", "A value is dropped for all queries alike.",
            "It is the weights that are dropped: each query loses other keys."),
    Mistake("DROPOUT-output", "The output was dropped, number by number; the weights should be.",
            "Which tensor has one number for each query and key?"),
    Mistake("DROPOUT-unscaled", "What is kept keeps its size, so that on average each output shrinks.",
            "nn.Dropout divides what it keeps by the share that is kept."),
    Mistake("DROPOUT-rate", "The share that is dropped is not the one that the module was made with.",
            "Use the dropout layer of __init__."),
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    want = case.expected["evaluated"]
    for name in ("trained", "evaluated", "evaluated_again"):
        got = answers.arrays.get(name)
        if got is None or got.shape != want.shape or got.dtype.kind != "f":
            return Judgement([compare_value(name, got, want.astype(np.float32), exercise)])
    trained, evaluated = (answers.arrays[name].astype(np.float64) for name in ("trained", "evaluated"))
    if not np.allclose(evaluated, answers.arrays["evaluated_again"], atol=1e-6):
        return named(exercise, "M16")
    check = compare_value("evaluated", answers.arrays["evaluated"], want.astype(np.float32), exercise)
    if not check.passed and not answers.charged(SCORES, OUTPUT):
        return Judgement([check])
    if not evaluated.any():
        message = "Every output is 0, so that nothing shows whether weights are dropped."
        return wrong("dropout", message, "First the weights mix the values; only then does dropout show.")
    mistake = _mistake(trained, evaluated, case)
    return named(exercise, mistake) if mistake else right("dropout")


def _mistake(trained: Array, evaluated: Array, case: Case) -> str | None:
    """The id of the mistake that the outputs in train and in eval mode, (b, t, k), show; None where all is right."""
    t = case.inputs["queries"].shape[1]
    used, weights = trained[..., :t], evaluated[..., :t]
    dropped = used == 0
    if np.allclose(used, weights, atol=1e-6):
        return "DROPOUT-none"
    if not dropped.any():
        return "DROPOUT-scores"
    by_key = dropped.all(1) | ~dropped.any(1)  # (b, keys)
    if by_key.all():
        return "DROPOUT-values"
    if not np.allclose(trained[..., t], used.sum(-1), atol=1e-4):
        return "DROPOUT-output"
    kept = used[~dropped] / np.where(weights == 0, np.inf, weights)[~dropped]
    if np.allclose(kept, 1, atol=1e-3):
        return "DROPOUT-unscaled"
    if not np.allclose(kept, 1 / (1 - case.config["rate"]), atol=1e-2):
        return "DROPOUT-rate"
    return None


EXERCISE = Exercise(make, better_of_own_and_ready(judge), MISTAKES, framework="torch")
