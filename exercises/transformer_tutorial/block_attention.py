"""The first half of ``TransformerBlock``: what the feed-forward network is given must be norm_1 of the sum."""

from __future__ import annotations

from autograder.exercise import CHANGED, CUT, Exercise, Mistake

from ._answers import block
from ._block import make
from ._rules import NEVER_FED, first_half

# The lines of the solution that mistakes change.
FIRST = "x = self.norm_1(attended + x)"
ATTEND = "attended = self.attention(x, mask)"
RESIDUAL = ("The residual connection around the attention is missing.", "Add the input to the attention's output.")

MISTAKES = [
    Mistake("M7", *RESIDUAL, (FIRST, "x = self.norm_1(attended)")),
    Mistake("M7", *RESIDUAL, (FIRST, "x = self.norm_1(attended + attended)")),
    Mistake("M7-attention", "What the attention gave is missing: only x was normalised.",
            "Add the input to the attention's output.", (FIRST, "x = self.norm_1(x)")),
    Mistake("M8", "The LayerNorm comes before the addition.", "Post-LN: add first, then normalise the sum.",
            (FIRST, "x = self.norm_1(attended) + x")),
    Mistake("M8-pre", "This is a pre-LN block: x was normalised before the attention.",
            "Here the sum is normalised, after the attention.",
            (ATTEND, "attended = self.attention(self.norm_1(x), mask)"), (FIRST, "x = attended + x")),
    Mistake("M8-none", "The sum was not normalised.", "norm_1 takes the sum.", (FIRST, "x = attended + x")),
    Mistake("M8-skip", "x was normalised before it was added.", "The skip takes x as it is.",
            (FIRST, "x = attended + self.norm_1(x)")),
    Mistake("NORM-2", "norm_2 was used where norm_1 belongs.", "Each of the two has its own learned scale and shift.",
            (FIRST, "x = self.norm_2(attended + x)")),
    Mistake("M8-normed", "x was normalised first, and the skip starts after the norm.",
            "Post-LN: nothing happens to x before it is added.",
            (ATTEND, "x = self.norm_1(x)\n        attended = self.attention(x, mask)"), (FIRST, "x = attended + x")),
    Mistake("SKIP-twice", "The skip is added twice.", "One x, and once what the attention gives.",
            (FIRST, "x = self.norm_1(attended + 2 * x)")),
    CUT.by(("self.norm_1(attended + x)", "self.norm_1(attended + x).detach()")),
    CUT.by(("self.norm_1(attended + x)", "self.norm_1(attended.detach() + x)")),
    CHANGED.by((FIRST, "x += attended\n        x = self.norm_1(x)")),
    NEVER_FED,
]  # fmt: skip

RIGHT = {
    "the assignment's own signature, without a mask": block("""
        def forward(self, x):
            attended = self.attention(x)
            x = self.norm_1(attended + x)
            feedforward = self.mlp(x)
            x = self.norm_2(feedforward + x)
            return x
    """),
    "nested": block("""
        def forward(self, x, mask=None):
            h = self.norm_1(x + self.attention(x, mask))
            return self.norm_2(h + self.mlp(h))
    """),
    "a helper for both halves": block("""
        def around(self, norm, sublayer, x):
            return norm(torch.add(sublayer(x), x))

        def forward(self, x, mask=None):
            x = self.around(self.norm_1, lambda y: self.attention(y, mask=mask), x)
            return self.around(self.norm_2, self.mlp, x)
    """),
    "stacked and summed": [(FIRST, "x = self.norm_1(torch.stack([x, attended]).sum(dim=0))")],
}  # fmt: skip

EXERCISE = Exercise(
    make, first_half, MISTAKES, right=RIGHT, framework="torch", cell="transformer_block_answer",
    shows=("norm_1 takes the sum", "the skip carries x as it is"),
    axes=dict.fromkeys(("between", "output"), "b, t, k"),
)  # fmt: skip
