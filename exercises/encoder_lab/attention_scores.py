"""Scaled dot products of every query with every key."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, SampleAnswer, pure

from ._answers import LOOK_SCALE, returning
from ._arrays import normal


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, n, m, d in ((2, 5, 7, 4), (3, 6, 4, 9), (4, 3, 5, 2), (1, 4, 3, 6)):
        query, key = normal(generator, batch, n, d), normal(generator, batch, m, d)
        scores = np.einsum("bnd,bmd->bnm", query.astype(np.float64), key.astype(np.float64)) / d**0.5
        made.append(Case({}, {"query": query, "key": key}, expected={"scores": scores}))
    return made


HEAD = "def attention_scores(query, key):"
returns = returning(HEAD)
LENGTH = "The last axis of query and key says how long a vector is."

MISTAKES = [
    Mistake("M2", "Your scores are √d_k times too large: they were not divided.", LOOK_SCALE,
            returns("query @ key.transpose(1, 2)")),
    Mistake("M3", "Your scores are divided by d_k itself, or by its root twice.", LOOK_SCALE,
            returns("query @ key.transpose(1, 2) / key.size(-1)")),
    Mistake("M3-inverse", "Your scores are multiplied by √d_k.", LOOK_SCALE,
            returns("query @ key.transpose(1, 2) * math.sqrt(key.size(-1))")),
    Mistake("M3-keys", "Your scores are divided by the root of the number of keys.", LENGTH,
            returns("query @ key.transpose(1, 2) / math.sqrt(key.size(1))")),
    Mistake("M3-queries", "Your scores are divided by the root of the number of queries.", LENGTH,
            returns("query @ key.transpose(1, 2) / math.sqrt(query.size(1))")),
    Mistake("M3-batch", "Your scores are divided by the root of the batch size.", LENGTH,
            returns("query @ key.transpose(1, 2) / math.sqrt(len(key))")),
    Mistake("M4-swap", "Query and key are swapped: entry (i, j) is how token j asks for token i.",
            "Rows are queries, columns are keys.", returns("key @ query.transpose(1, 2) / math.sqrt(key.size(-1))")),
    Mistake("M1-early", "These are weights already: a softmax was applied.", "The softmax is the next step.",
            returns("F.softmax(query @ key.transpose(1, 2) / math.sqrt(key.size(-1)), -1)")),
    CHANGED.by(returns("query.div_(math.sqrt(key.size(-1))) @ key.transpose(1, 2)")),
]  # fmt: skip

RIGHT = {
    "torch.vmap": returns("torch.vmap(lambda q, k: q @ k.T / math.sqrt(k.shape[-1]))(query, key)"),
    "a comprehension": returns("torch.stack([torch.mm(q, k.T).div(k.size(-1) ** 0.5) for q, k in zip(query, key)])"),
    "einsum": returns("torch.einsum('bnd,bmd->bnm', query, key) / key.shape[-1] ** 0.5"),
    "queries scaled": returns("(query / math.sqrt(query.size(-1))) @ key.mT"),
    "added up": returns("(query[:, :, None] * key[:, None]).sum(-1) / math.sqrt(key.size(2))"),
    "sentence by sentence": returns("torch.stack([(q @ k.T) * q.size(1) ** -0.5 for q, k in zip(query, key)])"),
    "in float64": returns("(query.double() @ key.double().transpose(-1, -2) / math.sqrt(key.size(-1))).float()"),
}  # fmt: skip

TOGETHER = """def scaled_dot_product_attention(query, key, value):
    return attention_weights(attention_scores(query, key)) @ value
"""
WRONG = [
    SampleAnswer("not scaled, and the steps put together: paid for once", returns("query @ key.mT"), points=0,
                 cells={"scaled_dot_product_attention_answer": TOGETHER}, mistake="M2"),
]  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, wrong=WRONG, framework="torch",
    accepted={"detach": "Nothing is trained with the notebook's functions: what counts is the value."},
    shows=("every query meets every key", "rows are queries", "scaled once"),
    axes={"scores": "batch, n, m"},
)  # fmt: skip
