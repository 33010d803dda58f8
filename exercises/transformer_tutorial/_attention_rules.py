"""Judging ``DotProductAttention`` part by part: one mistake costs the points of its own part alone.

What a later part gives is compared with the right answer *and*, where an earlier part lost its points, with what
follows from each of that part's known mistakes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from autograder.exercise import Answers, Case, Check

from ._attention_cases import computed
from ._dot_products import SCALES, WRONG_HEADS, WRONG_WEIGHTS, AttentionVariant

Array = np.ndarray
SCORES, OUTPUT, HEADS = (f"transformer_tutorial/attention_{part}" for part in ("scores", "output", "heads"))


def wrong_shape(answers: Answers, want: Array, name: str = "output") -> Check | None:
    """Why this answer cannot be compared at all; None where it can."""
    got = answers.arrays.get(name)
    if got is None:
        return Check(name, False, "Nothing came.", "Does forward return the result?")
    if got.dtype.kind != "f":
        return Check(name, False, "Expected floating-point numbers.", "Are the weights rounded or compared somewhere?")
    if got.shape != want.shape:
        message = f"Expected shape {want.shape} = (b, t, h * k), but yours is {got.shape}."
        return Check(name, False, message, "Print the shape after every step.")
    return None


def fits(case: Case, answers: Answers, variants: Iterable[AttentionVariant]) -> bool:
    """True where the output is what one of these variants gives. With a mask, only the rows of real tokens count.

    With a mask, wrong weights may give nan where they must.
    """
    got = answers.arrays.get("output")
    if got is None or got.shape != case.expected["output"].shape or got.dtype.kind != "f":
        return False
    rows = case.inputs.get("mask", np.ones(got.shape[:2], dtype=bool))
    with np.errstate(over="ignore", invalid="ignore"):
        return any(
            np.allclose(got[rows], computed(case, variant)[rows], rtol=2e-4, atol=2e-5, equal_nan=True)
            for variant in variants
        )


def with_scores(variant: AttentionVariant) -> Iterator[AttentionVariant]:
    """The same with each kind of wrong scores; the likelier ones first."""
    for swapped in (False, True):
        for scale in SCALES:
            yield replace(variant, scale=scale, swapped=swapped)


def with_weights(variant: AttentionVariant) -> Iterator[AttentionVariant]:
    """The same, and with each kind of wrong weights."""
    yield variant
    for wrong in WRONG_WEIGHTS.values():
        yield replace(variant, axis=wrong.axis, twice=wrong.twice, transposed=wrong.transposed, late=wrong.late)


def follows_from_earlier(case: Case, answers: Answers) -> bool:
    """True where the output is right but for wrong scores, weights or heads that lost their own points before."""
    variants: list[AttentionVariant] = [AttentionVariant()]
    if answers.charged(HEADS):
        variants += WRONG_HEADS.values()
    if answers.charged(OUTPUT):
        variants = [wrong for variant in variants for wrong in with_weights(variant)]
    if answers.charged(SCORES):
        variants = [wrong for variant in variants for wrong in with_scores(variant)]
    return fits(case, answers, variants)
