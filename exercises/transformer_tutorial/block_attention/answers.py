"""Right and wrong first halves of ``TransformerBlock``."""

from __future__ import annotations

from .._answers import block, right, wrong

CELL = "transformer_block_answer"
FIRST = "x = self.norm_1(attended + x)"
ATTEND = "attended = self.attention(x, mask)"

RIGHT = [
    block("the assignment's own signature, without a mask", """
        def forward(self, x):
            attended = self.attention(x)
            x = self.norm_1(attended + x)
            feedforward = self.mlp(x)
            x = self.norm_2(feedforward + x)
            return x
    """),
    block("nested", """
        def forward(self, x, mask=None):
            h = self.norm_1(x + self.attention(x, mask))
            return self.norm_2(h + self.mlp(h))
    """),
    block("a helper for both halves", """
        def around(self, norm, sublayer, x):
            return norm(torch.add(sublayer(x), x))

        def forward(self, x, mask=None):
            x = self.around(self.norm_1, lambda y: self.attention(y, mask=mask), x)
            return self.around(self.norm_2, self.mlp, x)
    """),
    right("stacked and summed", (FIRST, "x = self.norm_1(torch.stack([x, attended]).sum(dim=0))")),
]  # fmt: skip

WRONG = [
    wrong("no skip", "M7", (FIRST, "x = self.norm_1(attended)")),
    wrong("nothing but the skip", "M7-attention", (FIRST, "x = self.norm_1(x)")),
    wrong("attended added to itself", "M7", (FIRST, "x = self.norm_1(attended + attended)")),
    wrong("norm before the sum", "M8", (FIRST, "x = self.norm_1(attended) + x")),
    wrong("pre-norm", "M8-pre", (ATTEND, "attended = self.attention(self.norm_1(x), mask)"),
          (FIRST, "x = attended + x")),
    wrong("no norm", "M8-none", (FIRST, "x = attended + x")),
    wrong("skip normalised", "M8-skip", (FIRST, "x = attended + self.norm_1(x)")),
    wrong("norm_2 in both places", "NORM-2", (FIRST, "x = self.norm_2(attended + x)")),
    wrong("x normalised first, and the skip behind the norm", "M8-normed",
          (ATTEND, "x = self.norm_1(x)\n        attended = self.attention(x, mask)"), (FIRST, "x = attended + x")),
    wrong("twice the skip", "", (FIRST, "x = self.norm_1(attended + 2 * x)")),
    wrong("network never called", "M7-mlp", ("feedforward = self.mlp(x)", "feedforward = x"), block_feed_forward=0),
    wrong("the sum cut from the graph", "CUT",
          ("self.norm_1(attended + x)", "self.norm_1(attended + x).detach()")),
    wrong("the attention cut from the graph", "CUT",
          ("self.norm_1(attended + x)", "self.norm_1(attended.detach() + x)")),
    wrong("added in place", "CHANGED", (FIRST, "x += attended\n        x = self.norm_1(x)")),
]  # fmt: skip
