"""Right and wrong forward passes of a decoder block."""

from __future__ import annotations

from .._answers import methods, wrong_methods

KIND, HEAD = "class DecoderBlock(BlockLayers):", "def forward(self, x):"
SPLIT = "q, k, v = (self.split_heads(part) for part in self.to_qkv({x}).chunk(3, dim=-1))"
FIRST = SPLIT.format(x="self.norm_1(x)")
MIXED = "self.out(self.merge_heads(causal_attention(q, k, v)))"
SECOND = "return x + self.mlp(self.norm_2(x))"


def block(split: str = FIRST, mixed: str = f"x = x + {MIXED}", last: str = SECOND) -> str:
    return f"{split}\n{mixed}\n{last}"


RIGHT = methods(KIND, HEAD, {
    "in three lines": block(),
    "its own reshaping": """
        b, t, c = x.shape
        qkv = self.to_qkv(self.norm_1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = causal_attention(*qkv).permute(0, 2, 1, 3).reshape(b, t, c)
        h = x + self.out(a)
        return h + self.mlp(self.norm_2(h))
    """,
    "torch's own attention": block(mixed=f"x = x + {MIXED.replace('causal_attention(q, k, v)', 'F.scaled_dot_product_attention(q, k, v, is_causal=True)')}"),  # noqa: E501
    "split by hand": """
        size = x.shape[-1]
        joint = self.to_qkv(self.norm_1(x))
        q, k, v = joint[..., :size], joint[..., size : 2 * size], joint[..., 2 * size :]
        heads = causal_attention(self.split_heads(q), self.split_heads(k), self.split_heads(v))
        attended = self.out(self.merge_heads(heads)) + x
        return torch.add(attended, self.mlp(self.norm_2(attended)))
    """,
    "layer by layer of the network": block(last="""\
hidden = self.norm_2(x)
for layer in self.mlp:
    hidden = layer(hidden)
return x + hidden"""),
})  # fmt: skip

WRONG = wrong_methods(
    KIND, HEAD,
    ("no first norm", block(split=SPLIT.format(x="x")), "D2-norm-1"),
    ("no second norm", block(last="return x + self.mlp(x)"), "D2-norm-2"),
    ("no norm at all", block(split=SPLIT.format(x="x"), last="return x + self.mlp(x)"), "D2-norms"),
    ("post-norm", block(SPLIT.format(x="x"), f"x = self.norm_1(x + {MIXED})", "return self.norm_2(x + self.mlp(x))"),
     "D2-post"),
    ("no first skip", block(mixed=f"x = {MIXED}"), "D2-skip-1"),
    ("no second skip", block(last="return self.mlp(self.norm_2(x))"), "D2-skip-2"),
    ("no skips", block(mixed=f"x = {MIXED}", last="return self.mlp(self.norm_2(x))"), "D2-skips"),
    ("one norm twice", block(last="return x + self.mlp(self.norm_1(x))"), "D2-same"),
    ("side by side", block(mixed=f"a = {MIXED}", last="return x + a + self.mlp(self.norm_2(x))"), "D2-beside"),
    ("without out", block(mixed="x = x + self.merge_heads(causal_attention(q, k, v))"), "D2-out"),
    ("no attention", SECOND, "D2-attention"),
    ("no network", block(last="return x"), "D2-network"),
    ("keys first", block(split=FIRST.replace("q, k, v", "k, q, v")), "D2-order"),
    ("values first", block(split=FIRST.replace("q, k, v", "v, k, q")), "D2-values"),
    ("one head", block(FIRST.replace("self.split_heads(part)", "part.unsqueeze(1)")), "D2-heads"),
    ("heads by view", block(
        FIRST.replace("self.split_heads(part)", "part.reshape(len(x), self.heads, x.shape[1], -1)"),
        "x = x + self.out(causal_attention(q, k, v).reshape(x.shape))"), "D2-viewed"),
    ("no mask", block(mixed=f"x = x + {MIXED.replace('causal_attention', 'F.scaled_dot_product_attention')}"),
     "D2-ahead"),
    ("x changed in place", block(mixed=f"x += {MIXED}"), "CHANGED"),
    ("cut off", block(mixed=f"x = x + {MIXED}.detach()"), "CUT"),
)  # fmt: skip
