"""Temperature, judged against transformers' own TemperatureLogitsWarper; 0 is the greedy choice, by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from ..._attention import softmax

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    """Hot, cold, 1 and 0; large logits; ties of the two largest where the temperature is 0."""
    drawn = [
        (generator.normal(0, 2, (3, 5)), 0.5),
        (generator.normal(0, 2, (2, 7)), 2.5),
        (generator.normal(0, 2, (4, 3)), 1.0),
        (generator.normal(0, 1, (2, 6)) + 300, 0.5),
        (generator.normal(0, 2, (3, 8)), 0.0),
        (np.array([[1, 4, 2, 4, 0], [3, 3, 3, 1, 3], [-2, -1, -1, -5, -1]]), 0.0),
    ]
    cases = []
    for logits, value in drawn:
        logits = logits.astype(np.float32)
        expected = {"probabilities": _expected(logits, value)}
        cases.append(Case({"temperature": value}, {"logits": logits}, expected=expected))
    return cases


def _expected(logits: Array, value: float) -> Array:
    if value == 0:
        return np.eye(logits.shape[1])[logits.argmax(-1)]  # NumPy's argmax is the first of the largest
    import torch
    from transformers import TemperatureLogitsWarper

    scores = torch.from_numpy(logits.astype(np.float64))
    result: Array = TemperatureLogitsWarper(value)(None, scores).softmax(-1).numpy()
    return result


def _known(
    warm: Callable[[Array, float], Array], cold: Callable[[Array], Array] = lambda x: _expected(x, 0)
) -> Callable[[Case], Mapping[str, Array]]:
    """warm: what the mistake gives for logits and a temperature; cold: at temperature 0"""

    def answers(case: Case) -> Mapping[str, Array]:
        logits, value = case.inputs["logits"].astype(np.float64), case.config["temperature"]
        with np.errstate(all="ignore"):
            return {"probabilities": warm(logits, value) if value else cold(logits)}

    return answers


def _right(x: Array, t: float) -> Array:
    return softmax(x / t)


def _ties(x: Array) -> Array:
    largest = (x == x.max(-1, keepdims=True)).astype(float)
    return largest / largest.sum(-1, keepdims=True)


def _last(x: Array) -> Array:
    return np.eye(x.shape[1])[x.shape[1] - 1 - x[:, ::-1].argmax(-1)]


def _overflow(x: Array, t: float) -> Array:
    e = np.exp((x / t).astype(np.float32))
    return e / e.sum(-1, keepdims=True)


MISTAKES = [
    Mistake("TEMP-times", "The logits were multiplied by the temperature.",
            "Divide by it: a low temperature makes differences larger.", _known(lambda x, t: softmax(x * t))),
    Mistake("TEMP-none", "The temperature changes nothing.", "The logits are divided by it.",
            _known(lambda x, t: softmax(x))),
    Mistake("TEMP-behind", "The probabilities were divided by the temperature, and no longer sum to 1.",
            "Divide the logits, before the softmax.", _known(lambda x, t: softmax(x) / t)),
    Mistake("TEMP-twice", "The softmax was applied twice.", "Logits, divided, then one softmax.",
            _known(lambda x, t: softmax(softmax(x) / t))),
    Mistake("TEMP-batch", "The softmax runs over the batch.", "Each row sums to 1 over its words: dim=-1.",
            _known(lambda x, t: softmax(x / t, 0))),
    Mistake("TEMP-logits", "These are logits.", "A softmax makes probabilities of them.", _known(lambda x, t: x / t)),
    Mistake("TEMP-root", "The logits were divided by the root of the temperature.", "By the temperature itself.",
            _known(lambda x, t: softmax(x / t**0.5))),
    Mistake("TEMP-overflow", "Large logits give nan.", "torch's softmax can deal with them.", _known(_overflow),
            share=0.5),
    Mistake("TEMP-ties", "At temperature 0, several words that are equally likely share the probability.",
            "The first of them gets all of it.", _known(_right, _ties), share=0.5),
    Mistake("TEMP-last", "At temperature 0, the last of the largest logits is chosen.", "The first of them.",
            _known(_right, _last), share=0.5),
    Mistake("TEMP-zero", "At temperature 0 there is no number: you divide by 0.",
            "Treat 0 by itself: probability 1 for the largest logit.",
            _known(_right, lambda x: np.full(x.shape, np.nan)), share=0.5),
    Mistake("TEMP-plain", "At temperature 0 you give the probabilities as they are.",
            "All of the probability belongs to the largest logit.", _known(_right, softmax), share=0.5),
    SIDE_EFFECTS[0],
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch", atol=1e-6)
