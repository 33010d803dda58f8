"""Right and wrong blocks."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import module, right, wrong

FIRST = "x = x + self.self_attn(self.input_layernorm(x), cos, sin)"
SECOND = "return x + self.mlp(self.post_attention_layernorm(x))"
INIT = """
    self.input_layernorm = RMSNorm(dim)
    self.self_attn = GroupedQueryAttention(dim, heads, kv_heads)
    self.post_attention_layernorm = RMSNorm(dim)
    self.mlp = SwiGLU(dim, hidden)
"""


def block(name: str, lines: str, init: str = INIT) -> SampleAnswer:
    return module(name, "ModernBlock", "dim, heads, kv_heads, hidden", init, "x, cos, sin", lines)


RIGHT = [
    right("every part called by keyword",
          (FIRST, "x = x + self.self_attn(x=self.input_layernorm(x=x), sin=sin, cos=cos)"),
          (SECOND, "return x + self.mlp(x=self.post_attention_layernorm(x=x))")),
    block("step by step, as in Llama", """
        residual = x
        x = self.input_layernorm(x)
        x = self.self_attn(x, cos, sin)
        x = residual + x
        residual = x
        x = self.mlp(self.post_attention_layernorm(x))
        return residual + x
    """),
    block("one expression", """
        return (h := self.self_attn(self.input_layernorm(x), cos, sin) + x) + self.mlp(self.post_attention_layernorm(h))
    """),
    block("keywords, and torch's own norm", """
        x = torch.add(x, self.self_attn(self.input_layernorm(x), cos=cos, sin=sin))
        return torch.add(x, self.mlp(self.post_attention_layernorm(x)))
    """, """
        self.input_layernorm = nn.RMSNorm(dim, eps=1e-6)
        self.post_attention_layernorm = nn.RMSNorm(dim, eps=1e-6)
        self.self_attn = GroupedQueryAttention(dim=dim, heads=heads, kv_heads=kv_heads)
        self.mlp = SwiGLU(dim=dim, hidden=hidden)
    """),
    block("a loop over both halves", """
        halves = [
            (self.input_layernorm, lambda y: self.self_attn(y, cos, sin)),
            (self.post_attention_layernorm, self.mlp),
        ]
        for norm, sublayer in halves:
            x = sublayer(norm(x)) + x
        return x
    """),
    block("a helper method", """
        def around(norm, sublayer, y, *tables):
            return y + sublayer(norm(y), *tables)

        h = around(self.input_layernorm, self.self_attn, x, cos, sin)
        return around(self.post_attention_layernorm, self.mlp, h)
    """),
    right("summed in a stack", (SECOND, "return torch.stack([x, self.mlp(self.post_attention_layernorm(x))]).sum(0)")),
]  # fmt: skip

WRONG = [
    wrong("no first skip", "BLOCK-skip-1", (FIRST, FIRST.replace("x + ", ""))),
    wrong("no second skip", "BLOCK-skip-2", (SECOND, SECOND.replace("x + ", ""))),
    wrong("no skips", "BLOCK-skips", (FIRST, FIRST.replace("x + ", "")), (SECOND, SECOND.replace("x + ", ""))),
    wrong("second skip from the input", "BLOCK-start", (FIRST, FIRST.replace("x = x", "h = x")),
          (SECOND, "return x + self.mlp(self.post_attention_layernorm(h))")),
    wrong("post-norm", "BLOCK-post", (FIRST, "x = self.input_layernorm(x + self.self_attn(x, cos, sin))"),
          (SECOND, "return self.post_attention_layernorm(x + self.mlp(x))")),
    wrong("normalised skips", "BLOCK-normed",
          (FIRST, "x = self.input_layernorm(x)\n        x = x + self.self_attn(x, cos, sin)"),
          (SECOND, "x = self.post_attention_layernorm(x)\n        return x + self.mlp(x)")),
    wrong("attention without norm", "BLOCK-norm-1", (FIRST, "x = x + self.self_attn(x, cos, sin)")),
    wrong("network without norm", "BLOCK-norm-2", (SECOND, "return x + self.mlp(x)")),
    wrong("one norm twice", "BLOCK-same", (SECOND, SECOND.replace("post_attention_layernorm", "input_layernorm"))),
    wrong("norms exchanged", "BLOCK-exchange", (FIRST, FIRST.replace("input_layernorm", "post_attention_layernorm")),
          (SECOND, SECOND.replace("post_attention_layernorm", "input_layernorm"))),
    wrong("side by side", "BLOCK-parallel", (FIRST, FIRST.replace("x = x", "h = x")),
          (SECOND, "return h + self.mlp(self.post_attention_layernorm(x))")),
    wrong("network first", "BLOCK-order", (FIRST, "x = x + self.mlp(self.post_attention_layernorm(x))"),
          (SECOND, "return x + self.self_attn(self.input_layernorm(x), cos, sin)")),
    wrong("no attention", "BLOCK-attention", (FIRST, "pass")),
    wrong("no network", "BLOCK-network", (SECOND, "return x")),
    wrong("a shared norm", "MADE-missing", ("self.post_attention_layernorm = RMSNorm(dim)",
                                            "self.post_attention_layernorm = self.input_layernorm"), points=0),
    wrong("in place", "CHANGED", (FIRST, FIRST.replace("x = x +", "x +="))),
]  # fmt: skip
