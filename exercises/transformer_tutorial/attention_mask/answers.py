"""Right and wrong ways to keep padding out of the attention."""

from __future__ import annotations

from .._answers import attention, right, wrong

CELL = "dot_product_attention_answer"
MASK = 'score = score.masked_fill(padding, float("-inf"))'
WEIGHTS = "weights = self.dropout(F.softmax(score, dim=2))"
OUT = "out = torch.bmm(weights, values)"
REPEATED = "mask.repeat_interleave(h, dim=0)"

RIGHT = [
    attention("a large negative number in place of minus infinity", """
        fold = lambda x: x.transpose(1, 2).flatten(0, 1)
        score = self.calculate_score(fold(queries), fold(keys))
        if mask is not None:
            score = score + (mask.repeat_interleave(h, 0)[:, None].float() - 1) * 1e9
        weights = F.dropout(score.softmax(-1), self.dropout.p, self.training)
        return (weights @ fold(values)).unflatten(0, (b, h)).transpose(1, 2).flatten(2)
    """),
    right("expanded over the heads", (REPEATED, "mask[:, None].expand(b, h, t).reshape(b * h, t)")),
    right("rows masked as well, by a large number",
          (MASK, "score = score.masked_fill(padding, -1e9).masked_fill(padding.transpose(1, 2), -1e9)")),
    right("where", (MASK, 'score = torch.where(padding, float("-inf"), score)')),
    right("weights masked behind the softmax, and divided by their sum", (MASK, ""),
          (WEIGHTS, "weights = F.softmax(score, dim=2)\n        if mask is not None:\n"
           "            weights = weights * ~padding\n            weights = weights / weights.sum(2, keepdim=True)\n"
           "        weights = self.dropout(weights)")),
]  # fmt: skip

WRONG = [
    wrong("mask not used", "M10-ignored", (MASK, "")),
    wrong("mask inverted", "M10-inverted", ("~mask.repeat", "mask.repeat")),
    wrong("scores of padding set to 0", "M10-zeros", ('float("-inf")', "0.0")),
    wrong("weights masked behind the softmax", "M10-after", (MASK, ""),
          (OUT, f"if mask is not None:\n            weights = weights.masked_fill(padding, 0.0)\n        {OUT}")),
    wrong("masks in the wrong order", "M10-tiled", (REPEATED, "mask.repeat(h, 1)")),
    wrong("rows masked in place of columns", "M10-ignored", (".unsqueeze(1)", ".unsqueeze(2)")),
    wrong("rows masked as well", "M10-rows",
          (MASK, 'score = score.masked_fill(padding, -math.inf).masked_fill(padding.transpose(1, 2), -math.inf)')),
    wrong("minus infinity times 0", "M10-nan", (MASK, 'score = score + float("-inf") * padding')),
    wrong("a small penalty", "", (MASK, "score = score - 1.0 * padding")),
]  # fmt: skip
