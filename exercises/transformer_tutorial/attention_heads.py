"""``DotProductAttention`` with several heads: folding them into the batch, and unfolding them again."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake

from ._answers import attention
from ._attention_cases import draw
from ._attention_rules import folded


def cases(generator: np.random.Generator) -> list[Case]:
    return [draw(generator, 2, 5, 3, 4), draw(generator, 3, 2, 4, 5)]


# The lines of the solution that mistakes change.
FOLDED = ".transpose(1, 2).reshape(b * h, t, k)"
UNFOLD = "out = out.view(b, h, t, k).transpose(1, 2)"
RETURN = "return out.reshape(b, t, h * k)"
SCORE = "score = self.calculate_score(queries, keys)"
ORDER = "In which order must the axes stand before b and h can become one?"

MISTAKES = [
    Mistake("M5",
            "The heads are folded into the batch by view alone: a row of the batch mixes numbers of several tokens.",
            ORDER, (FOLDED, ".reshape(b * h, t, k)")),
    Mistake("M5-both", "Heads were folded and unfolded by view alone: each row of the batch mixes several tokens.",
            ORDER, (FOLDED, ".reshape(b * h, t, k)"), (UNFOLD, "")),
    Mistake("M5-inter", "The last two axes were taken for (k, h); they are (h, k).",
            "Print the shape of queries before the first step.",
            (FOLDED, ".reshape(b, t, k, h).permute(0, 3, 1, 2).reshape(b * h, t, k)")),
    Mistake("M5-first", "Folded as (h, b), but unfolded as (b, h): the heads of different sentences were exchanged.",
            "Fold and unfold must agree on which of the two axes comes first.",
            (FOLDED, ".permute(2, 0, 1, 3).reshape(b * h, t, k)")),
    Mistake("M6", "The heads were unfolded without being moved back after the tokens.",
            "Exchange the head axis and the token axis before the last two axes become one.", (UNFOLD, "")),
    Mistake("M6-inter", "In the output the heads are interleaved: number by number, not one head after the other.",
            "The last axis is (h, k), in this order.", (UNFOLD, "out = out.view(b, h, t, k).permute(0, 2, 3, 1)")),
    Mistake("", "heads averaged", "", (UNFOLD, "return out.view(b, h, t, k).mean(1)")),
    Mistake("", "the result not returned", "", (RETURN, "out = out.reshape(b, t, h * k)")),
    CHANGED.by(("queries = queries.transpose", "whole = queries\n        queries = queries.transpose"),
               (RETURN, f"whole.zero_()\n        {RETURN}")),
    CUT.by((RETURN, f"{RETURN}.detach()")),
]  # fmt: skip

RIGHT = {
    "views of contiguous tensors, as many tutorials write it": attention("""
        keys = keys.transpose(1, 2).contiguous().view(b * h, t, k)
        queries = queries.transpose(1, 2).contiguous().view(b * h, t, k)
        values = values.transpose(1, 2).contiguous().view(b * h, t, k)
        score = self.calculate_score(queries, keys)
        if mask is not None:
            score[~mask[:, None, None].expand(b, h, t, t).reshape(b * h, t, t)] = -math.inf
        softmax_weights = F.softmax(score, dim=2)
        out = torch.bmm(self.dropout(softmax_weights), values).view(b, h, t, k)
        return out.transpose(1, 2).contiguous().view(b, t, h * k)
    """),
    "einsum, nothing folded": attention("""
        scores = torch.einsum("bqhk,bmhk->bhqm", queries, keys) / k**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
        weights = self.dropout(scores.softmax(dim=-1))
        return torch.einsum("bhqm,bmhk->bqhk", weights, values).flatten(2)
    """),
    "einops": attention("""
        from einops import rearrange, repeat

        queries, keys, values = (rearrange(x, "b t h k -> (b h) t k") for x in (queries, keys, values))
        score = self.calculate_score(queries, keys)
        if mask is not None:
            score = score.masked_fill(~repeat(mask, "b t -> (b h) 1 t", h=h), -torch.inf)
        out = self.dropout(score.softmax(dim=-1)) @ values
        return rearrange(out, "(b h) t k -> b t (h k)", h=h)
    """),
    "a loop over the heads, in float64": attention("""
        outs = []
        for head in range(h):
            q, k_, v = (x[:, :, head].double() for x in (queries, keys, values))
            scores = (q @ k_.mT) * k**-0.5
            if mask is not None:
                scores = torch.where(mask.unsqueeze(1), scores, torch.tensor(-1e30, dtype=torch.float64))
            outs.append(self.dropout(torch.softmax(scores, -1)) @ v)
        return torch.cat(outs, dim=-1).float()
    """),
    "flattened and unflattened": [
        (FOLDED, ".transpose(1, 2).flatten(0, 1)"), (UNFOLD, "out = out.unflatten(0, (b, h)).transpose(1, 2)"),
    ],
    "heads taken apart and laid end to end": attention("""
        folded = [torch.stack(x.unbind(2), dim=1).flatten(0, 1) for x in (queries, keys, values)]
        score = self.calculate_score(folded[0], folded[1])
        if mask is not None:
            score = torch.where(mask.repeat_interleave(h, dim=0)[:, None], score, -torch.inf)
        out = self.dropout(score.softmax(dim=-1)) @ folded[2]
        return torch.cat(out.unflatten(0, (b, h)).unbind(1), dim=-1)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, folded, MISTAKES, right=RIGHT, framework="torch", cell="dot_product_attention_answer",
    atol=2e-5, rtol=2e-4, shows=("each head gives what it gives alone", "heads stand one after the other"),
    axes={"output": "b, t, h * k"},
)  # fmt: skip
