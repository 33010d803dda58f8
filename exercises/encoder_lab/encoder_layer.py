"""``TransformerEncoderLayer``: pre-LN, with two skips."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, Case, Exercise, Mistake, Patch

from .._attention import layer_norm
from ._answers import HEADS_INIT, HEADS_PAIR, LAYER, LAYER_INIT, NETWORK, NETWORK_INIT, NOT_BEGUN
from ._arrays import normal
from ._layers import LAYER_EPS, NORMS, norm_weights, part_mistake
from ._rules import DROPPED, NORM, SIZES, encoder_layer


def cases(generator: np.random.Generator) -> list[Case]:
    """Attention and network have stand-ins: linear maps."""
    made = []
    for batch, tokens, heads, size, wide in ((2, 5, 3, 4, 17), (3, 6, 4, 2, 11), (1, 4, 2, 3, 7)):
        d_model = heads * size
        weights = norm_weights(generator, d_model, *NORMS)
        x = normal(generator, batch, tokens, d_model, size=4) + np.float32(0.7)  # any usual eps of a norm is right
        inputs, stood_in = {"hidden_states": x}, x.astype(np.float64)
        for part, norm in zip(("attention", "network"), NORMS, strict=True):
            matrix, shift = normal(generator, d_model, d_model, size=d_model**-0.5), normal(generator, d_model)
            inputs |= {f"stand_in_{part}": matrix, f"stand_in_{part}_shift": shift}
            stood_in = stood_in + layer_norm(stood_in, weights, norm, LAYER_EPS) @ matrix + shift
        expected = {
            "attention_arguments": np.array([[d_model, heads]]),
            "feed_forward_arguments": np.array([[d_model, wide]]),
            "own_parts": np.array([True, True]),
            "own_norms": np.array([2, 2]),
            "different_norms": np.array(True),
            "stand_in/output": stood_in,
        }
        sizes = {"d_model": d_model, "num_attention_heads": heads, "intermediate_size": wide}
        made.append(Case(sizes, inputs, weights, {}, expected))
    return made


PARTS = """
self.layer_norm_1 = nn.LayerNorm(d_model)
self.attention = MultiHeadAttention(d_model, num_attention_heads)
self.layer_norm_2 = nn.LayerNorm(d_model)
self.feed_forward = FeedForward(d_model, intermediate_size)
"""
SKIP = "Each skip goes around norm and sublayer: its input is added to its output."
STEPS = "Normalise, attend, add; normalise, feed forward, add."
BEFORE, OWN = "Pre-LN: before the sublayer.", "Each sublayer has a norm of its own."


def init(old: str, new: str) -> Patch:
    return LAYER_INIT, PARTS.replace(old, new)


def forward(code: str) -> Patch:
    names = "x, n1, n2 = hidden_states, self.layer_norm_1, self.layer_norm_2\na, f = self.attention, self.feed_forward"
    return LAYER, f"{names}\n{code}"


MISTAKES = [
    part_mistake("attention", init("self.attention = MultiHeadAttention(d_model, num_attention_heads)", "pass")),
    part_mistake("feed_forward", init("self.feed_forward = FeedForward(d_model, intermediate_size)", "pass")),
    NORM.by(init("nn.LayerNorm(d_model)", "nn.LayerNorm(d_model, elementwise_affine=False)")),
    Mistake("norm-shared", "layer_norm_1 and layer_norm_2 are one and the same layer.",
            "Make a new nn.LayerNorm for each sublayer.",
            init("layer_norm_2 = nn.LayerNorm(d_model)", "layer_norm_2 = self.layer_norm_1")),
    Mistake("M8-post", "This is post-LN: the norms come after the additions.",
            "Pre-LN: each norm comes before its sublayer.", forward("h = n1(x + a(x))\nreturn n2(h + f(h))")),
    Mistake("M7-attention", "The skip around the attention is missing.", SKIP,
            forward("h = a(n1(x))\nreturn h + f(n2(h))")),
    Mistake("M7-network", "The skip around the feed-forward network is missing.", SKIP,
            forward("h = x + a(n1(x))\nreturn f(n2(h))")),
    Mistake("M7-none", "Both skips are missing.", SKIP, forward("return f(n2(a(n1(x))))")),
    Mistake("M7-normed", "The skips start after the norms: what is added is the normalised input.", SKIP,
            forward("h = n1(x)\nh = h + a(h)\nh = n2(h)\nreturn h + f(h)")),
    Mistake("M7-first-normed", "The first skip starts after its norm: what is added is the normalised input.", SKIP,
            forward("h = n1(x)\nh = h + a(h)\nreturn h + f(n2(h))")),
    Mistake("M7-second-normed", "The second skip starts after its norm: what is added is the normalised input.", SKIP,
            forward("h = n2(x + a(n1(x)))\nreturn h + f(h)")),
    Mistake("M7-place", "The second skip starts at the layer's input: what the attention added is lost.",
            "It starts from the result of the first addition.", forward("h = x + a(n1(x))\nreturn x + f(n2(h))")),
    Mistake("M7-parallel", "The network works on the layer's input, side by side with the attention.",
            "It works on the result of the first addition.", forward("return x + a(n1(x)) + f(n2(x))")),
    Mistake("M8-none", "Both layer norms are missing.", "One before each sublayer.",
            forward("h = x + a(x)\nreturn h + f(h)")),
    Mistake("M8-first", "layer_norm_1 is missing.", "One before each sublayer.",
            forward("h = x + a(x)\nreturn h + f(n2(h))")),
    Mistake("M8-second", "layer_norm_2 is missing.", "One before each sublayer.",
            forward("h = x + a(n1(x))\nreturn h + f(h)")),
    Mistake("M8-shared", "layer_norm_1 was used twice.", OWN, forward("h = x + a(n1(x))\nreturn h + f(n1(h))")),
    Mistake("M8-swapped", "The two norms are swapped.", "layer_norm_1 comes before the attention.",
            forward("h = x + a(n2(x))\nreturn h + f(n1(h))")),
    Mistake("M8-output", "The norms come after the sublayers, before the additions.", BEFORE,
            forward("h = x + n1(a(x))\nreturn h + n2(f(h))")),
    Mistake("M8-first-post", "The first half is post-LN: layer_norm_1 comes after the addition.",
            "Pre-LN: each norm comes before its sublayer.", forward("h = n1(x + a(x))\nreturn h + f(n2(h))")),
    Mistake("M8-second-post", "The second half is post-LN: layer_norm_2 comes after the addition.",
            "Pre-LN: each norm comes before its sublayer.", forward("h = x + a(n1(x))\nreturn n2(h + f(h))")),
    Mistake("M8-first-output", "layer_norm_1 comes after the attention, not before it.", BEFORE,
            forward("h = x + n1(a(x))\nreturn h + f(n2(h))")),
    Mistake("M8-second-output", "layer_norm_2 comes after the feed-forward network, not before it.", BEFORE,
            forward("h = x + a(n1(x))\nreturn h + n2(f(h))")),
    Mistake("M8-second-twice", "layer_norm_2 was used twice.", OWN, forward("h = x + a(n2(x))\nreturn h + f(n2(h))")),
    Mistake("M7-first-minus", "What the attention gives was subtracted.", SKIP,
            forward("h = x - a(n1(x))\nreturn h + f(n2(h))")),
    Mistake("M7-second-minus", "What the feed-forward network gives was subtracted.", SKIP,
            forward("h = x + a(n1(x))\nreturn h - f(n2(h))")),
    Mistake("M7-first-times", "The attention's input was multiplied by what it gives.", SKIP,
            forward("h = x * a(n1(x))\nreturn h + f(n2(h))")),
    Mistake("M7-second-times", "The network's input was multiplied by what it gives.", SKIP,
            forward("h = x + a(n1(x))\nreturn h * f(n2(h))")),
    Mistake("no-attention", "What the attention gives is lost.", STEPS, forward("a(n1(x))\nreturn x + f(n2(x))")),
    Mistake("no-network", "What the feed-forward network gives is lost.", STEPS,
            forward("h = x + a(n1(x))\nf(n2(h))\nreturn h")),
    Mistake("norm-for-attention", "The normalised input was added, without the attention.", STEPS,
            forward("h = x + n1(x)\nreturn h + f(n2(h))")),
    Mistake("norm-for-network", "The normalised input was added, without the feed-forward network.", STEPS,
            forward("h = x + a(n1(x))\nreturn h + n2(h)")),
    Mistake("attention-twice", "The attention stands where the feed-forward network belongs.", STEPS,
            forward("h = x + a(n1(x))\nreturn h + a(n2(h))")),
    Mistake("order", "The feed-forward network comes before the attention.", "Attention first.",
            forward("h = x + f(n1(x))\nreturn h + a(n2(h))")),
    Mistake("layer-wide", "The feed-forward network was made with d_model as its inner width.",
            "intermediate_size is its width in the middle.", init("d_model, intermediate_size", "d_model, d_model")),
    Mistake("layer-swapped", "FeedForward got its arguments in the wrong order.",
            "d_model first, then intermediate_size.", init("d_model, intermediate_size", "intermediate_size, d_model")),
    SIZES.by(init("num_attention_heads", "1")),
    DROPPED,
    CHANGED,
    CUT.by(forward("h = x + a(n1(x))\nreturn h.add_(f(n2(h)))")),
    CUT.by(forward("h = x + a(n1(x)).detach()\nreturn h + f(n2(h))")),
]  # fmt: skip

RIGHT = {
    "step by step": [(LAYER, """
        x = hidden_states
        x = x + self.attention(self.layer_norm_1(x))
        x = x + self.feed_forward(self.layer_norm_2(x))
        return x
    """)],
    "torch.add and a residual": [(LAYER, """
        residual = hidden_states
        out = self.attention(self.layer_norm_1(residual))
        residual = torch.add(residual, out)
        return torch.add(self.feed_forward(self.layer_norm_2(residual)), residual)
    """)],
    "attention that returns a pair": [HEADS_PAIR, (LAYER, """
        h = hidden_states + self.attention(self.layer_norm_1(hidden_states))[0]
        return h + self.feed_forward(self.layer_norm_2(h))
    """)],
    "BERT's eps, named arguments, another order": [(LAYER_INIT, """
        self.feed_forward = FeedForward(d_model=d_model, intermediate_size=intermediate_size)
        self.attention = MultiHeadAttention(d_model=d_model, num_attention_heads=num_attention_heads)
        self.layer_norm_2, self.layer_norm_1 = nn.LayerNorm(d_model, eps=1e-12), nn.LayerNorm(d_model, eps=1e-12)
    """)],
    "its parts' layers one by one": [(LAYER, """
        x = self.layer_norm_1(hidden_states)
        a = self.attention.output_linear(torch.cat([head(x) for head in self.attention.heads], dim=-1))
        h = hidden_states + a
        f = self.feed_forward
        return h + f.linear_2(f.gelu(f.linear_1(self.layer_norm_2(h))))
    """)],
    "its network wrong: that is paid for elsewhere": [(NETWORK, "return self.linear_2(self.linear_1(hidden_states))")],
    "parts called with names": [(LAYER, """
        x = hidden_states
        x = x + self.attention(hidden_states=self.layer_norm_1(x))
        return x + self.feed_forward(hidden_states=self.layer_norm_2(x))
    """)],
    "weights set in __init__": [
        (LAYER_INIT, f"{PARTS}nn.init.normal_(self.attention.output_linear.weight, std=0.02)"),
    ],
    "none of its parts work yet": [(HEADS_INIT, NOT_BEGUN), (NETWORK_INIT, NOT_BEGUN)],
    "a walrus": [(LAYER, """
        attended = (x := hidden_states) + self.attention(self.layer_norm_1(x))
        return self.feed_forward(self.layer_norm_2(attended)) + attended
    """)],
}  # fmt: skip

EXERCISE = Exercise(
    cases, encoder_layer, MISTAKES, right=RIGHT, cell="models.py", framework="torch",
    shows=("both norms before their sublayer", "both skips in place"),
    axes={"output": "batch, n, d_model"},
)  # fmt: skip
