"""Dropout on the attention weights: in train mode, at the rate that the module was made with, and nowhere else."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ._attention_cases import torch_attention
from ._attention_rules import dropped
from ._rules import RATE


def cases(generator: np.random.Generator) -> list[Case]:
    """One head. Value j is a 1 at place j, and a 1 at place t in all of them.

    So the first t numbers of an output are the weights as they were used, and the next one is their sum, unless
    something was dropped after the weights. ``shares`` are ready-made weights, the same for keys and queries.
    """
    b, t, k = 3, 6, 9
    inputs = {name: generator.normal(0, 1, (b, t, 1, k)).astype(np.float32) for name in ("queries", "keys")}
    values = np.zeros((b, t, 1, k), dtype=np.float32)
    values[:, :, 0, :t] = np.eye(t)
    values[..., t] = 1
    inputs["values"] = values
    drawn = generator.uniform(0.1, 0.3, (b, t, t)).astype(np.float32)
    shares = drawn + drawn.swapaxes(1, 2)
    expected = {"evaluated": torch_attention(**inputs)}
    return [Case({"rate": RATE}, {**inputs, "shares": shares}, expected=expected)]


# The lines of the solution that mistakes change.
WEIGHTS = "weights = self.dropout(F.softmax(score, dim=2))"
DROPPED = "self.dropout(F.softmax(score, dim=2))"
SOFTMAX = "F.softmax(score, dim=2)"
OUT = "out = torch.bmm(weights, values)"
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
            ).by((DROPPED, SOFTMAX), (OUT, "out = torch.bmm(weights, self.dropout(values))")),
    Mistake("DROPOUT-output", "The output was dropped, number by number; the weights should be.",
            "Which tensor has one number for each query and key?"
            ).by((DROPPED, SOFTMAX), (OUT, "out = self.dropout(torch.bmm(weights, values))")),
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
    "in the line of the output": [(WEIGHTS, f"weights = {SOFTMAX}"), (OUT, "out = self.dropout(weights) @ values")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, dropped, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer",
    shows=("weights are dropped in train mode", "nothing is in eval mode"),
)  # fmt: skip
