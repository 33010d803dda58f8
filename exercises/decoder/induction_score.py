"""The induction score, number by number with Python's own sums."""

from __future__ import annotations

import math

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, pure, variant


def cases(generator: np.random.Generator) -> list[Case]:
    """Causal weights; the last case has two repetitions and a half."""
    made = []
    for batch, heads, tokens, period in ((2, 3, 8, 4), (3, 2, 14, 7), (2, 4, 13, 5)):
        weights = np.tril(generator.uniform(0.1, 1, (batch, heads, tokens, tokens)))
        weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
        scores = [_score(weights[:, head], period) for head in range(heads)]
        made.append(Case({"period": period}, {"weights": weights}, expected={"scores": np.array(scores)}))
    return made


def _score(weights: np.ndarray, period: int) -> float:
    """The mean weight (batch, tokens, tokens) of the token after the copy, for queries from ``period`` on."""
    batch, tokens, _ = weights.shape
    looked = [float(weights[row, t, t - period + 1]) for row in range(batch) for t in range(period, tokens)]
    return math.fsum(looked) / len(looked)


HEAD = "def induction_score(weights, period):"
# Lines of the solution that mistakes change.
OFFSET = "1 - period"
PICKED = "looked[..., 1:]"
MEAN = f"{PICKED}.mean(dim=(0, 2))"

MISTAKES = [
    Mistake("IND-copy", "This is the weight of the earlier copy itself.", "The token after it: one position further.",
            (OFFSET, "-period"), (PICKED, "looked")),
    Mistake("IND-previous", "This is the weight of the token before.",
            "An induction head looks at what followed the earlier copy.", (OFFSET, "-1"), ("1:", "period - 1 :")),
    Mistake("IND-two", "This is the weight of the token two positions after the copy.",
            "One position after it: period - 1 back.", (OFFSET, "2 - period"), ("1:", "2:")),
    Mistake("IND-first", "A query without an earlier copy was counted: the last one of the first round.",
            "The diagonal begins one query too early.", (PICKED, "looked")),
    Mistake("IND-late", "A query was left out: the first one of the second round.", "Queries from period on count.",
            ("1:", "2:")),
    Mistake("IND-over", "The sum was divided by the number of all queries.",
            "Only those with an earlier copy count.",
            (MEAN, f"{PICKED}.sum(dim=2).mean(dim=0) / weights.shape[-1]")),
    Mistake("IND-sum", "The weights were summed.", "The score is their mean.", ("mean", "sum")),
    Mistake("IND-max", "This is the largest weight.", "The score is the mean.", ("mean", "amax")),
    Mistake("IND-heads", "The mean runs over the heads.", "One score for each head: over batch and queries.",
            ("(0, 2)", "(1, 2)")),
    Mistake("IND-batch", "There is a score for each sequence.", "The mean runs over the batch as well.",
            ("(0, 2)", "2")),
    Mistake("IND-all", "The mean runs over the heads, too.", "One score for each head.", ("dim=(0, 2)", "")),
    Mistake("IND-forwards", "Queries and keys are swapped.",
            "The key stands before its query: below the diagonal.", (OFFSET, "period - 1")),
    CHANGED.by(("looked = weights", "looked = weights.mul_(1 + 0 * period).mul_(1.0 + 1e-6)")),
]  # fmt: skip

RIGHT = {
    "a loop over the queries": variant(HEAD, """
        found = [weights[:, :, query, query - period + 1] for query in range(period, weights.shape[-1])]
        return torch.stack(found).mean(dim=(0, 1))
    """),
    "indices": variant(HEAD, """
        queries = torch.arange(period, weights.shape[2])
        return weights[:, :, queries, queries + 1 - period].mean(dim=-1).mean(dim=0)
    """),
    "a mask": variant(HEAD, """
        t = weights.shape[-1]
        query, key = torch.meshgrid(torch.arange(t), torch.arange(t), indexing="ij")
        follows = (query - key == period - 1) & (query >= period)
        return (weights * follows).sum(dim=(0, 2, 3)) / (follows.sum() * weights.shape[0])
    """),
    "gathered": variant(HEAD, """
        later = weights[:, :, period:]
        keys = torch.arange(later.shape[2]) + 1
        index = keys.expand(*later.shape[:2], -1).unsqueeze(-1)
        return later.gather(-1, index).squeeze(-1).transpose(0, 1).flatten(1).mean(1)
    """),
    "the trace of a part": variant(HEAD, """
        part = weights[:, :, period:, 1:]
        return part.diagonal(dim1=2, dim2=3).sum(-1).mean(0) / (weights.shape[2] - period)
    """),
    "einsum": [(MEAN, f'torch.einsum("bhq->h", {PICKED}) / looked[:, 0, 1:].numel()')],
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch",
    shows=("one number for each head", "the token after the copy", "queries with a copy only"),
    accepted={"induction_score-38667688": "A list of the same numbers is as right."},
    axes={"scores": "heads"},
)  # fmt: skip
