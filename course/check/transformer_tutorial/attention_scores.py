"""The scores of ``DotProductAttention``, as far as its output shows them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.modules import make, undisturbed
from course.check.side_effects import check_side_effects
from course.check.transformer_tutorial._steps import alone, ready_score


@undisturbed
def attention_scores(student_class: Any) -> None:
    """A dot product of s makes a score of s / √k, for every query with every key."""
    name = "attention_scores"
    attention = make(name, student_class, 0.0)
    if hasattr(attention, "calculate_score"):
        _check_alone(name, attention)
    with suppress(ValueError, AttributeError):  # the other steps are other exercises
        attention = alone(student_class, score=attention.calculate_score)(0.0).eval()
    t, k = 4, 5
    # Key j is 1 at index j and 0 elsewhere: query i's dot product with it is the query's number at index j.
    queries = torch.tensor([[1.0, 0, 2, 0, 0], [0, 3, 0, 0, 0], [0, 0, 0, -1, 0], [1, 1, 0, 4, 0]])
    eye = torch.eye(t, k)
    weights = _attend(name, attention, queries[None, :, None], eye[None, :, None])[0, :, :t]
    logs = _logs(weights)
    expected = queries[:, :t]
    factor = _factor(logs, expected)
    if factor is None and _factor(logs, expected.T) is not None:
        fail(
            name,
            "row i must hold the scores of query i.",
            "In yours it holds what the others' queries find in key i.",
            "Rows are queries, columns are keys.",
        )
    if factor is None:
        fail(
            name,
            "the score of query i for key j is their dot product, divided by √k.",
            "Your weights come from other scores.",
            "Which axis of the keys must meet which axis of the queries? Write both shapes down.",
        )
    if abs(factor - k**-0.5) > 1e-3:
        fail(
            name,
            f"with k = {k}, a dot product of 3 must make a score of 3 / √{k} = {3 / k**0.5:.2f}.",
            f"Yours makes {3 * factor:.2f}.",
            "Divided, once, by the square root of the length of a key.",
        )
    passed(name, "every query meets every key", "divided by √k")


def _check_alone(name: str, attention: Any) -> None:
    """What the output does not show of ``calculate_score``: what it changes, and its precision."""
    queries, keys = torch.randn(2, 4, 5), torch.randn(2, 4, 5)
    check_side_effects(name, attention.calculate_score, queries, keys)
    exact, off = ready_score(queries, keys), 0.0
    with suppress(Exception):  # forward says more about what stops
        score = attention.calculate_score(queries.clone(), keys.clone())
        off = float((score - exact).abs().max() / exact.abs().max())
    if 5e-5 < off < 1e-2:
        came = "Yours are nearly right: something computes them with too few digits."
        fail(name, "scores keep the precision of queries and keys.", came, "No half, no round.")


def _attend(name: str, attention: Any, queries: Tensor, keys: Tensor) -> Tensor:
    """queries (b, t, h, k), and keys that are the values, too -> (b, t, h*k), shape checked"""
    b, t, h, k = queries.shape
    given = [queries.clone(), keys.clone(), keys.clone()]
    with running(name, f"b = {b}, h = {h}, t = {t}, k = {k}", "Print the shape after every step."):
        out: Tensor = attention(*given, b, h, t, k)
    same_shape(name, "the output", out, (b, t, h * k), "(b, t, h * k)", "Are the heads back after the tokens?")
    if any(not torch.equal(x, old) for x, old in zip(given, (queries, keys, keys), strict=True)):
        expected = "queries, keys and values must keep their numbers."
        fail(name, expected, "Yours were changed in place.", "Make new tensors.")
    return out


def _logs(weights: Tensor) -> Tensor:
    """What stands in the exponent; the numbers themselves where no softmax was applied."""
    positive = bool((weights > 0).all())
    return weights.log() if positive else weights


def _factor(seen: Tensor, pattern: Tensor) -> float | None:
    """The number that turns the pattern into what is seen, whatever was added to a row or column; None if none does."""

    def centred(x: Tensor) -> Tensor:
        return x - x.mean(-1, keepdim=True) - x.mean(-2, keepdim=True) + x.mean()

    x, y = centred(pattern), centred(seen)
    factor = float((x * y).sum() / (x * x).sum())
    return factor if abs(factor) > 1e-3 and bool(torch.isfinite(seen).all()) and close(y, factor * x, 1e-3) else None
