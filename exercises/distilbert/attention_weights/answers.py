"""Blocks whose weights are right, in many styles, or wrong."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import MERGE, PROJECT, block, wrong

CELL = "attention_block_answer"

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

RIGHT = [
    block("exp of a log-softmax", LOG_SOFTMAX),
    block("the softmax as a layer", MODULE, more="self.softmax = nn.Softmax(dim=-1)"),
    block("a softmax in float64, keywords alone", DOUBLE),
    block("row by row in a comprehension", ROWS),
    block("head by head", HEAD_BY_HEAD),
    block("softmax by hand, the largest score subtracted", BY_HAND),
    block("softmax by logsumexp, context by a sum", LOG_SUM_EXP),
]


def _weights(name: str, mistake: str, softmax: str) -> SampleAnswer:
    """``softmax`` in place of the right-hand side of ``weights = ...``."""
    return wrong(name, mistake, ("weights = scores.softmax(dim=-1)", f"weights = {softmax}"))


WRONG = [
    _weights("over the queries", "M1", "scores.softmax(dim=-2)"),
    _weights("over the heads", "M1", "scores.softmax(dim=1)"),
    _weights("over the batch", "M1", "scores.softmax(dim=0)"),
    _weights("over queries and keys together", "M1", "scores.flatten(2).softmax(-1).view_as(scores)"),
    _weights("no softmax", "M1-none", "scores"),
    _weights("softmax twice", "M1-twice", "scores.softmax(-1).softmax(-1)"),
    _weights("a sigmoid", "M1-sigmoid", "torch.sigmoid(scores)"),
    _weights("divided by the sum, no exponential", "", "scores / scores.sum(-1, keepdim=True)"),
    _weights("exp that overflows", "M1-overflow", "scores.exp() / scores.exp().sum(-1, keepdim=True)"),
    _weights(
        "dropout that is never switched off", "M16", "nn.functional.dropout(scores.softmax(-1), 0.1, training=True)"
    ),
    _weights("dropout by mode train", "M16", "nn.Dropout(0.2)(scores.softmax(-1))"),
]
