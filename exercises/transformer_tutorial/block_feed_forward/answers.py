"""Right and wrong second halves of ``TransformerBlock``."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import block, right, wrong

CELL = "transformer_block_answer"
SECOND = "return self.norm_2(feedforward + x)"
ATTEND = "attended = self.attention(x, mask)"

RIGHT = [
    SampleAnswer("functional norms, layers of the network one by one", block("""
        def forward(self, x, mask=None):
            norm = nn.functional.layer_norm
            x = norm(self.attention(x, mask) + x, x.shape[-1:], self.norm_1.weight, self.norm_1.bias, self.norm_1.eps)
            y = x
            for layer in self.mlp:
                y = layer(y)
            return norm(y + x, x.shape[-1:], self.norm_2.weight, self.norm_2.bias, self.norm_2.eps)
    """)),
    SampleAnswer("normalised by hand", block("""
        def norm(self, layer, x):
            x = x.double()
            centred = x - x.mean(-1, keepdim=True)
            scaled = centred / (centred.square().mean(-1, keepdim=True) + layer.eps).sqrt()
            return (scaled * layer.weight + layer.bias).float()

        def forward(self, x, mask=None):
            x = self.norm(self.norm_1, torch.stack([x, self.attention(x, mask)]).sum(0))
            return self.norm(self.norm_2, x.clone().add_(self.mlp(x)))
    """)),
    right("in two lines", (SECOND, "x = x + feedforward\n        return self.norm_2(x)")),
    SampleAnswer("__call__ overridden, a walrus", block("""
        def __call__(self, *given, **named):
            return self.forward(*given, **named)

        def forward(self, x, mask=None):
            return self.norm_2((x := self.norm_1(x + self.attention(x, mask))) + self.mlp(x))
    """)),
    SampleAnswer("both halves through one method, functional_call", block("""
        def half(self, norm, sublayer, x):
            return torch.func.functional_call(norm, dict(norm.named_parameters()), (x + sublayer(x),))

        def forward(self, x, mask=None):
            x = self.half(self.norm_1, lambda states: self.attention(states, mask), x)
            return self.half(self.norm_2, self.mlp, x)
    """)),
]  # fmt: skip

WRONG = [
    wrong("no second skip", "M7-ffn", (SECOND, "return self.norm_2(feedforward)")),
    wrong("second skip from the block's input", "M7-place", (ATTEND, f"source = x\n        {ATTEND}"),
          (SECOND, "return self.norm_2(feedforward + source)")),
    wrong("network called and not used", "M7-mlp", (SECOND, "return self.norm_2(x)")),
    wrong("second half forgotten", "M7-mlp-out", (SECOND, "return x")),
    wrong("second skip from the attention", "M7-attended", (SECOND, "return self.norm_2(feedforward + attended)")),
    wrong("norm before the second sum", "M8", (SECOND, "return self.norm_2(feedforward) + x")),
    wrong("no second norm", "M8-none", (SECOND, "return feedforward + x")),
    wrong("neither skip nor norm", "M8-none-skip", (SECOND, "return feedforward")),
    wrong("norm_1 in both places", "NORM-1", (SECOND, "return self.norm_1(feedforward + x)")),
    wrong("network's output twice", "M7-ffn", (SECOND, "return self.norm_2(feedforward + feedforward)")),
    wrong("nothing returned", "", (SECOND, "self.norm_2(feedforward + x)")),
    wrong("the network's input cut from the graph", "CUT", ("self.mlp(x)", "self.mlp(x.detach())")),
    wrong("always eight heads", "GIVEN-sizes", ("SelfAttention(k, heads=heads)", "SelfAttention(k)"), unseen=True),
    wrong("a norm without scale", "GIVEN-norms",
          ("norm_1 = nn.LayerNorm(k)", "norm_1 = nn.LayerNorm(k, bias=False)"), unseen=True),
    wrong("another activation", "GIVEN-network", ("nn.ReLU()", "nn.GELU()"), unseen=True),
]  # fmt: skip
