"""Part 3 of the attention block: the weights, a softmax of the scores over the keys."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake, SampleAnswer, dropout_at_work

from ._block_cases import sizes, softmax
from ._rules import part


def cases(generator: np.random.Generator) -> list[Case]:
    """The last one has scores of several hundred."""
    return [_case(generator, (2, 3, 5, 7)), _case(generator, (1, 4, 6, 4)), _case(generator, (2, 3, 5, 6), 200)]


def _case(generator: np.random.Generator, shape: tuple[int, ...], size: float = 1.5) -> Case:
    scores = generator.normal(0, size, shape).astype(np.float32)
    return Case(sizes(shape[1], 4), {"scores": scores}, expected={"attention_weights": softmax(scores)})


#: The line of the solution that mistakes change.
SOFTMAX = "return scores.softmax(dim=-1)"
ROWS = "Each query's weights must sum to 1 over the keys (last axis)"
FROM_SCORES = "Weights are what the softmax makes of the scores."


def over(axis: str, softmax: str) -> Mistake:
    return Mistake("M1", f"{ROWS}; yours sum to 1 over {axis}.", "Is the softmax told which axis to use?",
                   (SOFTMAX, f"return {softmax}"))  # fmt: skip


MISTAKES = [
    Mistake("M1-overflow", "The weights hold nan or inf when the scores are large.",
            "Use torch's own softmax: it subtracts the largest score first.",
            (SOFTMAX, "return scores.exp() / scores.exp().sum(-1, keepdim=True)")),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough.",
            (SOFTMAX, "return scores.softmax(-1).softmax(-1)")),
    over("axis 2, the queries", "scores.softmax(dim=-2)"),
    over("axis 1, the heads", "scores.softmax(dim=1)"),
    over("axis 0, the batch", "scores.softmax(dim=0)"),
    over("queries and keys together", "scores.flatten(2).softmax(-1).view_as(scores)"),
    Mistake("M1-none", "These are the scores themselves: no softmax was applied.", FROM_SCORES,
            (SOFTMAX, "return scores")),
    Mistake("M1-log", "These are the logarithms of the weights.", FROM_SCORES,
            (SOFTMAX, "return scores.log_softmax(-1)")),
    Mistake("M1-sigmoid", f"{ROWS}; yours come from a sigmoid, each on its own.", FROM_SCORES,
            (SOFTMAX, "return torch.sigmoid(scores)")),
    Mistake("M1-sigmoid-sum", "The weights are sigmoids, divided by their sum: that is no softmax.", FROM_SCORES,
            (SOFTMAX, "return torch.sigmoid(scores) / torch.sigmoid(scores).sum(-1, keepdim=True)")),
    Mistake("M1-linear", "The scores were divided by their sum: the exponential is missing.", FROM_SCORES,
            (SOFTMAX, "return scores / scores.sum(-1, keepdim=True)")),
    Mistake("M1-equal", "Every key gets the same weight, whatever the query.", "The weights must come from the scores.",
            (SOFTMAX, "return torch.full_like(scores, 1 / scores.shape[-1])")),
    CHANGED.by((SOFTMAX, "return scores.sub_(1).softmax(-1)")),
    DTYPE.by((SOFTMAX, "return scores.double().softmax(-1)")),
    dropout_at_work("The weights").by(
        (SOFTMAX, "return nn.functional.dropout(scores.softmax(-1), 0.1, training=True)")
    ),
]  # fmt: skip

RIGHT = {
    "exp of a log-softmax": [(SOFTMAX, "return torch.exp(nn.functional.log_softmax(scores, dim=-1))")],
    "the softmax as a layer": [
        ("self.config = config", "self.config = config\n        self.softmax = nn.Softmax(dim=-1)"),
        (SOFTMAX, "return self.softmax(scores)"),
    ],
    "a softmax in float64, keywords alone": [
        (SOFTMAX, "return nn.functional.softmax(input=scores, dim=-1, dtype=torch.float64).to(scores.dtype)")
    ],
    "row by row": [
        (
            SOFTMAX,
            "rows = scores.reshape(-1, scores.shape[-1])\n"
            "        return torch.stack([row.softmax(0) for row in rows]).view_as(scores)",
        )
    ],
    "softmax by hand, the largest score subtracted": [
        (SOFTMAX, "e = torch.exp(scores - scores.amax(-1, keepdim=True))\n        return e / e.sum(-1, keepdim=True)")
    ],
    "softmax by logsumexp": [(SOFTMAX, "return (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()")],
}
# a layer that is made in the method is in training mode, whatever the block is
WRONG = [SampleAnswer("dropout by mode train", changes=((SOFTMAX, "return nn.Dropout(0.2)(scores.softmax(-1))"),),
                      points=0, mistake="M16")]  # fmt: skip

EXERCISE = Exercise(
    cases, part, MISTAKES, right=RIGHT, wrong=WRONG, framework="torch", cell="attention_block_answer",
    method="attention_weights", given=("scores",),
    shows=("each row sums to 1 over the keys", "none is negative", "large scores do no harm"),
    axes={"attention_weights": "batch, heads, queries, keys"},
)  # fmt: skip
