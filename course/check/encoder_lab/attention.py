"""Notebook 1, the functions: scores, weights, attention, and attention with a mask."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, log, sqrt
from typing import Any

import torch
from torch import Tensor

from course.check.base import axis_that_sums_to_one, close, fail, finite, passed, running, same_shape
from course.check.distilbert.small import undisturbed

#: (query, key, value) -> output
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]

LOOK_AXES = "Which axis of key must meet the last axis of query? Write both shapes down."
AXES = ("batch", "queries", "keys")
#: Length of the vectors in the test of scale: its root, itself and its square are told apart.
LONG = 16


@undisturbed
def attention_scores(function: Any) -> None:
    """Every query's scaled dot product with every key."""
    name = "attention_scores"
    query, key = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    scores = _run(name, function, query, key)
    if getattr(scores, "shape", None) == (2, 5, 3):
        fail(
            name,
            "rows are queries, columns are keys: (2, 3, 5) for 3 queries and 5 keys.",
            "Yours has (2, 5, 3).",
            "Query and key have changed places.",
        )
    same_shape(name, "scores", scores, (2, 3, 5), "(batch, queries, keys)", LOOK_AXES)
    score = float(_run(name, function, torch.ones(1, 2, LONG), torch.ones(1, 3, LONG))[0, 0, 0])
    if abs(score - sqrt(LONG)) > 1e-3:
        fail(
            name,
            f"{LONG} products of 1 and 1 make a score of {sqrt(LONG):g}, after scaling.",
            f"Yours is {score:.4g}: {_in_words(score / sqrt(LONG))}",
            "What are the scores divided by, and how often?",
        )
    one_hot = _run(name, function, torch.eye(4)[None, :3], torch.eye(4)[None])
    if not close(one_hot[0], torch.eye(4)[:3] / 2):
        fail(name, "vectors that have nothing in common must score 0.", "Yours do not.", LOOK_AXES)
    passed(name, "every query meets every key", "rows are queries", "scaled once")


@undisturbed
def attention_weights(function: Any) -> None:
    """Scores become weights: none negative, each row together 1."""
    name = "attention_weights"
    scores = torch.randn(2, 3, 5)
    weights = _run(name, function, scores)
    same_shape(name, "weights", weights, (2, 3, 5), "(batch, queries, keys)", "As many weights as scores.")
    _rows_sum_to_one(name, weights)
    quarter = _run(name, function, torch.tensor([[[0.0, log(3.0)], [5.0, 5.0]]]))
    if not close(quarter[0], torch.tensor([[0.25, 0.75], [0.5, 0.5]])):
        fail(
            name,
            "scores of 0 and log 3 must make weights of 1/4 and 3/4, equal scores equal weights.",
            f"Yours are {_row(quarter[0, 0])} and {_row(quarter[0, 1])}.",
            "Scores become weights by one softmax.",
        )
    finite(
        name,
        "weights of very large scores",
        _run(name, function, 1000 * scores),
        "torch's own softmax takes away the largest score first; exp alone overflows.",
    )
    passed(name, "each row sums to 1 over the keys", "large scores do no harm")


@undisturbed
def scaled_dot_product_attention(function: Any) -> None:
    """Scores, weights and weighted sum in one function."""
    name = "scaled_dot_product_attention"
    ladder(name, lambda q, k, v: _run(name, function, q, k, v))
    passed(name, "shapes", "each query's weights sum to 1", "scaled once", "values are mixed by the weights")


@undisturbed
def causal_mask(function: Any) -> None:
    """1 where a token may look, 0 where it may not: at what comes later."""
    name = "causal_mask"
    mask = torch.as_tensor(_run(name, function, 4))
    same_shape(
        name, "the mask", mask, (1, 4, 4), "(1, queries, keys)", "The 1 in front stands for every sentence of a batch."
    )
    allowed = mask[0] != 0
    if not bool(allowed.diagonal().all()):
        fail(
            name,
            "every token may look at itself.",
            "On the diagonal of yours stands a 0.",
            "Where does the triangle begin?",
        )
    if bool(allowed[0, 1:].any()) and not bool(allowed[1:, 0].any()):
        fail(
            name,
            "row i is what token i may see: what came before it, and itself.",
            "In yours it may see what comes after it.",
            "The ones belong below the diagonal.",
        )
    if bool(allowed.triu(1).any()):
        fail(name, "no token may look at a later one.", "Above the diagonal of yours stands something else than 0.")
    if not bool(allowed[-1].all()):
        fail(name, "the last token may look at all of them.", "In yours it may not.")
    if not bool(((mask == 0) | (mask == 1)).all()):
        fail(name, "the mask holds ones and zeros.", f"Yours also holds {mask[(mask != 0) & (mask != 1)][0].item():g}.")
    passed(name, "ones up to the diagonal, zeros behind it")


@undisturbed
def masked_attention(function: Any) -> None:
    """The same attention, and with a mask no look at what it hides."""
    name = "masked_attention"
    ladder(name, lambda q, k, v: _run(name, function, q, k, v))
    query, key, eye = torch.randn(2, 5, 4), torch.randn(2, 5, 4), torch.eye(5).expand(2, 5, 5)
    mask = torch.ones(5, 5).tril()[None]
    weights = _run(name, function, query, key, eye, mask)
    same_shape(name, "the output", weights, (2, 5, 5), "(batch, queries, size of a value)")
    finite(name, "the output", weights, "0 times infinity is nan. Is a whole row masked, or the mask turned round?")
    hidden = float(weights.triu(1).abs().max())
    if hidden > 1e-6:
        shown = float(weights.tril(-1).abs().max())
        came = (
            "The mask is turned round: only what it hides is seen."
            if shown < 1e-6
            else f"Weights of up to {hidden:.2g} are left there."
        )
        fail(
            name,
            "where the mask is 0, the weight must be 0.",
            f"{came}",
            "What must a score be, for the softmax to make exactly 0 of it? And does that happen before the softmax?",
        )
    _rows_sum_to_one(name, weights, "The mask must come before the softmax: then the other weights share what is left.")
    whole = _run(name, function, query, key, eye, torch.ones(1, 5, 5))
    if not close(whole, _run(name, function, query, key, eye)):
        fail(name, "a mask of ones hides nothing and must change nothing.", "It changes your output.")
    passed(name, "without a mask as before", "what is hidden gets weight 0", "the rest still sums to 1")


def ladder(name: str, attend: Attend, size: int = 4) -> None:
    """What holds for every scaled dot-product attention, one rung after the other. ``size``: of queries and keys."""
    query, key, value = torch.randn(2, 3, size), torch.randn(2, 5, size), torch.randn(2, 5, 6)
    output = attend(query, key, value)
    same_shape(name, "the output", output, (2, 3, 6), "(batch, queries, size of a value)", LOOK_AXES)
    # values that are unit vectors: the output is then the weights themselves
    weights = attend(query, key, torch.eye(5).expand(2, 5, 5))
    _rows_sum_to_one(name, weights)
    same = attend(query, torch.ones(2, 5, size), value)
    if not close(same, value.mean(1, keepdim=True).expand(2, 3, 6)):
        fail(
            name,
            "keys that are all alike must get equal weights: the output is the values' mean.",
            "Yours is not.",
            "Which axis are the weights normalised over, and which one is summed over?",
        )
    _scale(name, attend)
    finite(
        name,
        "the output for very long queries",
        attend(1000 * query, key, value),
        "torch's own softmax takes away the largest score first; exp alone overflows.",
    )
    turned = attend(query, key.flip(1), value.flip(1))
    if not close(turned, output):
        fail(
            name,
            "keys and values in another order, both alike, must change nothing.",
            "Your output changes.",
            "Weight j belongs to key j, and it multiplies value j.",
        )


def _scale(name: str, attend: Attend) -> None:
    """Two keys, of which one must get three times the other's weight."""
    keys = torch.stack([torch.zeros(LONG), torch.full((LONG,), log(3) / sqrt(LONG))])[None]
    weight = float(attend(torch.ones(1, 1, LONG), keys, torch.tensor([[[0.0], [1.0]]]))[0, 0, 0])
    if abs(weight - 0.75) < 1e-3:
        return
    factor = log(weight / (1 - weight)) / log(3) if 0 < weight < 1 else float("inf")
    fail(
        name,
        "with scaled scores of 0 and log 3 the second key must get a weight of 0.75.",
        f"In yours it gets {weight:.4g}: {_in_words(factor)}",
        "What are the scores divided by, and how often?",
    )


def _in_words(factor: float) -> str:
    if abs(factor) < 1e-3 or not isfinite(factor):
        return "the scores play no part." if abs(factor) < 1e-3 else "the scores are far too large."
    known = {
        sqrt(LONG): "the scores were not divided.",
        1 / sqrt(LONG): "the scores were divided too much: by the length itself, or twice.",
        float(LONG): "the scores were multiplied where they should be divided.",
        LONG**-1.5: "the scores were divided far too much.",
    }
    for value, words in known.items():
        if abs(factor / value - 1) < 1e-2:
            return words
    return f"the scores are {factor:.3g} times what they should be."


def _rows_sum_to_one(name: str, weights: Tensor, look: str = "") -> None:
    if close(weights.sum(-1), torch.ones(weights.shape[:-1])):
        if float(weights.min()) < 0:
            fail(
                name,
                "no weight is negative.",
                f"Your smallest is {float(weights.min()):.3g}.",
                "A softmax never gives such a number.",
            )
        return
    axis = axis_that_sums_to_one(weights, AXES)
    came = (
        f"Yours sum to 1 over {axis}." if axis else f"The first row of yours sums to {float(weights[0, 0].sum()):.3g}."
    )
    fail(
        name,
        "each query's weights must sum to 1 over the keys (last axis).",
        came,
        look
        or (
            "Is the softmax told which axis to use?" if axis else "Scores become weights by a softmax: was it applied?"
        ),
    )


def _run(name: str, function: Any, *inputs: Any) -> Any:
    """``function(*inputs)``; a failure, or a changed input, is a failed check."""
    before = [x.clone() if isinstance(x, Tensor) else x for x in inputs]
    shapes = ", ".join(str(tuple(x.shape)) if isinstance(x, Tensor) else str(x) for x in inputs)
    with running(name, f"{getattr(function, '__name__', name)} on {shapes}", LOOK_AXES if len(inputs) > 1 else ""):
        output = function(*inputs)
    for old, new in zip(before, inputs, strict=True):
        if isinstance(old, Tensor) and not torch.equal(old, new):
            fail(name, "what goes in must stay as it was.", "An input was changed in place.", "Make new tensors.")
    return output[0] if isinstance(output, tuple) else output


def _row(row: Tensor) -> str:
    return "(" + ", ".join(f"{number:.3g}" for number in row.tolist()) + ")"
