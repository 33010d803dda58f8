"""Right and wrong ways to fold the heads into the batch and to unfold them again."""

from __future__ import annotations

from .._answers import Change, attention, right, wrong

CELL = "dot_product_attention_answer"
FOLDED = ".transpose(1, 2).reshape(b * h, t, k)"
UNFOLD = "out = out.view(b, h, t, k).transpose(1, 2)"
RETURN = "return out.reshape(b, t, h * k)"


def fold(how: str) -> Change:
    """All three folded in another way."""
    return FOLDED, how


RIGHT = [
    attention("views of contiguous tensors, as many tutorials write it", """
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
    attention("einsum, nothing folded", """
        scores = torch.einsum("bqhk,bmhk->bhqm", queries, keys) / k**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
        weights = self.dropout(scores.softmax(dim=-1))
        return torch.einsum("bhqm,bmhk->bqhk", weights, values).flatten(2)
    """),
    attention("a loop over the heads, in float64", """
        outs = []
        for head in range(h):
            q, k_, v = (x[:, :, head].double() for x in (queries, keys, values))
            scores = (q @ k_.mT) * k**-0.5
            if mask is not None:
                scores = torch.where(mask.unsqueeze(1), scores, torch.tensor(-1e30, dtype=torch.float64))
            outs.append(self.dropout(torch.softmax(scores, -1)) @ v)
        return torch.cat(outs, dim=-1).float()
    """),
    right("flattened and unflattened", fold(".transpose(1, 2).flatten(0, 1)"),
          (UNFOLD, "out = out.unflatten(0, (b, h)).transpose(1, 2)")),
    attention("heads taken apart and laid end to end", """
        folded = [torch.stack(x.unbind(2), dim=1).flatten(0, 1) for x in (queries, keys, values)]
        score = self.calculate_score(folded[0], folded[1])
        if mask is not None:
            score = torch.where(mask.repeat_interleave(h, dim=0)[:, None], score, -torch.inf)
        out = self.dropout(score.softmax(dim=-1)) @ folded[2]
        return torch.cat(out.unflatten(0, (b, h)).unbind(1), dim=-1)
    """),
]  # fmt: skip

WRONG = [
    wrong("folded by view alone", "M5", fold(".reshape(b * h, t, k)")),
    wrong("folded and unfolded by view alone", "M5-both", fold(".reshape(b * h, t, k)"), (UNFOLD, "")),
    wrong("(k, h) in place of (h, k)", "M5-inter",
          fold(".reshape(b, t, k, h).permute(0, 3, 1, 2).reshape(b * h, t, k)")),
    wrong("heads first", "M5-first", fold(".permute(2, 0, 1, 3).reshape(b * h, t, k)")),
    wrong("unfolded by view alone", "M6", (UNFOLD, "")),
    wrong("heads interleaved in the output", "M6-inter", (UNFOLD, "out = out.view(b, h, t, k).permute(0, 2, 3, 1)")),
    wrong("heads averaged", "", (UNFOLD, "return out.view(b, h, t, k).mean(1)")),
    wrong("the result not returned", "", (RETURN, "out = out.reshape(b, t, h * k)")),
]  # fmt: skip
