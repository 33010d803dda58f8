"""Attention in one function, with a mask."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Mistake, compare_case, compare_value, not_charged_twice

from ..._attention import softmax
from .._arrays import Wrong, normal
from .._scaled_attention import LOOK_AXIS, LOOK_SCALE, raw_scores, root, torch_attention

Array = np.ndarray
#: The exercises in which a wrong unmasked attention is charged.
STEPS_BEFORE = (
    "encoder_lab/attention_scores",
    "encoder_lab/attention_weights",
    "encoder_lab/scaled_dot_product_attention",
)


def _make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for batch, n, m, d, e, kind in ((2, 5, 5, 4, 3, "causal"), (3, 6, 4, 9, 5, "padding"), (2, 4, 7, 3, 6, "any")):
        inputs = {
            "query": normal(generator, batch, n, d, size=1.3),
            "key": normal(generator, batch, m, d, size=1.3),
            "value": normal(generator, batch, m, e),
        }
        mask = _mask(generator, kind, batch, n, m)
        query, key, value = inputs.values()
        expected = {"output": torch_attention(query, key, value, mask), "unmasked": torch_attention(query, key, value)}
        cases.append(Case({"kind": kind}, inputs | {"mask": mask}, expected=expected))
    return cases


def _mask(generator: np.random.Generator, kind: str, batch: int, n: int, m: int) -> Array:
    """1 where a query may look. No row is all 0: implementations differ in what they make of that."""
    if kind == "causal":
        return np.tril(np.ones((1, n, m))).astype(np.float32)
    if kind == "padding":
        lengths = np.array([m, m - 1, m - 2])[:batch, None, None]
        return (np.arange(m) < lengths).astype(np.float32)
    mask = (generator.random((batch, n, m)) < 0.6).astype(np.float32)
    mask[..., 1] = 1
    return mask


def _follows(case: Case, answers: Answers) -> bool:
    """True where the mask does what it should, given the student's own wrong attention without a mask."""
    given, shape = answers.arrays, raw_scores(case).shape
    plain, masked, output = given.get("plain_weights"), given.get("masked_weights"), given.get("output")
    if plain is None or masked is None or output is None or plain.shape != shape or masked.shape != shape:
        return False
    unmasked_is_right = compare_value("unmasked", given.get("unmasked"), case.expected["unmasked"], EXERCISE).passed
    if not np.isfinite(plain).all() or (plain <= 0).any() or unmasked_is_right:
        return False
    return any(_shared_among_the_rest(case, plain, masked, output, axis) for axis in (-1, -2))


def _shared_among_the_rest(case: Case, plain: Array, masked: Array, output: Array, axis: int) -> bool:
    """True where hidden weights are 0, and the others are what they were, normalised anew along ``axis``."""
    kept = plain.astype(np.float64) * case.inputs["mask"]
    with np.errstate(divide="ignore", invalid="ignore"):
        own = kept / kept.sum(axis, keepdims=True)
    mixed = own @ case.inputs["value"].astype(np.float64)
    return (
        compare_value("weights", masked, own, EXERCISE).passed
        and compare_value("output", output, mixed, EXERCISE).passed
    )


def _with_mask(weigh: Callable[[Array, Array], Array]) -> Wrong:
    """The output of somebody who makes weights of scaled scores and mask in another way."""

    def answers(case: Case) -> Mapping[str, Array]:
        scores = raw_scores(case) / root(case)
        mask = np.broadcast_to(case.inputs["mask"], scores.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            return {"output": weigh(scores, mask) @ case.inputs["value"].astype(np.float64)}

    return answers


def _filled(value: float) -> Callable[[Array, Array], Array]:
    return lambda s, mask: softmax(np.where(mask == 0, value, s))


def _inverted(s: Array, mask: Array) -> Array:
    return softmax(np.where(mask == 0, s, -np.inf))


def _rescaled(factor: Callable[[Case], float], axis: int = -1) -> Wrong:
    """The output, with the mask as it should be, of somebody whose scaled scores are wrong by a factor."""

    def answers(case: Case) -> Mapping[str, Array]:
        scores = factor(case) * raw_scores(case) / root(case)
        hidden = np.broadcast_to(case.inputs["mask"], scores.shape) == 0
        with np.errstate(invalid="ignore"):
            weights = softmax(np.where(hidden, -np.inf, scores), axis)
        return {"output": weights @ case.inputs["value"].astype(np.float64)}

    return answers


def _by_size(name: str, axis: int) -> Callable[[Case], float]:
    """The factor of somebody who takes the root of another length of query, key or value."""
    return lambda case: root(case) / float(np.sqrt(case.inputs[name].shape[axis]))


def _by_queries(case: Case) -> Mapping[str, Array]:
    as_many = case.inputs["query"].shape[1] == case.inputs["key"].shape[1]  # then it has another name
    return {} if as_many else _rescaled(_by_size("query", 1))(case)


def _uniform(case: Case) -> Mapping[str, Array]:
    scores = raw_scores(case) / root(case)
    mask = np.broadcast_to(case.inputs["mask"], scores.shape)
    return {"output": np.where(mask == 0, 0.0, scores) @ case.inputs["value"].astype(np.float64)}


LOOK_FILL = "What must a score be, for the softmax to make exactly 0 of it?"


SCALE_MISTAKES = [
    Mistake("M2", "With the mask, the scores are not divided by √d_k.", LOOK_SCALE, _rescaled(root)),
    Mistake(
        "M3",
        "With the mask, the scores are divided by d_k itself, or by its root twice.",
        LOOK_SCALE,
        _rescaled(lambda case: 1 / root(case)),
    ),
    Mistake(
        "M3-inverse",
        "With the mask, the scores are multiplied by √d_k.",
        LOOK_SCALE,
        _rescaled(lambda case: root(case) ** 2),
    ),
    Mistake(
        "M3-keys",
        "The scores are divided by the root of the number of keys.",
        LOOK_SCALE,
        _rescaled(_by_size("key", 1)),
    ),
    Mistake(
        "M3-queries",
        "The scores are divided by the root of the number of queries.",
        LOOK_SCALE,
        _by_queries,
    ),
    Mistake(
        "M3-value",
        "The scores are divided by the root of the values' length.",
        LOOK_SCALE,
        _rescaled(_by_size("value", 2)),
    ),
    Mistake(
        "M3-batch",
        "The scores are divided by the root of the number of sentences.",
        LOOK_SCALE,
        _rescaled(_by_size("query", 0)),
    ),
    Mistake("M1", "The softmax runs over the queries.", LOOK_AXIS, _rescaled(lambda case: 1.0, -2)),
    Mistake(
        "M8-sign",
        "The scores have the wrong sign: what fits least gets most.",
        "Query times key, divided by √d_k.",
        _rescaled(lambda case: -1.0),
    ),
    Mistake(
        "M1-none",
        "No softmax was applied: the values are mixed by the scores themselves.",
        "Scores, mask, softmax, weighted sum.",
        _uniform,
    ),
]
MISTAKES = [
    *SCALE_MISTAKES,
    Mistake(
        "M10-ignored",
        "The mask changes nothing.",
        "Where mask is given, the hidden scores must go.",
        _with_mask(lambda s, mask: softmax(s)),
    ),
    Mistake(
        "M10-zero", "Hidden scores became 0 or nearly 0, and still get weight.", LOOK_FILL, _with_mask(_filled(0.0))
    ),
    Mistake(
        "M10-minus-one", "Hidden scores were set to -1, and still get weight.", LOOK_FILL, _with_mask(_filled(-1.0))
    ),
    Mistake(
        "M10-late",
        "The mask came after the softmax: the weights that are left no longer sum to 1.",
        "Hide the scores, then take the softmax.",
        _with_mask(lambda s, mask: softmax(s) * mask),
    ),
    Mistake("M10-added", "The mask was added to the scores.", LOOK_FILL, _with_mask(lambda s, mask: softmax(s + mask))),
    Mistake(
        "M10-inverted",
        "The mask is inverted: tokens see what it should hide.",
        "0 in the mask means: do not look.",
        _with_mask(_inverted),
    ),
    Mistake("M10-infinity", "Hidden scores were set to plus infinity.", LOOK_FILL, _with_mask(_filled(np.inf))),
]


EXERCISE = Exercise(
    _make,
    not_charged_twice(compare_case, STEPS_BEFORE, _follows),
    MISTAKES,
    framework="torch",
    axes=dict.fromkeys(("output", "unmasked"), "batch, n, d_v"),
)
