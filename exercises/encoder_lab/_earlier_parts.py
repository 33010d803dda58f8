"""Rules of exercises that build on earlier parts of the student's: no visible check judges by them."""

from __future__ import annotations

import numpy as np

from autograder.exercise import (
    Answers,
    Case,
    compare_case,
    not_charged_twice,
)

from ._arrays import Array


def _close(got: Array, want: Array) -> bool:
    return got.shape == want.shape and got.dtype.kind == "f" and bool(np.isclose(got, want, atol=1e-5, rtol=1e-4).all())


def _mixes_own_weights(case: Case, answers: Answers) -> bool:
    """True where the output is the weighted sum of the student's own wrong weights."""
    output, weights = answers.arrays.get("output"), answers.arrays.get("weights")
    if output is None or weights is None or weights.shape != _shape_of_weights(case):
        return False
    # with zeros, or weights that are all alike, nothing has to be mixed
    telling = weights.dtype.kind == "f" and bool(np.isfinite(weights).all()) and (np.abs(weights) > 1e-6).mean() > 0.5
    own = weights.astype(np.float64) @ case.inputs["value"].astype(np.float64)
    return bool(telling and np.ptp(weights, axis=-1).min() > 1e-3 and _close(output, own))


def _shape_of_weights(case: Case) -> tuple[int, ...]:
    """(batch, queries, keys)"""
    return (*case.inputs["query"].shape[:2], case.inputs["key"].shape[1])


def _hides_as_it_should(case: Case, answers: Answers) -> bool:
    """True where the mask does what it should, given the student's own wrong attention without a mask."""
    given, shape = answers.arrays, _shape_of_weights(case)
    plain, masked, output = given.get("plain_weights"), given.get("masked_weights"), given.get("output")
    if plain is None or masked is None or output is None or plain.shape != shape or masked.shape != shape:
        return False
    unmasked = given.get("unmasked")
    unmasked_is_right = unmasked is not None and _close(unmasked, case.expected["unmasked"])
    if not np.isfinite(plain).all() or (plain <= 0).any() or unmasked_is_right:
        return False
    return any(_shared_among_the_rest(case, plain, masked, output, axis) for axis in (-1, -2))


def _shared_among_the_rest(case: Case, plain: Array, masked: Array, output: Array, axis: int) -> bool:
    """True where hidden weights are 0, and the others are what they were, normalised anew along ``axis``."""
    kept = plain.astype(np.float64) * case.inputs["mask"]
    with np.errstate(divide="ignore", invalid="ignore"):
        own = kept / kept.sum(axis, keepdims=True)
    return _close(masked, own) and _close(output, own @ case.inputs["value"].astype(np.float64))


def _heads_of_own_shares(case: Case, answers: Answers) -> bool:
    """True where these are the heads with the largest of the student's own wrong shares, (layers, heads)."""
    heads, own = answers.arrays.get("heads"), answers.arrays.get("own_share")
    if heads is None or own is None or own.ndim != 2 or not own.size or len(own) != len(case.expected["heads"]):
        return False
    told_apart = bool(np.isfinite(own).all()) and float(np.ptp(own, axis=-1).min()) > 0
    return told_apart and np.array_equal(heads, own.argmax(-1))


#: The exercises in which wrong weights are charged.
STEPS = ("encoder_lab/attention_scores", "encoder_lab/attention_weights")
scaled_dot_product_attention = not_charged_twice(compare_case, STEPS, _mixes_own_weights)
masked_attention = not_charged_twice(
    compare_case, (*STEPS, "encoder_lab/scaled_dot_product_attention"), _hides_as_it_should
)
separator_heads = not_charged_twice(compare_case, ("encoder_lab/separator_share",), _heads_of_own_shares)
