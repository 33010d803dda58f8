"""The mean cross-entropy of the next words, in float64 NumPy; logsumexp by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from ..._attention import softmax

Array = np.ndarray
SHIFT = "The logits at place i predict the word at place i + 1."


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for (b, t, v), size, shift in (((3, 5, 7), 1.5, 0.0), ((2, 6, 11), 1.5, 0.0), ((4, 3, 5), 1.0, 200.0)):
        logits = (generator.normal(0, size, (b, t, v)) + shift).astype(np.float32)
        ids = generator.integers(0, v, (b, t))
        ids[0] = np.arange(t) % v
        inputs = {"logits": logits, "input_ids": ids}
        cases.append(Case({}, inputs, expected={"loss": _losses(logits, ids).mean()}))
    return cases


def _logs(logits: Array) -> Array:
    x = logits.astype(np.float64)
    x = x - x.max(-1, keepdims=True)
    result: Array = x - np.log(np.exp(x).sum(-1, keepdims=True))
    return result


def _picked(logs: Array, ids: Array, shift: int = 1) -> Array:
    """What stands at the words' ids: (batch, tokens - shift). shift: how far behind its logits a word stands"""
    t = ids.shape[1]
    return np.take_along_axis(logs[:, : t - shift], ids[:, shift:, None], 2)[..., 0]


def _losses(logits: Array, ids: Array) -> Array:
    return -_picked(_logs(logits), ids)


def _by(compute: Callable[[Array, Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: {"loss": np.asarray(compute(case.inputs["logits"], case.inputs["input_ids"]), dtype=float)}


def _backwards(logits: Array, ids: Array) -> Array:
    return -np.take_along_axis(_logs(logits)[:, 1:], ids[:, :-1, None], 2).mean()


def _round(logits: Array, ids: Array) -> Array:
    return -np.take_along_axis(_logs(logits), np.roll(ids, -1, 1)[..., None], 2).mean()


MISTAKES = [
    Mistake("D4-same", "The logits are compared with the word that they stand at.", SHIFT,
            _by(lambda x, ids: -_picked(_logs(x), ids, 0).mean())),
    Mistake("D4-two", "The logits are compared with the word after the next.", SHIFT,
            _by(lambda x, ids: -_picked(_logs(x), ids, 2).mean())),
    Mistake("D4-before", "The logits are compared with the word before.", SHIFT, _by(_backwards)),
    Mistake("D4-round", "The last place predicts the first word.", "Behind the last word nothing is known.",
            _by(_round)),
    Mistake("D4-sum", "This is the sum of the losses, not their mean.", "One number that does not grow with the text.",
            _by(lambda x, ids: _losses(x, ids).sum())),
    Mistake("D4-rows", "The losses of a row were added, and only the rows averaged.", "The mean over all words.",
            _by(lambda x, ids: _losses(x, ids).sum(1).mean())),
    Mistake("D4-all", "The sum was divided by all words, the first ones included.", "T words: T - 1 predictions.",
            _by(lambda x, ids: _losses(x, ids).sum() / ids.size)),
    Mistake("D4-twice", "The softmax was applied twice.", "F.cross_entropy takes logits.",
            _by(lambda x, ids: _losses(softmax(x.astype(np.float64)), ids).mean())),
    Mistake("D4-raw", "The logits themselves were averaged, without a softmax.", "F.cross_entropy takes logits.",
            _by(lambda x, ids: -_picked(x.astype(np.float64), ids).mean())),
    Mistake("D4-sign", "The loss is negative.", "Minus the logarithm of the probability.",
            _by(lambda x, ids: -_losses(x, ids).mean())),
    Mistake("D4-base", "The logarithm has base 2.", "The natural one.",
            _by(lambda x, ids: _losses(x, ids).mean() / np.log(2))),
    Mistake("D4-perplexity", "This is the perplexity.", "The loss is its logarithm.",
            _by(lambda x, ids: np.exp(_losses(x, ids).mean()))),
    Mistake("D4-probability", "This is one minus the probability, without a logarithm.", "Cross-entropy.",
            _by(lambda x, ids: 1 - np.exp(-_losses(x, ids)).mean())),
    Mistake("D4-last", "Only the last prediction counts.", "The mean over all words.",
            _by(lambda x, ids: _losses(x, ids)[:, -1].mean())),
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch")
