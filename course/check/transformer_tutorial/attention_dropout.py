"""Dropout of the attention weights."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, passed
from course.check.transformer_tutorial._calls import attend, make, undisturbed


@undisturbed
def attention_dropout(kind: Any) -> None:
    """In train mode some weights become 0 and the others grow; in eval mode nothing happens."""
    name = "attention_dropout"
    b, t, k = 4, 8, 10
    queries, keys = torch.randn(b, t, 1, k), torch.randn(b, t, 1, k)
    values = torch.eye(t, k).expand(b, t, k)[:, :, None].clone()
    values[..., t] = 1  # one more number, which sums up the weights as they were used
    attention = make(name, kind, 0.5).eval()
    calm, again = (attend(name, attention, queries, keys, values) for _ in range(2))
    if not torch.equal(calm, again):
        fail(
            name,
            "in eval mode two calls must give the same.",
            "Yours differ.",
            "Use the dropout layer that __init__ made: it knows the mode.",
        )
    trained = attend(name, attention.train(), queries, keys, values)
    if close(trained, calm):
        fail(
            name,
            "in train mode some weights must be dropped.",
            "Yours drops nothing.",
            "__init__ made a dropout layer: which tensor should go through it?",
        )
    used = trained[..., :t]
    if not bool((used == 0).any()):
        fail(
            name,
            "what is dropped are weights: some of them must become exactly 0.",
            "In yours the weights change, and none is 0.",
            "Is the dropout applied behind the softmax?",
        )
    if not close(trained[..., t], used.sum(-1)):
        fail(
            name,
            "it is weights that are dropped, before the values are mixed.",
            "Yours drops numbers of the output.",
            "Which tensor has one number for each query and key?",
        )
    kept = used[used != 0] / calm[..., :t][used != 0]
    if not close(kept, torch.full_like(kept, 2.0), 1e-2):
        fail(
            name,
            "where one half is dropped, the other half is doubled, so that the average stays.",
            f"Yours multiplies it by {float(kept.mean()):.3g}.",
            "The dropout layer that __init__ made does this, at the rate that it was made with.",
        )
    passed(name, "weights are dropped in train mode", "nothing is in eval mode")
