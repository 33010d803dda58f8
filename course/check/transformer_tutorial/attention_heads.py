"""Several heads in ``DotProductAttention``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed
from course.check.transformer_tutorial._calls import attend, make, undisturbed


@undisturbed
def attention_heads(kind: Any) -> None:
    """Several heads at once give what each gives by itself."""
    name = "attention_heads"
    attention = make(name, kind, 0.0).eval()
    b, t, h, k = 2, 5, 3, 4
    queries, keys, values = (torch.randn(b, t, h, k) for _ in range(3))
    together = attend(name, attention, queries, keys, values)
    for head in range(h):
        alone = attend(name, attention, *(x[:, :, head : head + 1].contiguous() for x in (queries, keys, values)))
        if not close(together[..., head * k : (head + 1) * k], alone):
            _explain_heads(name, attention, queries, keys, values, head)
    passed(name, "each head gives what it gives alone", "heads stand one after the other")


def _explain_heads(name: str, attention: Any, queries: Tensor, keys: Tensor, values: Tensor, head: int) -> None:
    _, _, h, k = queries.shape
    before = attend(name, attention, queries, keys, values)
    changed = values.clone()
    changed[0, :, head] += 1  # head `head` of sentence 0, and nothing else
    moved = (attend(name, attention, queries, keys, changed) - before).abs() > 1e-4
    if bool(moved[1:].any()):
        fail(
            name,
            "the sentences of a batch must not touch each other.",
            f"A change in sentence 0, head {head}, moved the output of sentence 1.",
            "Fold and unfold must agree on the order of batch and heads.",
        )
    heads = moved[0].unflatten(-1, (h, k)).any(-1).any(0).nonzero().flatten().tolist()
    if heads != [head]:
        fail(
            name,
            f"a change in head {head} must move the numbers from {head * k} to {head * k + k - 1} of the output.",
            f"In yours it moves the places of the heads {heads}.",
            "In which order must the axes stand before two of them can become one?",
        )
    fail(
        name,
        "several heads at once must give what each gives by itself.",
        f"Head {head} of yours differs.",
        "Are queries, keys and values all folded alike?",
    )
