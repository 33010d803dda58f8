"""Scores become weights: a softmax over the keys. In the last case exp alone overflows."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, variant

from ._answers import LOOK_AXIS, returning
from ._arrays import normal
from ._rules import finite_weights


def cases(generator: np.random.Generator) -> list[Case]:
    import torch

    made = []
    for batch, n, m, size in ((2, 5, 7, 1.5), (3, 6, 4, 1.5), (2, 4, 3, 800.0), (1, 3, 5, 1.5)):
        scores = normal(generator, batch, n, m, size=size)
        expected = torch.from_numpy(scores.astype(np.float64)).softmax(-1).numpy()
        made.append(Case({}, {"scores": scores}, expected={"weights": expected}))
    return made


HEAD = "def attention_weights(scores):"
returns = returning(HEAD)

MISTAKES = [
    Mistake("M1", "Your weights sum to 1 over the queries; each query's must do so over the keys (last axis).",
            LOOK_AXIS, returns("F.softmax(scores, dim=1)")),
    Mistake("M1-batch", "Your weights sum to 1 over the batch; each query's must do so over the keys (last axis).",
            LOOK_AXIS, returns("F.softmax(scores, dim=0)")),
    Mistake("M1-all", "All weights of a sentence together sum to 1; each query's must do so.", LOOK_AXIS,
            returns("F.softmax(scores.flatten(1), dim=-1).view(scores.shape)")),
    Mistake("M1-log", "These are the weights' logarithms.", "A softmax, not a log-softmax.",
            returns("F.log_softmax(scores, dim=-1)")),
    Mistake("M1-none", "These are the scores themselves: no softmax was applied.",
            "Weights are what the softmax makes of them.", returns("scores")),
    Mistake("M1-sigmoid", "Each weight was made of its own score alone (a sigmoid).",
            "The weights of a query share a sum of 1.", returns("torch.sigmoid(scores)")),
    Mistake("M1-linear", "The scores were divided by their sum; without exponential, weights can be negative.",
            "A softmax takes the exponential first.", returns("scores / scores.sum(-1, keepdim=True)")),
    Mistake("M1-exp", "The exponentials are there, but not divided by their sum.", "Each row must sum to 1.",
            returns("scores.exp()")),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough.",
            returns("F.softmax(F.softmax(scores, -1), -1)")),
    Mistake("M1-overflow", "The weights hold nan or inf when the scores are large.",
            "Use torch's own softmax: it takes away the largest score first.",
            returns("scores.exp() / scores.exp().sum(-1, keepdim=True)"), by_rule=True),
    CHANGED.by(returns("F.softmax(scores.sub_(scores.amax(-1, keepdim=True)), -1)")),
]  # fmt: skip

RIGHT = {
    "method": returns("scores.softmax(2)"),
    "module": returns("nn.Softmax(dim=-1)(scores)"),
    "by hand": variant(HEAD, """
        e = (scores - scores.max(-1, keepdim=True).values).exp()
        return e / e.sum(-1, keepdim=True)
    """),
    "by logarithms": returns("torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))"),
    "row by row": returns("torch.stack([torch.stack([row.softmax(0) for row in matrix]) for matrix in scores])"),
}  # fmt: skip

EXERCISE = Exercise(
    cases, finite_weights, MISTAKES, right=RIGHT, framework="torch",
    accepted={"detach": "Nothing is trained with the notebook's functions: what counts is the value."},
    shows=("each row sums to 1 over the keys", "large scores do no harm"),
    axes={"weights": "batch, n, m"},
)  # fmt: skip
