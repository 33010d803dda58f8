"""Attention in one function, with a mask."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, variant

from ._answers import LOOK_AXIS, LOOK_SCALE
from ._arrays import Array, normal
from ._layers import torch_attention
from ._rules import steps_together


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, n, m, d, e, kind in (
        (2, 5, 5, 4, 3, "causal"), (3, 6, 4, 9, 5, "padding"), (2, 4, 7, 3, 6, "any"), (1, 3, 5, 2, 6, "any"),
    ):  # fmt: skip
        inputs = {
            "query": normal(generator, batch, n, d, size=1.3),
            "key": normal(generator, batch, m, d, size=1.3),
            "value": normal(generator, batch, m, e),
        }
        mask = _mask(generator, kind, batch, n, m)
        query, key, value = inputs.values()
        expected = {"output": torch_attention(query, key, value, mask), "unmasked": torch_attention(query, key, value)}
        made.append(Case({"kind": kind}, inputs | {"mask": mask}, expected=expected))
    return made


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


# Lines of the solution that mistakes change.
ROOT, SCALE = "math.sqrt(key.size(-1))", " / math.sqrt(key.size(-1))"
FILL, SOFTMAX = "scores = scores.masked_fill(mask == 0, -math.inf)", "F.softmax(scores, dim=-1)"
LOOK_FILL = "What must a score be, for the softmax to make exactly 0 of it?"
ZERO = "M10-zero", "Hidden scores became 0 or nearly 0, and still get weight.", LOOK_FILL
INFINITY = "M10-infinity", "Hidden scores were set to plus infinity.", LOOK_FILL

MISTAKES = [
    Mistake("M2", "With the mask, the scores are not divided by √d_k.", LOOK_SCALE, (SCALE, "")),
    Mistake("M3", "With the mask, the scores are divided by d_k itself, or by its root twice.", LOOK_SCALE,
            (ROOT, "key.size(-1)")),
    Mistake("M3-inverse", "With the mask, the scores are multiplied by √d_k.", LOOK_SCALE, (SCALE, f" * {ROOT}")),
    Mistake("M3-keys", "The scores are divided by the root of the number of keys.", LOOK_SCALE,
            (ROOT, "math.sqrt(key.size(1))")),
    Mistake("M3-queries", "The scores are divided by the root of the number of queries.", LOOK_SCALE,
            (ROOT, "math.sqrt(query.size(1))")),
    Mistake("M3-value", "The scores are divided by the root of the values' length.", LOOK_SCALE,
            (ROOT, "math.sqrt(value.size(-1))")),
    Mistake("M3-batch", "The scores are divided by the root of the number of sentences.", LOOK_SCALE,
            (ROOT, "math.sqrt(len(query))")),
    Mistake("M1", "The softmax runs over the queries.", LOOK_AXIS, ("dim=-1", "dim=1")),
    Mistake("M8-sign", "The scores have the wrong sign: what fits least gets most.",
            "Query times key, divided by √d_k.", ("scores = torch", "scores = -torch")),
    Mistake("M1-none", "No softmax was applied: the values are mixed by the scores themselves.",
            "Scores, mask, softmax, weighted sum.", ("-math.inf", "0.0"), (SOFTMAX, "scores")),
    Mistake("M10-ignored", "The mask changes nothing.", "Where mask is given, the hidden scores must go.",
            (FILL, "pass")),
    Mistake(*ZERO, ("-math.inf", "0.0")),
    Mistake(*ZERO, ("-math.inf", "1e-9")),
    Mistake(*ZERO, (FILL, "scores = scores * mask")),
    Mistake("M10-minus-one", "Hidden scores were set to -1, and still get weight.", LOOK_FILL, ("-math.inf", "-1.0")),
    Mistake("M10-late", "The mask came after the softmax: the weights that are left no longer sum to 1.",
            "Hide the scores, then take the softmax.", (FILL, f"return torch.bmm({SOFTMAX} * mask, value)")),
    Mistake("M10-added", "The mask was added to the scores.", LOOK_FILL, (FILL, "scores = scores + mask")),
    Mistake("M10-inverted", "The mask is inverted: tokens see what it should hide.",
            "0 in the mask means: do not look.", ("mask == 0", "mask == 1")),
    Mistake(*INFINITY, ("-math.inf", "math.inf")),
    Mistake(*INFINITY, (FILL, "scores = scores + (1 - mask) * -math.inf")),
    CHANGED.by((SCALE, ""), ("torch.bmm(query,", f"torch.bmm(query.div_({ROOT}),")),
]  # fmt: skip

HEAD = "def scaled_dot_product_attention(query, key, value, mask=None):"
RIGHT = {
    "where": variant(HEAD, """
        s = query @ key.mT / math.sqrt(key.size(-1))
        s = s if mask is None else torch.where(mask == 0, float('-inf'), s)
        return s.softmax(-1) @ value
    """),
    "ready made": variant(HEAD, """
        allowed = None if mask is None else mask.bool()
        return F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    """),
    "a large number": variant(HEAD, """
        s = query @ key.mT / math.sqrt(key.size(-1))
        if mask is not None:
            s = s.masked_fill(~mask.bool(), -1e9)
        return s.softmax(-1) @ value
    """),
    "added": variant(HEAD, """
        s = query @ key.mT / math.sqrt(key.size(-1))
        if mask is not None:
            s = s + torch.zeros_like(mask).masked_fill(mask == 0, -math.inf)
        return s.softmax(-1) @ value
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, steps_together, MISTAKES, right=RIGHT, framework="torch",
    accepted={"detach": "Nothing is trained in this assignment: what counts is the value."},
    parts={
        "attention_scores": "attention_scores",
        "attention_weights": "attention_weights",
        "scaled_dot_product_attention": "scaled_dot_product_attention",
    },
    shows=("without a mask as before", "what is hidden gets weight 0", "the rest still sums to 1"),
    axes=dict.fromkeys(("output", "unmasked"), "batch, n, d_v"),
)  # fmt: skip
