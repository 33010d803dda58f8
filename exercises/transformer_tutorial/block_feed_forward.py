"""The second half of ``TransformerBlock``: norm_2 of the feed-forward network's input plus its output."""

from __future__ import annotations

from autograder.exercise import CHANGED, CUT, DTYPE, Exercise, Mistake

from ._answers import block
from ._block import make
from ._rules import BLOCK_MISTAKES, second_half

# The lines of the solution that mistakes change.
SECOND = "return self.norm_2(feedforward + x)"
FEED = "feedforward = self.mlp(x)"
ATTEND = "attended = self.attention(x, mask)"
AROUND = "The skip goes around the feed-forward network: it carries the network's own input."
RESIDUAL = ("The residual connection around the feed-forward network is missing.",
            "Add the feed-forward network's input to its output.")  # fmt: skip
NO_NETWORK = ("What the feed-forward network gave is missing.", "Add the network's output to its input.")

ATTENTION, MASK, SIZES, NORMS, NETWORK = BLOCK_MISTAKES
MISTAKES = [
    Mistake("M7-ffn", *RESIDUAL, (SECOND, "return self.norm_2(feedforward)")),
    Mistake("M7-ffn", *RESIDUAL, (SECOND, "return self.norm_2(feedforward + feedforward)")),
    Mistake("M7-place", "The second residual comes from the wrong place: from the block's input.", AROUND,
            (ATTEND, f"source = x\n        {ATTEND}"), (SECOND, "return self.norm_2(feedforward + source)")),
    Mistake("M7-mlp", *NO_NETWORK, (SECOND, "return self.norm_2(x)")),
    Mistake("M7-mlp", *NO_NETWORK, (FEED, "feedforward = x")),
    Mistake("M7-mlp-out", "What comes out is norm_1's output: the second half is missing.",
            "Feed-forward network, add, norm_2.", (SECOND, "return x")),
    Mistake("M7-attended", "The second residual is the attention's output.", AROUND,
            (SECOND, "return self.norm_2(feedforward + attended)")),
    Mistake("M8", "The LayerNorm comes before the addition.", "Post-LN: add first, then normalise the sum.",
            (SECOND, "return self.norm_2(feedforward) + x")),
    Mistake("M8-none", "The sum was not normalised.", "norm_2 takes the sum.", (SECOND, "return feedforward + x")),
    Mistake("M8-none-skip", "Neither skip nor norm: the feed-forward network's output comes out bare.",
            "Add, then norm_2.", (SECOND, "return feedforward")),
    Mistake("NORM-1", "norm_1 was used twice.", "Each of the two has its own learned scale and shift.",
            (SECOND, "return self.norm_1(feedforward + x)")),
    ATTENTION.by(("self.attention = SelfAttention(k, heads=heads)", "pass")),
    MASK.by((ATTEND, ATTEND.replace(", mask", ""))),
    SIZES.by(("SelfAttention(k, heads=heads)", "SelfAttention(k)")),
    NORMS.by(("norm_1 = nn.LayerNorm(k)", "norm_1 = nn.LayerNorm(k, bias=False)")),
    NETWORK.by(("nn.ReLU()", "nn.GELU()")),
    CUT.by(("self.mlp(x)", "self.mlp(x.detach())")),
    DTYPE.by((SECOND, f"{SECOND}.double()")),
    CHANGED.by((ATTEND, f"source = x\n        {ATTEND}"), (FEED, f"{FEED}\n        source.zero_()")),
    Mistake("", "the network fed the attention's output", "", (FEED, "feedforward = self.mlp(attended)")),
    Mistake("", "nothing returned", "", (SECOND, "self.norm_2(feedforward + x)")),
]  # fmt: skip

RIGHT = {
    "functional norms, layers of the network one by one": block("""
        def forward(self, x, mask=None):
            norm = nn.functional.layer_norm
            x = norm(self.attention(x, mask) + x, x.shape[-1:], self.norm_1.weight, self.norm_1.bias, self.norm_1.eps)
            y = x
            for layer in self.mlp:
                y = layer(y)
            return norm(y + x, x.shape[-1:], self.norm_2.weight, self.norm_2.bias, self.norm_2.eps)
    """),
    "normalised by hand": block("""
        def norm(self, layer, x):
            x = x.double()
            centred = x - x.mean(-1, keepdim=True)
            scaled = centred / (centred.square().mean(-1, keepdim=True) + layer.eps).sqrt()
            return (scaled * layer.weight + layer.bias).float()

        def forward(self, x, mask=None):
            x = self.norm(self.norm_1, torch.stack([x, self.attention(x, mask)]).sum(0))
            return self.norm(self.norm_2, x.clone().add_(self.mlp(x)))
    """),
    "in two lines": [(SECOND, "x = x + feedforward\n        return self.norm_2(x)")],
    "__call__ overridden, a walrus": block("""
        def __call__(self, *given, **named):
            return self.forward(*given, **named)

        def forward(self, x, mask=None):
            return self.norm_2((x := self.norm_1(x + self.attention(x, mask))) + self.mlp(x))
    """),
    "both halves through one method, functional_call": block("""
        def half(self, norm, sublayer, x):
            return torch.func.functional_call(norm, dict(norm.named_parameters()), (x + sublayer(x),))

        def forward(self, x, mask=None):
            x = self.half(self.norm_1, lambda states: self.attention(states, mask), x)
            return self.half(self.norm_2, self.mlp, x)
    """),
    "the first half called h, the sum in place": [
        ("x = self.norm_1(attended + x)", "h = self.norm_1(attended + x)"),
        (FEED, "h += self.mlp(h)"), (SECOND, "return self.norm_2(h)"),
    ],
}  # fmt: skip

EXERCISE = Exercise(
    make, second_half, MISTAKES, right=RIGHT, framework="torch", cell="transformer_block_answer",
    shows=("the skip goes around the network", "norm_2 takes the sum", "given lines as they were"),
    axes=dict.fromkeys(("between", "output"), "b, t, k"),
)  # fmt: skip
