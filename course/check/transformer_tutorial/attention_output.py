"""From scores to the output of ``DotProductAttention``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, finite, passed
from course.check.side_effects import check_side_effects
from course.check.transformer_tutorial._calls import attend, make, undisturbed


@undisturbed
def attention_output(kind: Any) -> None:
    """The values are mixed with weights that sum to 1 for each query."""
    name = "attention_output"
    attention = make(name, kind, 0.0).eval()
    b, t, k = 2, 4, 5
    queries, keys = torch.randn(b, t, 1, k), torch.randn(b, t, 1, k)
    check_side_effects(name, lambda q, k_, v: attention(q, k_, v, b, 1, t, k), queries, keys, queries)
    value = torch.linspace(-2, 3, k)
    alike = attend(name, attention, queries, keys, value.expand(b, t, 1, k).clone())
    if not close(alike, value.expand(b, t, k)):
        _explain_sums(name, attention, queries, keys)
    eye = torch.eye(t, k).expand(b, t, k)[:, :, None]
    weights = attend(name, attention, queries, keys, eye)[..., :t]
    if not close(weights.sum(-1), torch.ones(b, t)) or float(weights.min()) < 0:
        _explain_sums(name, attention, queries, keys)
    # strong scores: query i finds key i + 1 and nothing else
    strong = 400 * torch.eye(k).roll(1, 1)[:t].expand(b, t, k)[:, :, None]
    found = attend(name, attention, strong, eye, eye)
    finite(name, "the output for very large scores", found, "torch's own softmax takes away the largest score first.")
    if not close(found[:, : t - 1, :t], torch.eye(t).roll(1, 1)[: t - 1].expand(b, t - 1, t)):
        fail(
            name,
            "a query that fits one key far better than all the others must collect that key's value.",
            "Yours collects something else.",
            "Row i of the weights mixes the values for query i.",
        )
    passed(name, "each query's weights sum to 1", "the values are mixed by them", "large scores do no harm")


def _explain_sums(name: str, attention: Any, queries: Tensor, keys: Tensor) -> None:
    b, t, _, k = queries.shape
    weights = attend(name, attention, queries, keys, torch.eye(t, k).expand(b, t, k)[:, :, None])[..., :t]
    expected = "each query's weights must sum to 1 over the keys."
    for axis, words in ((1, "the queries"), (0, "the batch")):
        if close(weights.sum(axis), torch.ones_like(weights.sum(axis))):
            fail(name, expected, f"Yours sum to 1 over {words}.", "Is the softmax told which axis to use?")
    fail(
        name,
        expected,
        f"In yours the first row sums to {float(weights[0, 0].sum()):.3g}.",
        "Scores become weights by one softmax; then the weights mix the values.",
    )
