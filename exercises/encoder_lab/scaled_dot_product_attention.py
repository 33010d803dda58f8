"""Attention in one function."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, SampleAnswer, variant

from ._answers import LOOK_AXIS, LOOK_SCALE
from ._arrays import normal
from ._layers import torch_attention
from ._rules import steps_together


def cases(generator: np.random.Generator) -> list[Case]:
    """More and fewer queries than keys, values longer and shorter than queries."""
    made = []
    for batch, n, m, d, e in ((2, 5, 7, 4, 3), (3, 6, 6, 9, 5), (2, 4, 4, 4, 4), (3, 7, 4, 3, 6), (1, 3, 5, 2, 4)):
        inputs = {
            "query": normal(generator, batch, n, d, size=1.3),
            "key": normal(generator, batch, m, d, size=1.3),
            "value": normal(generator, batch, m, e),
        }
        made.append(Case(inputs=inputs, expected={"output": torch_attention(*inputs.values())}))
    return made


# Lines of the solution that mistakes change.
ROOT, SCALE = "math.sqrt(key.size(-1))", " / math.sqrt(key.size(-1))"
SOFTMAX, OUTPUT = "F.softmax(scores, dim=-1)", "torch.bmm(weights, value)"
ORDER = "Scores, softmax, weighted sum."

MISTAKES = [
    Mistake("M2", "The scores are not divided by √d_k.", LOOK_SCALE, (SCALE, "")),
    Mistake("M3", "The scores are divided by d_k itself, or by its root twice.", LOOK_SCALE, (ROOT, "key.size(-1)")),
    Mistake("M3-inverse", "The scores are multiplied by √d_k.", LOOK_SCALE, (SCALE, f" * {ROOT}")),
    Mistake("M3-keys", "The scores are divided by the root of the number of keys.", LOOK_SCALE,
            (ROOT, "math.sqrt(key.size(1))")),
    Mistake("M3-batch", "The scores are divided by the root of the number of sentences.", LOOK_SCALE,
            (ROOT, "math.sqrt(len(key))")),
    Mistake("M1", "The softmax runs over the queries.", LOOK_AXIS, ("dim=-1", "dim=1")),
    Mistake("M1-batch", "The softmax runs over the batch.", LOOK_AXIS, ("dim=-1", "dim=0")),
    Mistake("M1-none", "No softmax was applied: the values are mixed by the scores themselves.", ORDER,
            (SOFTMAX, "scores")),
    Mistake("M3-late", "The weights were divided by √d_k, not the scores: the rows no longer sum to 1.",
            "The scores are scaled before the softmax.", (SCALE, ""), (SOFTMAX, f"{SOFTMAX} / {ROOT}")),
    Mistake("M9", "The softmax was applied to the mixed values, not to the scores.", ORDER,
            (OUTPUT, "F.softmax(torch.bmm(scores, value), dim=-1)")),
    Mistake("M9-axis", "The weighted values were summed over the wrong axis.",
            "For each query the sum runs over the keys.",
            (OUTPUT, "(weights[..., None] * value[:, None]).sum(1)")),
    Mistake("M9-mean", "Every value gets the same weight, whatever the query.", "The weights come from the scores.",
            (SOFTMAX, "torch.full_like(scores, 1 / scores.size(-1))")),
    Mistake("cut-width", "The output is cut to the length of a query.",
            "Each query gets a mix of values, as long as a value.", (OUTPUT, f"{OUTPUT}[..., : query.size(-1)]")),
    Mistake("cut-queries", "The output is cut to the number of keys.", "There is one vector for each query.",
            (OUTPUT, f"{OUTPUT}[:, : key.size(1)]")),
    CHANGED.by((SCALE, ""), ("torch.bmm(query,", f"torch.bmm(query.div_({ROOT}),")),
    Mistake("", "weights transposed", "", (OUTPUT, "torch.bmm(weights.transpose(1, 2), value)")),
]  # fmt: skip

HEAD = "def scaled_dot_product_attention(query, key, value):"
RIGHT = {
    "own steps": variant(HEAD, "return attention_weights(attention_scores(query, key)) @ value"),
    "ready made": variant(HEAD, "return F.scaled_dot_product_attention(query, key, value)"),
    "einsum": variant(HEAD, """
        w = torch.einsum('bnd,bmd->bnm', query, key).div(key.size(-1) ** 0.5).softmax(-1)
        return torch.einsum('bnm,bme->bne', w, value)
    """),
    "both": variant(HEAD, """
        w = F.softmax(query @ key.mT / math.sqrt(key.size(-1)), dim=-1)
        return w @ value, w
    """),
    "summed by hand": variant(HEAD, """
        s = query @ key.mT / key.size(-1) ** 0.5
        return (s.softmax(-1)[..., None] * value[:, None]).sum(2)
    """),
}  # fmt: skip

WITH_MASK = variant("def scaled_dot_product_attention(query, key, value, mask=None):", """
    s = query @ key.mT
    if mask is not None:
        s = s.masked_fill(mask == 0, -math.inf)
    return s.softmax(-1) @ value
""")  # fmt: skip
WRONG = [
    SampleAnswer("not scaled, with a mask neither: paid for once",
                 variant(HEAD, "return (query @ key.mT).softmax(-1) @ value"), points=0,
                 cells={"masked_attention_answer": WITH_MASK}, mistake="M2"),
]  # fmt: skip

EXERCISE = Exercise(
    cases, steps_together, MISTAKES, right=RIGHT, wrong=WRONG, framework="torch",
    accepted={"detach": "Nothing is trained with the notebook's functions: what counts is the value."},
    parts={"attention_scores": "attention_scores", "attention_weights": "attention_weights"},
    shows=("scaled once", "each query's weights sum to 1", "values are mixed by the weights"),
    axes={"output": "batch, n, d_v"},
)  # fmt: skip
