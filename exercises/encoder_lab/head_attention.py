"""Attention as the method of a head: output and weights. In the last case exp alone overflows."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, Patch, compare_case

from ._answers import HEAD_INIT, LOOK_AXIS, LOOK_SCALE, METHOD
from ._arrays import normal
from ._layers import torch_attention


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, n, m, d, e, size in (
        (2, 5, 7, 4, 3, 1.3),
        (3, 6, 6, 9, 5, 1.3),
        (2, 3, 4, 5, 2, 100.0),
        (1, 4, 5, 6, 3, 1.3),
    ):
        inputs = {
            "query": normal(generator, batch, n, d, size=size),
            "key": normal(generator, batch, m, d, size=1.3),
            "value": normal(generator, batch, m, e),
        }
        unit_values = np.broadcast_to(np.eye(m), (batch, m, m))
        expected = {
            "output": torch_attention(*inputs.values()),
            "weights": torch_attention(inputs["query"], inputs["key"], unit_values),
        }
        made.append(Case({"d_model": 2 * d + e, "d_k": d, "d_q": d, "d_v": e}, inputs, expected=expected))
    return made


# Lines of the solution that mistakes change.
PRODUCTS = "q @ k.transpose(-2, -1)"
DOT, SOFTMAX, BOTH = f"{PRODUCTS} / sqrt(k.size(-1))", "scores.softmax(dim=-1)", "weights @ v, weights"
SUM = "Scores, softmax, weighted sum."


def attend(scores: str, weights: str = SOFTMAX, result: str = BOTH) -> Patch:
    return METHOD, f"scores = {scores}\nweights = {weights}\nreturn {result}"


MISTAKES = [
    Mistake("weights-scores", "What is returned second are the scores, not the weights.",
            "Return what the softmax gave.", attend(DOT, "scores")),
    Mistake("weights-scores", "What is returned second are the scores, not the weights.",
            "Return what the softmax gave.", attend(DOT, SOFTMAX, "weights @ v, scores")),
    Mistake("weights-order", "Output and weights are swapped.", "return output, weights",
            attend(DOT, SOFTMAX, "weights, weights @ v")),
    Mistake("M2", "The scores are not divided by √d_k.", LOOK_SCALE, attend(PRODUCTS)),
    Mistake("M3", "The scores are divided by d_k itself, or by its root twice.", LOOK_SCALE,
            attend(f"{PRODUCTS} / k.size(-1)")),
    Mistake("M3-inverse", "The scores are multiplied by √d_k.", LOOK_SCALE,
            attend(f"{PRODUCTS} * sqrt(k.size(-1))")),
    Mistake("M3-keys", "The scores are divided by the root of the number of keys.", LOOK_SCALE,
            attend(f"{PRODUCTS} / sqrt(k.size(1))")),
    Mistake("M3-batch", "The scores are divided by the root of the number of sentences.", LOOK_SCALE,
            attend(f"{PRODUCTS} / sqrt(len(k))")),
    Mistake("M1", "The softmax runs over the queries.", LOOK_AXIS, attend(DOT, "scores.softmax(dim=-2)")),
    Mistake("M1-batch", "The softmax runs over the batch.", LOOK_AXIS, attend(DOT, "scores.softmax(dim=0)")),
    Mistake("M1-none", "No softmax was applied: the values are mixed by the scores themselves.", SUM,
            attend(DOT, SOFTMAX, "scores @ v, weights")),
    Mistake("M3-late", "The weights were divided by √d_k, not the scores: the rows no longer sum to 1.",
            "The scores are scaled before the softmax.",
            attend(PRODUCTS, "scores.softmax(-1) / sqrt(k.size(-1))")),
    Mistake("M9-mean", "Every value gets the same weight, whatever the query.", "The weights come from the scores.",
            attend(DOT, "torch.ones_like(scores) / scores.size(-1)")),
    Mistake("", "returns the output alone", "", attend(DOT, SOFTMAX, "weights @ v")),
    Mistake("", "exp alone, which overflows", "", attend(DOT, "scores.exp() / scores.exp().sum(-1, keepdim=True)")),
    Mistake("", "keys not transposed", "", attend("q @ k / sqrt(k.size(-1))")),
]  # fmt: skip

RIGHT = {
    "loops": [(METHOD, """
        output = torch.zeros(q.size(0), q.size(1), v.size(2))
        weights = torch.zeros(q.size(0), q.size(1), k.size(1))
        for b in range(q.size(0)):
            for i in range(q.size(1)):
                row = torch.stack([torch.dot(q[b, i], key) / k.size(2) ** 0.5 for key in k[b]])
                weights[b, i] = torch.softmax(row, 0)
                for j in range(k.size(1)):
                    output[b, i] += weights[b, i, j] * v[b, j]
        return output, weights
    """)],
    "einsum": [(METHOD, """
        weights = torch.softmax(torch.einsum("bnd,bmd->bnm", q, k) / sqrt(q.shape[-1]), -1)
        return torch.einsum("bnm,bme->bne", weights, v), weights
    """)],
    "ready-made": [(METHOD, """
        output = nn.functional.scaled_dot_product_attention(q, k, v)
        unit = torch.eye(k.size(1)).expand(k.size(0), -1, -1)
        return output, nn.functional.scaled_dot_product_attention(q, k, unit)
    """)],
    "by hand, in float64": [(METHOD, """
        scores = torch.bmm(q, k.permute(0, 2, 1)).mul(k.size(-1) ** -0.5).double()
        shifted = (scores - scores.amax(-1, keepdim=True)).exp()
        weights = (shifted / shifted.sum(-1, keepdim=True)).to(v.dtype)
        return weights.bmm(v), weights
    """)],
    "the root kept in __init__": [(HEAD_INIT, """
        self.scale = sqrt(d_k)
        self.wq, self.wk, self.wv = (nn.Linear(d_model, d) for d in (d_q, d_k, d_v))
    """), (METHOD, """
        weights = torch.softmax(q.matmul(k.mT) / self.scale, dim=2)
        return weights.matmul(v), weights
    """)],
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    # of weights that are filled row by row, as in "loops", no gradient comes back either
    accepted={"AttentionHead-eb533d61": "What counts of this method is the value, not its gradient."},
    shows=("output and weights", "each row sums to 1", "scaled once", "large scores do no harm"),
    axes={"output": "batch, n, d_v", "weights": "batch, n, m"},
)  # fmt: skip
