"""One block of GPT-2, with ready-made attention where the student's own is wrong."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, UNSTEADY, Case, Exercise, Mistake, put_together, variant

from ._decoder import draw_block
from ._gpt2 import block_output


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, tokens, dim, heads, size in (
        (2, 5, 12, 3, 1.0),
        (3, 4, 10, 2, 1.0),
        (2, 6, 8, 4, 8.0),
        (1, 5, 6, 2, 1.0),
    ):
        x = generator.normal(0.5, size, (batch, tokens, dim)).astype(np.float32)
        weights = draw_block(generator, dim)
        expected = {"y": block_output(weights, x, heads)}
        made.append(Case({"dim": dim, "heads": heads}, {"x": x}, weights, expected=expected))
    return made


PRE = "x = x + sublayer(norm(x)), twice, each with its own norm"
PARTS = "to_qkv gives queries, keys, values, in this order."
# Lines of the solution that mistakes change.
NAMES = "query, key, value = ("
ATTEND = "causal_attention(query, key, value)"
MIXED = "self.out(self.merge_heads(context))"
FIRST, SECOND = f"x = x + {MIXED}", "return x + self.mlp(self.norm_2(x))"
NO_NORM_1, NO_NORM_2 = ("self.norm_1(x)", "x"), ("self.norm_2(x)", "x")
NO_SKIP_1, NO_SKIP_2 = (FIRST, f"x = {MIXED}"), (SECOND, "return self.mlp(self.norm_2(x))")

MISTAKES = [
    Mistake("D2-normed", "The first skip adds the normalised vectors.", "A skip adds x as it came in.",
            ("parts = self.to_qkv(self.norm_1(x))", "x = self.norm_1(x)\n        parts = self.to_qkv(x)")),
    Mistake("D2-norm-1", "The first norm is missing.", PRE, NO_NORM_1),
    Mistake("D2-norm-2", "The second norm is missing.", PRE, NO_NORM_2),
    Mistake("D2-norms", "Both norms are missing.", PRE, NO_NORM_1, NO_NORM_2),
    Mistake("D2-post", "The norms come after the additions: this is the older, post-norm block.", PRE, NO_NORM_1,
            (FIRST, f"x = self.norm_1(x + {MIXED})"), (SECOND, "return self.norm_2(x + self.mlp(x))")),
    Mistake("D2-skip-1", "The attention's result replaces its input.", PRE, NO_SKIP_1),
    Mistake("D2-skip-2", "The feed-forward network's result replaces its input.", PRE, NO_SKIP_2),
    Mistake("D2-skips", "Both sublayers replace their input: no skip is left.", PRE, NO_SKIP_1, NO_SKIP_2),
    Mistake("D2-same", "The first norm is used twice.", PRE, ("self.norm_2(x)", "self.norm_1(x)")),
    Mistake("D2-beside", "The feed-forward network gets the block's input, not what attention made of it.", PRE,
            (FIRST, f"y = x + {MIXED}"), (SECOND, "return y + self.mlp(self.norm_2(x))")),
    Mistake("D2-out", "The layer out is not used.", "It mixes what the heads found.",
            (MIXED, "self.merge_heads(context)")),
    Mistake("D2-attention", "Attention is left out.", PRE, (FIRST, "pass")),
    Mistake("D2-network", "The feed-forward network is left out.", PRE, (SECOND, "return x")),
    Mistake("D2-order", "Queries and keys are swapped.", PARTS, (NAMES, "key, query, value = (")),
    Mistake("D2-values", "The three parts of to_qkv are in the wrong order.", PARTS, (NAMES, "value, key, query = (")),
    Mistake("D2-heads", "The vectors are not split into heads.", "split_heads is given.",
            ("self.split_heads(part)", "part.unsqueeze(1)")),
    Mistake("D2-viewed", "The heads are cut out of the wrong axis.", "split_heads and merge_heads are given.",
            ("self.split_heads(part)", "part.reshape(len(x), self.heads, x.shape[1], -1)"),
            ("self.merge_heads(context)", "context.reshape(x.shape)")),
    Mistake("D2-ahead", "Tokens see later ones.", "causal_attention is there for that.",
            ("causal_attention(", "F.scaled_dot_product_attention(")),
    *(Mistake("D2-added", "A skip adds. Yours subtracts or multiplies.", "x + what the sublayer gives", how)
      for how in ((FIRST, FIRST.replace(" + ", " - ")), (FIRST, FIRST.replace(" + ", " * ")),
                  (SECOND, SECOND.replace(" + ", " - ")), (SECOND, SECOND.replace(" + ", " * ")))),
    *(Mistake("D2-late", "The second norm comes after the feed-forward network.", PRE, (SECOND, how))
      for how in ("return self.norm_2(x + self.mlp(x))", "return x + self.norm_2(self.mlp(x))")),
    Mistake("D2-network", "The feed-forward network is left out.", PRE, (SECOND, "return x + self.norm_2(x)")),
    *(Mistake("D2-given", "Attention is given other things than query, key and value, in this order.", PARTS,
              (ATTEND, f"causal_attention({how})"))
      for how in ("query, value, key", "query, key, key", "query, key, query", "query, query, value")),
    Mistake("D2-attention", "Attention is left out.", PRE, (ATTEND, "query")),
    CHANGED.by((FIRST, f"x += {MIXED}")),
    CUT.by((FIRST, f"{FIRST}.detach()")),
    UNSTEADY,
]  # fmt: skip

HEAD = "class DecoderBlock(BlockLayers):\n    def forward(self, x):"
RIGHT = {
    "its own reshaping": variant(HEAD, """
        b, t, c = x.shape
        qkv = self.to_qkv(self.norm_1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = causal_attention(*qkv).permute(0, 2, 1, 3).reshape(b, t, c)
        h = x + self.out(a)
        return h + self.mlp(self.norm_2(h))
    """),
    "torch's own attention": [(ATTEND, "F.scaled_dot_product_attention(query, key, value, is_causal=True)")],
    "split by hand": variant(HEAD, """
        size = x.shape[-1]
        joint = self.to_qkv(self.norm_1(x))
        q, k, v = joint[..., :size], joint[..., size : 2 * size], joint[..., 2 * size :]
        heads = causal_attention(self.split_heads(q), self.split_heads(k), self.split_heads(v))
        attended = self.out(self.merge_heads(heads)) + x
        return torch.add(attended, self.mlp(self.norm_2(attended)))
    """),
    "layer by layer of the network": [(SECOND, """hidden = self.norm_2(x)
        for layer in self.mlp:
            hidden = layer(hidden)
        return x + hidden""")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, put_together, MISTAKES, right=RIGHT, framework="torch", rtol=3e-4, atol=3e-5,
    parts={"causal_attention": "causal_attention"},
    shows=("norms before the sublayers", "two skips", "queries, keys, values in their order"),
    axes={"y": "batch, tokens, dim"},
)  # fmt: skip
