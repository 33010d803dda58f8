"""From scores to the output of ``DotProductAttention``, with one head: softmax over the keys, then the weighted sum."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake

from ._answers import attention
from ._attention_cases import draw, torch_attention
from ._attention_rules import mixed


def cases(generator: np.random.Generator) -> list[Case]:
    """One head; the last case has scores in the thousands, of whole numbers, so that rounding plays no part."""
    made = [draw(generator, 2, 5, 1, 7), draw(generator, 3, 4, 1, 6)]
    inputs = {name: (40 * generator.integers(-9, 10, (2, 5, 1, 7))).astype(np.float32) for name in ("queries", "keys")}
    inputs["values"] = generator.integers(-9, 10, (2, 5, 1, 7)).astype(np.float32)
    return [*made, Case({}, inputs, expected={"output": torch_attention(**inputs)})]


# The lines of the solution that mistakes change.
WEIGHTS = "weights = self.dropout(F.softmax(score, dim=2))"
OUT = "out = torch.bmm(weights, values)"
SOFTMAX = "F.softmax(score, dim=2)"
AXIS = "Is the softmax told which axis to use?"

MISTAKES = [
    Mistake("M1", "Each query's weights must sum to 1 over the keys; yours sum to 1 over the queries.", AXIS,
            ("dim=2", "dim=1")),
    Mistake("M1-batch", "The softmax runs over the batch: the sentences of a batch share their weights.", AXIS,
            ("dim=2", "dim=0")),
    Mistake("M1-none", "The values were mixed with the raw scores: no softmax was applied.",
            "Scores become weights by a softmax.", (SOFTMAX, "score")),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough.", (SOFTMAX, f"F.softmax({SOFTMAX}, dim=2)")),
    Mistake("M9-late", "The softmax came after the values: each output sums to 1, and no weights were made.",
            "First the weights, then the weighted sum.", (WEIGHTS, "weights = self.dropout(score)"),
            (OUT, "out = F.softmax(torch.bmm(weights, values), dim=2)")),
    Mistake("M4-transposed", "The weights were transposed before they met the values.",
            "Row i of the weights belongs to query i and mixes the values of all keys.",
            (OUT, "out = torch.bmm(weights.transpose(1, 2), values)")),
    Mistake("M1-overflow", "Large scores give nan or inf.",
            "torch's own softmax subtracts the largest score first; exp alone overflows."
            ).by((SOFTMAX, "score.exp() / score.exp().sum(2, keepdim=True)")),
    CHANGED.by((OUT, f"{OUT}\n        values.zero_()")),
    CUT.by((SOFTMAX, f"{SOFTMAX}.detach()")),
    # outputs that are 0 do not show what is dropped
    Mistake("", "values set to 0 before their use", "", (OUT, f"values.zero_()\n        {OUT}"),
            also_costs={"attention_dropout": 0}),
]  # fmt: skip

RIGHT = {
    "torch's own attention": attention("""
        q, k_, v = (x.transpose(1, 2) for x in (queries, keys, values))
        allowed = None if mask is None else mask[:, None, None, :]
        rate = self.dropout.p if self.training else 0.0
        out = F.scaled_dot_product_attention(q, k_, v, attn_mask=allowed, dropout_p=rate)
        return out.transpose(1, 2).reshape(b, t, -1)
    """),
    "softmax of the last axis, and the operator @": [(SOFTMAX, "score.softmax(-1)"), (OUT, "out = weights @ values")],
    "exponential of the score less its logsumexp": [
        (SOFTMAX, "(score - score.logsumexp(dim=2, keepdim=True)).exp()"),
    ],
    "einsum": [(OUT, 'out = torch.einsum("bqm,bmk->bqk", weights, values)')],
    "a layer nn.Softmax, made on the spot": [(SOFTMAX, "nn.Softmax(dim=-1)(score)")],
    "torch.vmap over the rows of the batch": [(OUT, "out = torch.vmap(torch.matmul)(weights, values)")],
    "a softmax in float64, and back": [(SOFTMAX, "score.double().softmax(dim=-1).to(score.dtype)")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, mixed, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer",
    atol=2e-5, rtol=2e-4,
    shows=("each query's weights sum to 1", "the values are mixed by them", "large scores do no harm"),
    axes={"output": "b, t, k"},
)  # fmt: skip
