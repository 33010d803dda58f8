"""Right and wrong induction scores."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import function, right, wrong

LOOKED = "weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)"
ACCEPTED = {"detach": "A score is a measurement, through which nobody trains."}
MEAN = "looked[..., 1:].mean(dim=(0, 2))"


def score(name: str, lines: str) -> SampleAnswer:
    return function(name, "induction_score(weights, period)", lines)


RIGHT = [
    score("a loop over the queries", """
        found = [weights[:, :, query, query - period + 1] for query in range(period, weights.shape[-1])]
        return torch.stack(found).mean(dim=(0, 1))
    """),
    score("indices", """
        queries = torch.arange(period, weights.shape[2])
        return weights[:, :, queries, queries + 1 - period].mean(dim=-1).mean(dim=0)
    """),
    score("a mask", """
        t = weights.shape[-1]
        query, key = torch.meshgrid(torch.arange(t), torch.arange(t), indexing="ij")
        behind = (query - key == period - 1) & (query >= period)
        return (weights * behind).sum(dim=(0, 2, 3)) / (behind.sum() * weights.shape[0])
    """),
    score("gathered", """
        later = weights[:, :, period:]
        keys = torch.arange(later.shape[2]) + 1
        index = keys.expand(*later.shape[:2], -1).unsqueeze(-1)
        return later.gather(-1, index).squeeze(-1).transpose(0, 1).flatten(1).mean(1)
    """),
    score("the trace of a part", """
        part = weights[:, :, period:, 1:]
        return part.diagonal(dim1=2, dim2=3).sum(-1).mean(0) / (weights.shape[2] - period)
    """),
    right("einsum", (MEAN, 'torch.einsum("bhq->h", looked[..., 1:]) / looked[:, 0, 1:].numel()')),
]  # fmt: skip

WRONG = [
    wrong("the copy itself", "IND-copy", (LOOKED, LOOKED.replace("1 - period", "-period")),
          (MEAN, MEAN.replace("[..., 1:]", ""))),
    wrong("the token before", "IND-previous", (LOOKED, LOOKED.replace("1 - period", "-1")),
          (MEAN, "looked[..., period - 1 :].mean(dim=(0, 2))")),
    wrong("two behind the copy", "IND-two", (LOOKED, LOOKED.replace("1 - period", "2 - period")),
          (MEAN, MEAN.replace("1:", "2:"))),
    wrong("one query too many", "IND-first", (MEAN, "looked.mean(dim=(0, 2))")),
    wrong("one query too few", "IND-late", (MEAN, MEAN.replace("1:", "2:")), unseen=True),
    wrong("over all queries", "IND-over", (MEAN, "looked[..., 1:].sum(dim=2).mean(dim=0) / weights.shape[-1]")),
    wrong("a sum", "IND-sum", (MEAN, "looked[..., 1:].sum(dim=(0, 2))")),
    wrong("the largest", "IND-max", (MEAN, "looked[..., 1:].amax(dim=(0, 2))")),
    wrong("over the heads", "IND-heads", (MEAN, "looked[..., 1:].mean(dim=(1, 2))")),
    wrong("a score for each sequence", "IND-batch", (MEAN, "looked[..., 1:].mean(dim=2)")),
    wrong("one number", "IND-all", (MEAN, "looked[..., 1:].mean()")),
    wrong("upper diagonal", "IND-forwards", (LOOKED, LOOKED.replace("1 - period", "period - 1"))),
    wrong("changed in place", "CHANGED", ("looked = weights", "looked = weights.mul_(1 + 0 * period).mul_(1.0 + 1e-6)"),
          unseen=True),
]  # fmt: skip

ACCEPTED = {"induction_score-38667688": "A list of the same numbers is as right."}
