"""Right and wrong answers to ``encoder_layer``."""

from autograder.exercise import SampleAnswer

from .._answers import HEADS, HEADS_INIT, LAYER, LAYER_INIT, NETWORK, NETWORK_INIT, NOT_BEGUN

CELL = "models.py"

PARTS = """
self.layer_norm_1 = nn.LayerNorm(d_model)
self.attention = MultiHeadAttention({attention})
self.layer_norm_2 = nn.LayerNorm(d_model)
self.feed_forward = FeedForward({network})
"""
OWN_PARTS = PARTS.format(attention="d_model, num_attention_heads", network="d_model, intermediate_size")
NAMES = "x, n1, n2 = hidden_states, self.layer_norm_1, self.layer_norm_2\na, f = self.attention, self.feed_forward\n"


def _wrong(name: str, code: str, mistake: str = "") -> SampleAnswer:
    return SampleAnswer(name, methods={LAYER: NAMES + code}, points=0, mistake=mistake)


RIGHT = [
    SampleAnswer(
        "step by step",
        methods={
            LAYER: """
            x = hidden_states
            x = x + self.attention(self.layer_norm_1(x))
            x = x + self.feed_forward(self.layer_norm_2(x))
            return x
            """
        },
    ),
    SampleAnswer(
        "torch.add and a residual",
        methods={
            LAYER: """
            residual = hidden_states
            out = self.attention(self.layer_norm_1(residual))
            residual = torch.add(residual, out)
            return torch.add(self.feed_forward(self.layer_norm_2(residual)), residual)
            """
        },
    ),
    SampleAnswer(
        "attention that returns a pair",
        methods={
            HEADS: "return self.output_linear(torch.cat([head(hidden_states) for head in self.heads], dim=-1)), None",
            LAYER: """
            h = hidden_states + self.attention(self.layer_norm_1(hidden_states))[0]
            return h + self.feed_forward(self.layer_norm_2(h))
            """,
        },
    ),
    SampleAnswer(
        "BERT's eps, named arguments, another order",
        methods={
            LAYER_INIT: """
            self.feed_forward = FeedForward(d_model=d_model, intermediate_size=intermediate_size)
            self.attention = MultiHeadAttention(d_model=d_model, num_attention_heads=num_attention_heads)
            self.layer_norm_2, self.layer_norm_1 = nn.LayerNorm(d_model, eps=1e-12), nn.LayerNorm(d_model, eps=1e-12)
            """
        },
    ),
    SampleAnswer(
        "its parts' layers one by one",
        methods={
            LAYER: """
            x = self.layer_norm_1(hidden_states)
            a = self.attention.output_linear(torch.cat([head(x) for head in self.attention.heads], dim=-1))
            h = hidden_states + a
            f = self.feed_forward
            return h + f.linear_2(f.gelu(f.linear_1(self.layer_norm_2(h))))
            """
        },
    ),
    SampleAnswer(
        "its network wrong: that is paid for elsewhere",
        methods={NETWORK: "return self.linear_2(self.linear_1(hidden_states))"},
    ),
    SampleAnswer(
        "parts called with names",
        methods={
            LAYER: """
            x = hidden_states
            x = x + self.attention(hidden_states=self.layer_norm_1(x))
            return x + self.feed_forward(hidden_states=self.layer_norm_2(x))
            """
        },
    ),
    SampleAnswer(
        "weights set in __init__",
        methods={LAYER_INIT: OWN_PARTS + "nn.init.normal_(self.attention.output_linear.weight, std=0.02)"},
    ),
    SampleAnswer("none of its parts work yet", methods={HEADS_INIT: NOT_BEGUN, NETWORK_INIT: NOT_BEGUN}),
    SampleAnswer(
        "a walrus",
        methods={
            LAYER: """
            attended = (x := hidden_states) + self.attention(self.layer_norm_1(x))
            return self.feed_forward(self.layer_norm_2(attended)) + attended
            """
        },
    ),
]
WRONG = [
    SampleAnswer(
        "one norm under two names",
        methods={
            LAYER_INIT: OWN_PARTS.replace(
                "self.layer_norm_2 = nn.LayerNorm(d_model)", "self.layer_norm_2 = self.layer_norm_1"
            )
        },
        points=0,
        mistake="norm-shared",
    ),
    SampleAnswer(
        "norms without scale and shift",
        methods={
            LAYER_INIT: OWN_PARTS.replace("nn.LayerNorm(d_model)", "nn.LayerNorm(d_model, elementwise_affine=False)")
        },
        points=0,
        mistake="norm-plain",
    ),
    _wrong("post-LN", "h = n1(x + a(x))\nreturn n2(h + f(h))", "M8-post"),
    _wrong("no first skip", "h = a(n1(x))\nreturn h + f(n2(h))", "M7-attention"),
    _wrong("no second skip", "h = x + a(n1(x))\nreturn f(n2(h))", "M7-network"),
    _wrong("no skip", "return f(n2(a(n1(x))))", "M7-none"),
    _wrong("skips from the normed", "h = n1(x)\nh = h + a(h)\nh = n2(h)\nreturn h + f(h)", "M7-normed"),
    _wrong("first skip from the normed", "h = n1(x)\nh = h + a(h)\nreturn h + f(n2(h))", "M7-first-normed"),
    _wrong("second skip from the normed", "h = n2(x + a(n1(x)))\nreturn h + f(h)", "M7-second-normed"),
    _wrong("second skip from the input", "h = x + a(n1(x))\nreturn x + f(n2(h))", "M7-place"),
    _wrong("side by side", "return x + a(n1(x)) + f(n2(x))", "M7-parallel"),
    _wrong("no norm", "h = x + a(x)\nreturn h + f(h)", "M8-none"),
    _wrong("no first norm", "h = x + a(x)\nreturn h + f(n2(h))", "M8-first"),
    _wrong("no second norm", "h = x + a(n1(x))\nreturn h + f(h)", "M8-second"),
    _wrong("the first norm twice", "h = x + a(n1(x))\nreturn h + f(n1(h))", "M8-shared"),
    _wrong("norms exchanged", "h = x + a(n2(x))\nreturn h + f(n1(h))", "M8-swapped"),
    _wrong("norms behind the sublayers", "h = x + n1(a(x))\nreturn h + n2(f(h))", "M8-output"),
    _wrong("the first half post-LN", "h = n1(x + a(x))\nreturn h + f(n2(h))", "M8-first-post"),
    _wrong("the second half post-LN", "h = x + a(n1(x))\nreturn n2(h + f(h))", "M8-second-post"),
    _wrong("the first norm behind its sublayer", "h = x + n1(a(x))\nreturn h + f(n2(h))", "M8-first-output"),
    _wrong("the second norm behind its sublayer", "h = x + a(n1(x))\nreturn h + n2(f(h))", "M8-second-output"),
    _wrong("the second norm twice", "h = x + a(n2(x))\nreturn h + f(n2(h))", "M8-second-twice"),
    _wrong("the attention subtracted", "h = x - a(n1(x))\nreturn h + f(n2(h))", "M7-first-minus"),
    _wrong("the network subtracted", "h = x + a(n1(x))\nreturn h - f(n2(h))", "M7-second-minus"),
    _wrong("the attention multiplied", "h = x * a(n1(x))\nreturn h + f(n2(h))", "M7-first-times"),
    _wrong("the network multiplied", "h = x + a(n1(x))\nreturn h * f(n2(h))", "M7-second-times"),
    _wrong("the attention's work thrown away", "a(n1(x))\nreturn x + f(n2(x))", "no-attention"),
    _wrong("the network's work thrown away", "h = x + a(n1(x))\nf(n2(h))\nreturn h", "no-network"),
    _wrong("a norm in place of the attention", "h = x + n1(x)\nreturn h + f(n2(h))", "norm-for-attention"),
    _wrong("a norm in place of the network", "h = x + a(n1(x))\nreturn h + n2(h)", "norm-for-network"),
    _wrong("the attention twice", "h = x + a(n1(x))\nreturn h + a(n2(h))", "attention-twice"),
    SampleAnswer(
        "the sum written over what the norm needs",
        methods={LAYER: NAMES + "h = x + a(n1(x))\nreturn h.add_(f(n2(h)))"},
        points=0,
        mistake="CUT",
        unseen=True,
    ),
    _wrong("network first", "h = x + f(n1(x))\nreturn h + a(n2(h))", "order"),
    SampleAnswer(
        "the network is not wide",
        methods={LAYER_INIT: PARTS.format(attention="d_model, num_attention_heads", network="d_model, d_model")},
        points=0,
        mistake="layer-wide",
    ),
    SampleAnswer(
        "the network's arguments exchanged",
        methods={
            LAYER_INIT: PARTS.format(attention="d_model, num_attention_heads", network="intermediate_size, d_model")
        },
        points=0,
        mistake="layer-swapped",
    ),
    SampleAnswer(
        "one head only",
        methods={LAYER_INIT: PARTS.format(attention="d_model, 1", network="d_model, intermediate_size")},
        points=0,
        mistake="sizes",
    ),
]
