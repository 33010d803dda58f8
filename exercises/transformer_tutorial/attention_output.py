"""``mix`` in eval mode: from scores to the output, by a softmax over the keys and the weighted sum."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake

from .._attention import Array, softmax
from ._attention_rules import mixed


def cases(generator: np.random.Generator) -> list[Case]:
    """One has a batch of one; the last one has scores of several hundred, so that exponentials overflow."""
    return [_case(generator, *sizes) for sizes in ((2, 5, 7, 1.3), (3, 4, 6, 1.3), (1, 3, 5, 1.3), (2, 5, 7, 400.0))]


def _case(generator: np.random.Generator, b: int, t: int, k: int, size: float) -> Case:
    score: Array = generator.normal(0, size, (b, t, t)).astype(np.float32)
    values: Array = generator.normal(0, 1.5, (b, t, k)).astype(np.float32)
    output = softmax(score.astype(np.float64)) @ values.astype(np.float64)
    return Case({}, {"score": score, "values": values}, expected={"output": output})


# The lines of the solution that mistakes change.
WEIGHTS = "weights = self.dropout(F.softmax(score, dim=2))"
OUT = "return torch.bmm(weights, values)"
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
            (OUT, "return F.softmax(torch.bmm(weights, values), dim=2)")),
    Mistake("M4-transposed", "The weights were transposed before they met the values.",
            "Row i of the weights belongs to query i and mixes the values of all keys.",
            (OUT, "return torch.bmm(weights.transpose(1, 2), values)")),
    Mistake("M1-overflow", "Large scores give nan or inf.",
            "torch's own softmax subtracts the largest score first; exp alone overflows."
            ).by((SOFTMAX, "score.exp() / score.exp().sum(2, keepdim=True)")),
    CHANGED.by((OUT, f"out = {OUT.removeprefix('return ')}\n        values.zero_()\n        return out")),
    CUT.by((SOFTMAX, f"{SOFTMAX}.detach()")),
    DTYPE.by((SOFTMAX, f"{SOFTMAX}.double()"), (OUT, OUT.replace("values", "values.double()"))),
    Mistake("", "every value counted twice", "", (OUT, f"{OUT} * 2")),
]  # fmt: skip

RIGHT = {
    "torch's own attention, the scores as its mask": [
        (WEIGHTS, "rate, nothing = self.dropout.p if self.training else 0.0, torch.zeros_like(values)"),
        (OUT, "return F.scaled_dot_product_attention(nothing, nothing, values, attn_mask=score, dropout_p=rate)"),
    ],
    "softmax of the last axis, and the operator @": [(SOFTMAX, "score.softmax(-1)"), (OUT, "return weights @ values")],
    "exponential of the score less its logsumexp": [
        (SOFTMAX, "(score - score.logsumexp(dim=2, keepdim=True)).exp()"),
    ],
    "einsum": [(OUT, 'return torch.einsum("bqm,bmk->bqk", weights, values)')],
    "a layer nn.Softmax, made on the spot": [(SOFTMAX, "nn.Softmax(dim=-1)(score)")],
    "torch.vmap over the rows of the batch": [(OUT, "return torch.vmap(torch.matmul)(weights, values)")],
    "a softmax in float64, and back": [(SOFTMAX, "score.double().softmax(dim=-1).to(score.dtype)")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, mixed, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer",
    method="mix", atol=2e-5, rtol=2e-4,
    shows=("each query's weights sum to 1", "the values are mixed by them", "large scores do no harm"),
    axes={"output": "b * h, t, k"},
)  # fmt: skip
