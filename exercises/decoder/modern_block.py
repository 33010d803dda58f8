"""The whole block. Expected answers: transformers' own LlamaDecoderLayer. Its parts are ready-made."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, UNSTEADY, Case, Exercise, Mistake, variant

from ._llama import attention_weights, draw_norm, loaded, network_weights, tensor
from ._modern import tables
from ._rules import MADE_EXTRA, MADE_MISSING, MADE_SIZE, with_parts


def cases(generator: np.random.Generator) -> list[Case]:
    from transformers.models.llama.modeling_llama import LlamaDecoderLayer

    from course.modern_parts import causal_mask, llama_config

    made = []
    for (batch, tokens, dim), heads, kv_heads, hidden in (
        ((2, 5, 12), 6, 2, 10),
        ((3, 4, 16), 2, 1, 9),
        ((1, 4, 8), 2, 1, 7),
    ):
        cos, sin = (table.astype(np.float32) for table in tables(np.arange(tokens), dim // heads))
        weights = {
            "input_layernorm.weight": draw_norm(generator, dim),
            **attention_weights(generator, dim, heads, kv_heads, "self_attn."),
            "post_attention_layernorm.weight": draw_norm(generator, dim),
            **network_weights(generator, dim, hidden, "mlp."),
        }
        x = generator.normal(0, 1, (batch, tokens, dim)).astype(np.float32)
        x[1:] *= 0.002  # small numbers: the norms' eps shows
        layer = loaded(LlamaDecoderLayer(llama_config(dim, heads, kv_heads, hidden), 0), weights)
        angles = (tensor(cos)[None], tensor(sin)[None])
        output = layer(tensor(x), causal_mask(tokens).double(), position_embeddings=angles)
        config = {"dim": dim, "heads": heads, "kv_heads": kv_heads, "hidden": hidden}
        inputs = {"x": x, "cos": cos, "sin": sin}
        made.append(Case(config, inputs, weights, {}, {"output": output.detach().numpy()}))
    return made


# Lines of the solution that mistakes change.
ATTEND, FEED = "self.self_attn(self.input_layernorm(x), cos, sin)", "self.mlp(self.post_attention_layernorm(x))"
FIRST, SECOND = f"x = x + {ATTEND}", f"return x + {FEED}"
KEPT = (FIRST, f"h = x + {ATTEND}")
NO_SKIP_1, NO_SKIP_2 = (FIRST, f"x = {ATTEND}"), (SECOND, f"return {FEED}")
SHARED = "self.post_attention_layernorm = RMSNorm(dim)"
NORMED_FIRST = (FIRST, "x = self.input_layernorm(x)\n        x = x + self.self_attn(x, cos, sin)")
NORMED = ("The skips carry normalised vectors.", "The skip takes x as it is, before the norm.")

MISTAKES = [
    Mistake("BLOCK-skip-1", "The skip around the attention is missing.", "Add what went into the first norm.",
            NO_SKIP_1),
    Mistake("BLOCK-skip-2", "The skip around the network is missing.", "Add what went into the second norm.",
            NO_SKIP_2),
    Mistake("BLOCK-skips", "Both skips are missing.", "Each sublayer's result is added to what went into its norm.",
            NO_SKIP_1, NO_SKIP_2),
    Mistake("BLOCK-start", "The second skip starts at the block's input.", "It starts after the first addition.",
            KEPT, (SECOND, "return x + self.mlp(self.post_attention_layernorm(h))")),
    Mistake("BLOCK-post", "This is post-norm: each norm comes after the addition.",
            "Here it comes before its sublayer.",
            (FIRST, "x = self.input_layernorm(x + self.self_attn(x, cos, sin))"),
            (SECOND, "return self.post_attention_layernorm(x + self.mlp(x))")),
    Mistake("BLOCK-normed", *NORMED, NORMED_FIRST,
            (SECOND, "x = self.post_attention_layernorm(x)\n        return x + self.mlp(x)")),
    Mistake("BLOCK-normed-1", "The first skip carries a normalised vector.", "The skip adds x as it came in.",
            NORMED_FIRST),
    Mistake("BLOCK-norm-1", "The attention is given x without the norm.", "self_attn takes what input_layernorm gives.",
            (FIRST, "x = x + self.self_attn(x, cos, sin)")),
    Mistake("BLOCK-norm-2", "The network is given its input without the norm.",
            "mlp takes what post_attention_layernorm gives.", (SECOND, "return x + self.mlp(x)")),
    Mistake("BLOCK-after", "post_attention_layernorm was applied to what the attention gave.",
            "It comes before the network: mlp takes what it gives.",
            (ATTEND, f"self.post_attention_layernorm({ATTEND})"), (SECOND, "return x + self.mlp(x)")),
    Mistake("BLOCK-same", "One and the same norm was used twice.", "Each of the two has its own learned scale.",
            (SECOND, SECOND.replace("post_attention_layernorm", "input_layernorm"))),
    Mistake("BLOCK-exchange", "The two norms are swapped.", "input_layernorm comes first.",
            (FIRST, FIRST.replace("input_layernorm", "post_attention_layernorm")),
            (SECOND, SECOND.replace("post_attention_layernorm", "input_layernorm"))),
    Mistake("BLOCK-parallel", "Attention and network were given the same input.",
            "The network sees what the attention added.", KEPT, (SECOND, f"return h + {FEED}")),
    Mistake("BLOCK-order", "The network comes before the attention.", "Attention first.",
            (f"{FIRST}  #", f"x = x + {FEED}  #"), (SECOND, f"return x + {ATTEND}")),
    *(Mistake("BLOCK-attention", "The attention is missing.", "Two sublayers.", (FIRST, how))
      for how in ("pass", "x = x + self.input_layernorm(x)")),
    *(Mistake("BLOCK-network", "The network is missing.", "Two sublayers.", (SECOND, how))
      for how in ("return x", "return x + self.post_attention_layernorm(x)")),
    *(Mistake("BLOCK-added", "A skip adds. Yours subtracts or multiplies.", "x + what the sublayer gives", how)
      for how in ((FIRST, FIRST.replace(" + ", " - ")), (FIRST, FIRST.replace(" + ", " * ")),
                  (SECOND, SECOND.replace(" + ", " - ")), (SECOND, SECOND.replace(" + ", " * ")))),
    *(Mistake("BLOCK-late", "post_attention_layernorm comes after the network.", "It comes before its sublayer.",
              (SECOND, how))
      for how in ("return self.post_attention_layernorm(x + self.mlp(x))",
                  "return x + self.post_attention_layernorm(self.mlp(x))")),
    MADE_MISSING.by((SHARED, "self.post_attention_layernorm = self.input_layernorm")),
    MADE_SIZE,
    MADE_EXTRA,
    CHANGED.by((FIRST, FIRST.replace("x = x +", "x +="))),
    CUT.by((FEED, f"{FEED}.detach()")),
    UNSTEADY.by((FEED, f"nn.Dropout(0.1)({FEED})")),
]  # fmt: skip

INIT = """class ModernBlock(nn.Module):
    def __init__(self, dim, heads, kv_heads, hidden):
        super().__init__()
        self.input_layernorm = RMSNorm(dim)
        self.self_attn = GroupedQueryAttention(dim=dim, heads=heads, kv_heads=kv_heads)
        self.post_attention_layernorm = RMSNorm(dim)
        self.mlp = SwiGLU(dim=dim, hidden=hidden)
"""
HEAD = INIT + "\n    def forward(self, x, cos, sin):"
RIGHT = {
    "every part called by keyword": [
        (FIRST, "x = x + self.self_attn(x=self.input_layernorm(x=x), sin=sin, cos=cos)"),
        (SECOND, "return x + self.mlp(x=self.post_attention_layernorm(x=x))"),
    ],
    "step by step, as in Llama": variant(HEAD, """
        residual = x
        x = self.input_layernorm(x)
        x = self.self_attn(x, cos, sin)
        x = residual + x
        residual = x
        x = self.mlp(self.post_attention_layernorm(x))
        return residual + x
    """),
    "one expression": variant(HEAD, """
        return (h := self.self_attn(self.input_layernorm(x), cos, sin) + x) + self.mlp(self.post_attention_layernorm(h))
    """),
    "keywords, and torch's own norm": variant(HEAD.replace("RMSNorm(dim)", "nn.RMSNorm(dim, eps=1e-6)"), """
        x = torch.add(x, self.self_attn(self.input_layernorm(x), cos=cos, sin=sin))
        return torch.add(x, self.mlp(self.post_attention_layernorm(x)))
    """),
    "a loop over both halves": variant(HEAD, """
        halves = [
            (self.input_layernorm, lambda y: self.self_attn(y, cos, sin)),
            (self.post_attention_layernorm, self.mlp),
        ]
        for norm, sublayer in halves:
            x = sublayer(norm(x)) + x
        return x
    """),
    "a helper method": variant(HEAD, """
        def around(norm, sublayer, y, *tables):
            return y + sublayer(norm(y), *tables)

        h = around(self.input_layernorm, self.self_attn, x, cos, sin)
        return around(self.post_attention_layernorm, self.mlp, h)
    """),
    "summed in a stack": [(SECOND, f"return torch.stack([x, {FEED}]).sum(0)")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, with_parts, MISTAKES, right=RIGHT, framework="torch",
    shows=("both norms before their sublayers", "both skips", "attention, then network"),
    axes={"output": "batch, tokens, dim"},
)  # fmt: skip
