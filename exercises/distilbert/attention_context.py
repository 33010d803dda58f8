"""Part 4 of the attention block: the context."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._block_cases import heads, sizes, softmax
from ._rules import part


def cases(generator: np.random.Generator) -> list[Case]:
    """As many queries as keys: a transposed matrix fits as well."""
    return [_case(generator, *sizes) for sizes in ((2, 3, 5, 5, 4), (1, 4, 6, 6, 2))]


def _case(generator: np.random.Generator, batch: int, n_heads: int, queries: int, keys: int, size: int) -> Case:
    weights = softmax(generator.normal(0, 1.5, (batch, n_heads, queries, keys))).astype(np.float32)
    v = heads(generator, batch, n_heads, keys, size)
    context = np.einsum("bhqk,bhkd->bhqd", weights.astype(np.float64), v.astype(np.float64))
    return Case(sizes(n_heads, size), {"weights": weights, "v": v}, expected={"attention_context": context})


# The line of the solution that mistakes change.
CONTEXT = "return weights @ v"
MISTAKES = [
    Mistake("M4-transposed", "The weights were transposed before they met the values: each key collected from the "
            "queries.", "Row i of the weights belongs to query i and mixes the values of all keys.",
            (CONTEXT, "return weights.transpose(-2, -1) @ v")),
    Mistake("M9", "The sum runs over the queries: each token's own value, times what all queries give it.",
            "A query's context sums over the keys, the last axis of its weights.",
            (CONTEXT, 'return torch.einsum("bhqk,bhkd->bhkd", weights, v)')),
    Mistake("M9-softmax", "The weights went through the softmax a second time.", "They sum to 1 already.",
            (CONTEXT, "return weights.softmax(-1) @ v")),
    Mistake("M6", "The heads are merged here; forward does that in the next line.", "Return one context for each head.",
            (CONTEXT, "return (weights @ v).transpose(1, 2).flatten(2)")),
    Mistake("CLS", "Every query gets the context of the first.", "One row of weights for each query.",
            (CONTEXT, "return (weights @ v)[:, :, :1].expand(-1, -1, weights.shape[2], -1)")),
    DTYPE.by((CONTEXT, "return weights.double() @ v.double()")),
    dropout_at_work("The contexts").by((CONTEXT, "return nn.functional.dropout(weights, 0.1) @ v")),
    CHANGED.by((CONTEXT, "context = weights @ v\n        weights.zero_()\n        return context")),
]  # fmt: skip

RIGHT = {
    name: [(CONTEXT, f"return {code}")]
    for name, code in {
        "einsum": 'torch.einsum("...qk,...kd->...qd", weights, v)',
        "a weighted sum": "(weights[..., None] * v[:, :, None]).sum(3)",
        "bmm": "torch.bmm(weights.flatten(0, 1), v.flatten(0, 1)).unflatten(0, weights.shape[:2])",
        "head by head": "torch.stack([weights[:, h] @ v[:, h] for h in range(v.shape[1])], dim=1)",
        "the other way round": "(v.mT @ weights.mT).mT",
        "dropout that knows eval mode": "nn.functional.dropout(weights, 0.1, training=self.training) @ v",
    }.items()
}

EXERCISE = Exercise(
    cases, part, MISTAKES, right=RIGHT, framework="torch", cell="attention_block_answer",
    method="attention_context", given=("weights", "v"),
    shows=("values are mixed by the weights", "one context for each query and head"),
    axes={"attention_context": "batch, heads, queries, dim_per_head"},
)  # fmt: skip
