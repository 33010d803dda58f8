"""Dropout of the attention weights, of something else, or at the wrong time."""

from __future__ import annotations

from .._answers import right, wrong

CELL = "dot_product_attention_answer"
WEIGHTS = "weights = self.dropout(F.softmax(score, dim=2))"
DROPPED = "self.dropout(F.softmax(score, dim=2))"
SOFTMAX = "F.softmax(score, dim=2)"
OUT = "out = torch.bmm(weights, values)"

RIGHT = [
    right("two lines", (WEIGHTS, f"weights = {SOFTMAX}\n        weights = self.dropout(weights)")),
    right("functional dropout that is told the mode",
          (DROPPED, f"F.dropout({SOFTMAX}, self.dropout.p, self.training)")),
    right("drawn by hand", (WEIGHTS, f"weights = {SOFTMAX}\n        if self.training:\n"
          "            kept = torch.rand_like(weights) >= self.dropout.p\n"
          "            weights = weights * kept / (1 - self.dropout.p)")),
    right("in the line of the output", (WEIGHTS, f"weights = {SOFTMAX}"),
          (OUT, "out = self.dropout(weights) @ values")),
]  # fmt: skip

WRONG = [
    wrong("no dropout", "DROPOUT-none", (DROPPED, SOFTMAX)),
    wrong("scores dropped", "DROPOUT-scores", (DROPPED, "F.softmax(self.dropout(score), dim=2)")),
    wrong("values dropped", "DROPOUT-values", (DROPPED, SOFTMAX),
          (OUT, "out = torch.bmm(weights, self.dropout(values))")),
    wrong("output dropped", "DROPOUT-output", (DROPPED, SOFTMAX),
          (OUT, "out = self.dropout(torch.bmm(weights, values))")),
    wrong("dropped in eval mode, too", "M16", (DROPPED, f"F.dropout({SOFTMAX}, self.dropout.p)")),
    wrong("functional dropout with its defaults", "M16", (DROPPED, f"F.dropout({SOFTMAX})")),
    wrong("a rate of its own", "DROPOUT-rate", (DROPPED, f"F.dropout({SOFTMAX}, 0.1, self.training)")),
    wrong("what is kept does not grow", "DROPOUT-unscaled",
          (WEIGHTS, f"weights = {SOFTMAX}\n        if self.training:\n"
           "            weights = weights * (torch.rand_like(weights) >= self.dropout.p)")),
    wrong("values set to 0 before their use", "", (OUT, f"values.zero_()\n        {OUT}"),
          attention_output=0, attention_heads=0, attention_mask=0),
]  # fmt: skip
