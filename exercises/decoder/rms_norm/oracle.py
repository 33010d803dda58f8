"""``RMSNorm``, judged against transformers' own LlamaRMSNorm. Small numbers show eps, a row of zeros its absence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import (
    SIDE_EFFECTS,
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_case,
    named,
    without_side_effects,
)

from .._llama import draw_norm, loaded, tensor

Array = np.ndarray
DEFAULT = 1e-6


def make(generator: np.random.Generator) -> list[Case]:
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    cases = []
    for shape, size, eps in (
        ((3, 4, 6), 1.0, None),
        ((2, 5, 7), 1e-3, None),
        ((4, 3, 5), 0.2, 0.05),
        ((6, 8), 1e3, None),
    ):
        x = (size * generator.normal(0.5, 1, shape)).astype(np.float32)
        x[0, 0] = 0
        weight = draw_norm(generator, shape[-1])
        norm = loaded(LlamaRMSNorm(shape[-1], eps=eps or DEFAULT), {"weight": weight})
        cases.append(
            Case(
                {"dim": shape[-1], "given": {"eps": eps} if eps else {}},
                {"x": x},
                {"weight": weight},
                expected={"output": norm(tensor(x)).detach().numpy(), "start": np.ones(shape[-1])},
            )
        )
    return cases


def _normed(compute: Callable[[Array, Array, float], Array]) -> Callable[[Case], Mapping[str, Array]]:
    """compute: x, weight, eps -> the output"""

    def answers(case: Case) -> Mapping[str, Array]:
        with np.errstate(all="ignore"):
            x, weight = case.inputs["x"].astype(np.float64), case.weights["weight"].astype(np.float64)
            return {"output": compute(x, weight, case.config["given"].get("eps", DEFAULT))}

    return answers


def _by(x: Array, eps: float, axis: int | None = -1, unbiased: bool = False) -> Array:
    """x over the root of its mean square"""
    square = (x**2).mean(axis, keepdims=True) if axis is not None else (x**2).mean()
    if unbiased:
        square = (x**2).sum(-1, keepdims=True) / (x.shape[-1] - 1)
    return x / np.sqrt(square + eps)


def _layer_norm(x: Array, weight: Array, eps: float) -> Array:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * weight


MISTAKES = [
    Mistake("RMS-mean", "This is a LayerNorm: the mean was subtracted.", "RMSNorm only divides.", _normed(_layer_norm)),
    Mistake("RMS-variance", "x was divided by its standard deviation, not by the root of its mean square.",
            "Square, mean, root: no mean is subtracted on the way.",
            _normed(lambda x, w, eps: x / np.sqrt(x.var(-1, keepdims=True) + eps) * w)),
    Mistake("RMS-root", "The root is missing: x was divided by its mean square.", "What does the R of RMS stand for?",
            _normed(lambda x, w, eps: x / ((x**2).mean(-1, keepdims=True) + eps) * w)),
    Mistake("RMS-sum", "x was divided by its length: the root of the sum of squares.",
            "What does the M of RMS stand for?",
            _normed(lambda x, w, eps: x / np.sqrt((x**2).sum(-1, keepdims=True) + eps) * w)),
    Mistake("RMS-absolute", "x was divided by the mean of its absolute values.", "Square, mean, root.",
            _normed(lambda x, w, eps: x / (np.abs(x).mean(-1, keepdims=True) + eps) * w)),
    Mistake("RMS-no-eps", "eps is missing.", "A vector of zeros must not give nan.",
            _normed(lambda x, w, eps: _by(x, 0) * w)),
    Mistake("RMS-eps", "eps was added outside of the root.", "It belongs to the mean square.",
            _normed(lambda x, w, eps: x / (np.sqrt((x**2).mean(-1, keepdims=True)) + eps) * w)),
    Mistake("RMS-default", "The eps that was asked for is not used.", "It comes with __init__: keep it in self.",
            _normed(lambda x, w, eps: _by(x, DEFAULT) * w)),
    Mistake("RMS-weight", "The learned weight is missing.", "It is the last factor.",
            _normed(lambda x, w, eps: _by(x, eps))),
    Mistake("RMS-one", "The output was multiplied by 1 + weight.", "Here the weight itself is the factor.",
            _normed(lambda x, w, eps: _by(x, eps) * (1 + w))),
    Mistake("RMS-added", "The weight was added.", "It is a factor.", _normed(lambda x, w, eps: _by(x, eps) + w)),
    Mistake("RMS-axis", "The mean runs over the tokens.", "Each token is normalised by itself: over the last axis.",
            _normed(lambda x, w, eps: _by(x, eps, axis=-2) * w)),
    Mistake("RMS-all", "One number was computed for the whole batch.", "Each token is normalised by itself.",
            _normed(lambda x, w, eps: _by(x, eps, axis=None) * w)),
    Mistake("RMS-unbiased", "The sum of squares was divided by one too few.",
            "A mean divides by the number of numbers.",
            _normed(lambda x, w, eps: _by(x, eps, unbiased=True) * w)),
    Mistake("RMS-plain", "self.weight is no parameter: training would never change it.", "nn.Parameter(…)", share=0.5),
    Mistake("RMS-start", "The weight does not start as ones.", "An untrained norm scales nothing.",
            lambda case: {"output": case.expected["output"], "start": np.zeros(case.config["dim"])}, share=0.5),
    *SIDE_EFFECTS,
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    only_output = compare_case(
        exercise, Case(case.config, case.inputs, case.weights, expected={"output": case.expected["output"]}), answers
    )
    if only_output.earned < 1:
        return only_output
    if "start" not in answers.arrays:
        return named(exercise, "RMS-plain")
    return compare_case(exercise, case, answers)


EXERCISE = Exercise(make, without_side_effects(judge), MISTAKES, framework="torch")
