"""Part 3 of the attention block: the weights, a softmax of the scores over the keys."""

from __future__ import annotations

import numpy as np

from autograder.exercise import DTYPE, Case, Exercise, Mistake, SampleAnswer, dropout_at_work

from ._answers import MERGE, PROJECT, block
from ._block_cases import expecting, huge_case, ordinary_cases
from ._rules import weights_alone


def cases(generator: np.random.Generator) -> list[Case]:
    """The last one has scores of several hundred."""
    return expecting([*ordinary_cases(generator), huge_case(generator)], "weights")


#: The right-hand side of ``weights = …``.
SOFTMAX = "scores.softmax(dim=-1)"
ROWS = "Each query's weights must sum to 1 over the keys (last axis)"
FROM_SCORES = "Weights are what the softmax makes of the scores."


def over(axis: str, softmax: str) -> Mistake:
    return Mistake("M1", f"{ROWS}; yours sum to 1 over {axis}.", "Is the softmax told which axis to use?",
                   (SOFTMAX, softmax))  # fmt: skip


MISTAKES = [
    Mistake("M1-overflow", "The weights hold nan or inf when the scores are large.",
            "Use torch's own softmax: it subtracts the largest score first.",
            (SOFTMAX, "scores.exp() / scores.exp().sum(-1, keepdim=True)")),
    Mistake("M1-twice", "The softmax was applied twice.", "Once is enough.",
            (SOFTMAX, "scores.softmax(-1).softmax(-1)")),
    over("axis 2, the queries", "scores.softmax(dim=-2)"),
    over("axis 1, the heads", "scores.softmax(dim=1)"),
    over("axis 0, the batch", "scores.softmax(dim=0)"),
    over("queries and keys together", "scores.flatten(2).softmax(-1).view_as(scores)"),
    Mistake("M1-none", "These are the scores themselves: no softmax was applied.", FROM_SCORES, (SOFTMAX, "scores")),
    Mistake("M1-sigmoid", f"{ROWS}; yours come from a sigmoid, each on its own.", FROM_SCORES,
            (SOFTMAX, "torch.sigmoid(scores)")),
    Mistake("M1-sigmoid-sum", "The weights are sigmoids, divided by their sum: that is no softmax.", FROM_SCORES,
            (SOFTMAX, "torch.sigmoid(scores) / torch.sigmoid(scores).sum(-1, keepdim=True)")),
    Mistake("M1-linear", "The scores were divided by their sum: the exponential is missing.", FROM_SCORES,
            (SOFTMAX, "scores / scores.sum(-1, keepdim=True)")),
    Mistake("M1-equal", "Every key gets the same weight, whatever the query.", "The weights must come from the scores.",
            (SOFTMAX, "torch.full_like(scores, 1 / tokens)")),
    DTYPE.by((SOFTMAX, "scores.double().softmax(-1)")),
    dropout_at_work("The weights").by((SOFTMAX, "nn.functional.dropout(scores.softmax(-1), 0.1, training=True)")),
]  # fmt: skip

# What right answers write.
HEAD_BY_HEAD = """
q, k, v = self.q_lin(hidden_states), self.k_lin(hidden_states), self.v_lin(hidden_states)
all_weights, all_contexts = [], []
for head in range(heads):
    part = slice(head * size, (head + 1) * size)
    scores = torch.bmm(q[:, :, part], k[:, :, part].transpose(1, 2)) / math.sqrt(size)
    all_weights.append(scores.softmax(dim=-1))
    all_contexts.append(torch.bmm(all_weights[-1], v[:, :, part]))
weights = torch.stack(all_weights, dim=1)
context = torch.cat(all_contexts, dim=-1)
"""
BY_HAND = (
    PROJECT
    + """
scores = q @ k.transpose(-2, -1)
scores = scores - scores.max(dim=-1, keepdim=True).values
exponentials = torch.exp(scores)
weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
context = weights @ v
"""
    + MERGE
)
LOG_SUM_EXP = (
    PROJECT
    + """
scores = q @ k.transpose(-2, -1)
weights = (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()
context = (weights[..., None] * v[:, :, None]).sum(3)
"""
    + MERGE
)

LOG_SOFTMAX = (
    PROJECT
    + """
weights = torch.exp(nn.functional.log_softmax(q @ k.mT, dim=-1))
context = torch.einsum("...qk,...kd->...qd", weights, v)
"""
    + MERGE
)
MODULE = (
    PROJECT
    + """
weights = self.softmax(torch.einsum("bhqd,bhkd->bhqk", q, k))
context = weights @ v
"""
    + MERGE
)
DOUBLE = (
    PROJECT
    + """
weights = nn.functional.softmax(input=q @ k.mT, dim=-1, dtype=torch.float64).to(hidden_states.dtype)
context = weights @ v
"""
    + MERGE
)
ROWS = (
    PROJECT
    + """
weights = torch.stack([torch.stack([(one @ k[b, h].T).softmax(0) for one in q[b, h]])
                       for b in range(batch) for h in range(heads)]).view(batch, heads, tokens, tokens)
context = weights @ v
"""
    + MERGE
)

RIGHT = {
    "exp of a log-softmax": block(LOG_SOFTMAX),
    "the softmax as a layer": block(MODULE, more="self.softmax = nn.Softmax(dim=-1)"),
    "a softmax in float64, keywords alone": block(DOUBLE),
    "row by row in a comprehension": block(ROWS),
    "head by head": block(HEAD_BY_HEAD),
    "softmax by hand, the largest score subtracted": block(BY_HAND),
    "softmax by logsumexp, context by a sum": block(LOG_SUM_EXP),
}
# a layer that is made in forward is in training mode, whatever the block is
WRONG = [SampleAnswer("dropout by mode train", changes=((SOFTMAX, "nn.Dropout(0.2)(scores.softmax(-1))"),),
                      points=0, mistake="M16")]  # fmt: skip

EXERCISE = Exercise(
    cases, weights_alone, MISTAKES, right=RIGHT, wrong=WRONG, framework="torch", cell="attention_block_answer",
    shows=("each row sums to 1 over the keys", "none is negative", "large scores do no harm"),
    axes={"weights": "batch, heads, queries, keys"},
)  # fmt: skip
