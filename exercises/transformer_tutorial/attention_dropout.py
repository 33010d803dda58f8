"""Dropout on the attention weights, in ``mix``: in train mode alone, at the rate that the module was made with."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from .._attention import softmax
from ._attention_rules import dropped
from ._rules import RATE


def cases(generator: np.random.Generator) -> list[Case]:
    """One head. Value j is a 1 at place j, and a 1 at place t in all of them.

    So the first t numbers of an output are the weights as they were used, and the next one is their sum, unless
    something was dropped after the weights. Queries and keys are for whoever has no method of that name.
    """
    b, t, k = 3, 6, 9
    inputs = {name: generator.normal(0, 1, (b, t, 1, k)).astype(np.float32) for name in ("queries", "keys")}
    values = np.zeros((b, t, 1, k), dtype=np.float32)
    values[:, :, 0, :t] = np.eye(t)
    values[..., t] = 1
    queries, keys = (x[:, :, 0].astype(np.float64) for x in inputs.values())
    score = np.einsum("bqk,bmk->bqm", queries, keys) / k**0.5
    given = {**inputs, "values": values, "score": score.astype(np.float32)}
    return [Case({"rate": RATE}, given, expected={"evaluated": softmax(score) @ values[:, :, 0]})]


# The lines of the solution that mistakes change.
WEIGHTS = "weights = self.dropout(F.softmax(score, dim=2))"
DROPPED = "self.dropout(F.softmax(score, dim=2))"
SOFTMAX = "F.softmax(score, dim=2)"
OUT = "return torch.bmm(weights, values)"
EVAL = Mistake("M16", "In eval mode two calls on the same input differ: something is still dropped.",
               "nn.Dropout knows whether the module is in train or in eval mode; functional dropout must be told."
               )  # fmt: skip

MISTAKES = [
    EVAL.by((DROPPED, f"F.dropout({SOFTMAX}, self.dropout.p)")),
    EVAL.by((DROPPED, f"F.dropout({SOFTMAX})")),
    Mistake("DROPOUT-none", "In train mode nothing is dropped.", "The assignment's __init__ made a dropout layer."
            ).by((DROPPED, SOFTMAX)),
    Mistake("DROPOUT-scores", "In train mode the weights change, but none becomes 0.",
            "Were the scores dropped, before the softmax? Weights are what should be."
            ).by((DROPPED, "F.softmax(self.dropout(score), dim=2)")),
    Mistake("DROPOUT-values", "A value is dropped for all queries alike.",
            "It is the weights that are dropped: each query loses other keys."
            ).by((DROPPED, SOFTMAX), (OUT, "return torch.bmm(weights, self.dropout(values))")),
    Mistake("DROPOUT-output", "The output was dropped, number by number; the weights should be.",
            "Which tensor has one number for each query and key?"
            ).by((DROPPED, SOFTMAX), (OUT, "return self.dropout(torch.bmm(weights, values))")),
    Mistake("DROPOUT-unscaled", "What is kept keeps its size, so that on average each output shrinks.",
            "nn.Dropout divides what it keeps by the share that is kept."
            ).by((WEIGHTS, f"weights = {SOFTMAX}\n        if self.training:\n"
                  "            weights = weights * (torch.rand_like(weights) >= self.dropout.p)")),
    Mistake("DROPOUT-rate", "The share that is dropped is not the one that the module was made with.",
            "Use the dropout layer of __init__.").by((DROPPED, f"F.dropout({SOFTMAX}, 0.1, self.training)")),
]  # fmt: skip

RIGHT = {
    "two lines": [(WEIGHTS, f"weights = {SOFTMAX}\n        weights = self.dropout(weights)")],
    "functional dropout that is told the mode": [(DROPPED, f"F.dropout({SOFTMAX}, self.dropout.p, self.training)")],
    "drawn by hand": [
        (WEIGHTS, f"weights = {SOFTMAX}\n        if self.training:\n"
         "            kept = torch.rand_like(weights) >= self.dropout.p\n"
         "            weights = weights * kept / (1 - self.dropout.p)"),
    ],
    "a layer made on the spot, in the module's mode": [
        (WEIGHTS, f"weights = nn.Dropout(self.dropout.p).train(self.training)({SOFTMAX})"),
    ],
    "zeros of a Bernoulli trial": [
        (WEIGHTS, f"weights = {SOFTMAX}\n        if self.training:\n            share = 1 - self.dropout.p\n"
         "            weights = weights * torch.bernoulli(torch.full_like(weights, share)) / share"),
    ],
    "in the line of the output": [(WEIGHTS, f"weights = {SOFTMAX}"), (OUT, "return self.dropout(weights) @ values")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, dropped, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer", method="mix",
    shows=("weights are dropped in train mode", "nothing is in eval mode"),
)  # fmt: skip
