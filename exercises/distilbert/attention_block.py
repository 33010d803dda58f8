"""The attention block as a whole: the four parts, and the given lines that put them together."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._block_cases import expecting, low_inner_variance_case, low_variance_case, ordinary_cases
from ._rules import L_BIAS, L_MISSING, L_SIZE, L_WEIGHT, WHOLE, put_together


def cases(generator: np.random.Generator) -> list[Case]:
    """Two of small numbers show a LayerNorm's eps."""
    made = [*ordinary_cases(generator), low_variance_case(generator), low_inner_variance_case(generator)]
    return expecting(made, "output", "weights")


# Lines of the solution that mistakes change.
VALUES = "v = shape(self.v_lin(hidden_states))"
SCALE = "q = q / math.sqrt(q.shape[-1])"
SPLIT = "x.view(batch, tokens, heads, size).transpose(1, 2)"
MERGED = "x.transpose(1, 2).reshape(batch, tokens, heads * size)"
FIRST_NORM = "self.sa_layer_norm(sa_output + hidden_states)"
SECOND_NORM = "self.output_layer_norm(ffn_output + sa_output)"
NORMED_FIRST = (FIRST_NORM, "self.sa_layer_norm(sa_output) + hidden_states")
NORMED_SECOND = (SECOND_NORM, "self.output_layer_norm(ffn_output) + sa_output")
ACTIVATION = "nn.functional.gelu("
OUT = "self.out_lin = nn.Linear(config.dim, config.dim)"
FIRST, SECOND = (
    f"self.{name}_norm = nn.LayerNorm(config.dim, eps=config.eps)" for name in ("sa_layer", "output_layer")
)
LIN2 = "(config.hidden_dim, config.dim)"
SIZES = "batch, tokens, dim = hidden_states.shape"
UNBIASED = """x = sa_output + hidden_states
        deviation = torch.sqrt(x.var(-1, keepdim=True) + self.config.eps)
        x = (x - x.mean(-1, keepdim=True)) / deviation
        sa_output = x * self.sa_layer_norm.weight + self.sa_layer_norm.bias"""
PRE_LN = (
    (SIZES, f"{SIZES}\n        skip = hidden_states\n        hidden_states = self.sa_layer_norm(skip)"),
    (FIRST_NORM, "sa_output + skip"), ("self.lin1(sa_output)", "self.lin1(self.output_layer_norm(sa_output))"),
    (SECOND_NORM, "ffn_output + sa_output"),
)  # fmt: skip
ADD_FIRST = "Post-LN: add first, then normalise the sum."
NORMALISED = "Post-LN: the sum of input and output is normalised."
EPS = "nn.LayerNorm takes eps=config.eps; its default is larger."


def default_eps(*lines: str) -> list[tuple[str, str]]:
    return [(line, line.replace(", eps=config.eps", "")) for line in lines]


MISTAKES = [
    Mistake("M2", "The scores are √(size of a head) times too large: q is not divided.", "Was that line lost?",
            (SCALE, "pass")),
    Mistake("M3-dim", "q is divided by √dim, the width of the whole model.",
            "Each head has its own, smaller width: the last axis of q.", (SCALE, "q = q / math.sqrt(dim)")),
    Mistake("M3", "q is divided by d_k altogether, not by its square root.", "See the given line.",
            (SCALE, "q = q / size")),
    Mistake("M5", "The heads are cut out of the wrong axis: a head mixes numbers of different tokens.",
            "First split the last axis into (heads, size), then exchange the token axis with the head axis.",
            (SPLIT, "x.reshape(batch, heads, tokens, size)")),
    Mistake("M5-inter", "The heads are interleaved: neighbouring features went to different heads.",
            "The last axis splits into (heads, size), in this order.",
            (SPLIT, "x.view(batch, tokens, size, heads).permute(0, 3, 1, 2)")),
    Mistake("M9-late", "The context is made of the scores, not of the weights.", "See the given lines.",
            ("self.attention_context(weights, v)", "self.attention_context(scores, v)")),
    Mistake("M4-keys", "The weights met the keys; what they should mix are the values.",
            "A key says what a token offers, its value is what is collected.",
            ("self.attention_context(weights, v)", "self.attention_context(weights, k)")),
    Mistake("M5-values", "The values' heads are cut out of the wrong axis.",
            "Split the last axis into (heads, size) first, then exchange axes.",
            (VALUES, "v = self.v_lin(hidden_states).view(batch, heads, tokens, size)")),
    Mistake("M6", "The heads were merged without being moved back after the tokens: numbers of different tokens are "
            "mixed.", "Exchange the head axis and the token axis before the last two axes become one.",
            (MERGED, "x.reshape(batch, tokens, heads * size)")),
    Mistake("M7", "The residual connection around the attention is missing.",
            "The block adds its own input to what the attention gives, then normalises.",
            (FIRST_NORM, "self.sa_layer_norm(sa_output)")),
    Mistake("M7-ffn", "The residual connection around the feed-forward network is missing.",
            "Add the feed-forward network's input to its output, then normalise.",
            (SECOND_NORM, "self.output_layer_norm(ffn_output)")),
    Mistake("M7-place", "The second residual comes from the wrong place: from the block's input.",
            "It is the output of the first LayerNorm that goes around the feed-forward network.",
            (SECOND_NORM, "self.output_layer_norm(ffn_output + hidden_states)")),
    Mistake("M8", "In both places the LayerNorm comes before the addition.", ADD_FIRST, NORMED_FIRST, NORMED_SECOND),
    Mistake("M8", "The first LayerNorm comes before the addition.", ADD_FIRST, NORMED_FIRST),
    Mistake("M8", "The second LayerNorm comes before the addition.", ADD_FIRST, NORMED_SECOND),
    Mistake("M8-none", "The first LayerNorm is missing.", NORMALISED, (FIRST_NORM, "sa_output + hidden_states")),
    Mistake("M8-none", "The second LayerNorm is missing.", NORMALISED, (SECOND_NORM, "ffn_output + sa_output")),
    Mistake("M8-pre", "The LayerNorms stand before the attention and before the feed-forward network: that is pre-LN.",
            "DistilBERT is post-LN: each sublayer takes its input as it is, and the sum is normalised.", *PRE_LN),
    Mistake("M12", "The feed-forward network uses ReLU; DistilBERT uses GELU.", "See the given line.",
            (ACTIVATION, "nn.functional.relu(")),
    Mistake("M12-tanh", "This is GELU's tanh approximation; DistilBERT uses the exact one.",
            "nn.functional.gelu without further arguments is exact.",
            ("gelu(self.lin1(sa_output))", 'gelu(self.lin1(sa_output), approximate="tanh")')),
    Mistake("M12-none", "The feed-forward network has no activation: two linear layers are one.",
            "A GELU stands between lin1 and lin2.", (ACTIVATION, "(")),
    Mistake("M12-silu", "The feed-forward network uses SiLU; DistilBERT uses GELU.", "See the given line.",
            (ACTIVATION, "nn.functional.silu(")),
    Mistake("FFN-input", "The feed-forward network is given the context; it takes what the first LayerNorm gives.",
            "Are the given lines after context unchanged?", ("self.lin1(sa_output)", "self.lin1(context)")),
    Mistake("M13", "In both places the LayerNorm's eps is not the config's.", EPS, *default_eps(FIRST, SECOND)),
    Mistake("M13", "The first LayerNorm's eps is not the config's.", EPS, *default_eps(FIRST)),
    Mistake("M13", "The second LayerNorm's eps is not the config's.", EPS, *default_eps(SECOND)),
    Mistake("M13-unbiased", "The first LayerNorm's variance is the unbiased one (divided by n - 1).",
            "LayerNorm divides by n.", (f"sa_output = {FIRST_NORM}", UNBIASED)),
    dropout_at_work("The block's outputs").by(("unshape(context)", "nn.functional.dropout(unshape(context))")),
    L_MISSING.by((OUT, "pass")),
    L_BIAS.by((OUT, OUT.replace("dim)", "dim, bias=False)"))),
    L_WEIGHT.by((SECOND, SECOND.replace(")", ", elementwise_affine=False)"))),
    L_SIZE.by((LIN2, "(config.dim, config.hidden_dim)")),
    CHANGED.by(("return ffn_output, weights", "return ffn_output, weights + 0 * hidden_states.zero_().sum()")),
    DTYPE.by(("return ffn_output, weights", "return ffn_output.double(), weights")),
    WHOLE.by((VALUES, f"{VALUES}.flip(1)")),
    WHOLE.by((MERGED, MERGED.replace("x.tr", "x.flip(1).tr"))),
    Mistake("", "a line of __init__ lost: it stops", "", ("self.config = config", "pass")),
    Mistake("", "values in float16: it stops", "", (VALUES, f"{VALUES}.half()")),
]  # fmt: skip

# What right answers write in place of given lines.
AFTER = "        sa_output = self.out_lin(context)"
SEQUENTIAL = [
    ("lin2 = nn.Linear(config.hidden_dim, config.dim)", "lin2 = nn.Linear(config.hidden_dim, config.dim)\n"
     "        self.ffn = nn.Sequential(self.lin1, nn.GELU(), self.lin2)"),
    ("self.lin2(x) ", "self.ffn(sa_output) "),
]  # fmt: skip
SPELT_OUT = """
        def normalise(x, layer):
            variance, mean = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)
            return (x - mean) / torch.sqrt(variance + layer.eps) * layer.weight + layer.bias

"""
RIGHT = {
    "feed-forward network as Sequential": SEQUENTIAL,
    "LayerNorm spelt out": [
        (AFTER, SPELT_OUT + AFTER), (FIRST_NORM, "normalise(sa_output + hidden_states, self.sa_layer_norm)"),
        (SECOND_NORM, "normalise(ffn_output + sa_output, self.output_layer_norm)"),
    ],
    "heads by unflatten, movedim and flatten": [
        (SPLIT, "x.unflatten(-1, (heads, size)).movedim(2, 1)"), (MERGED, "x.movedim(1, 2).flatten(2)"),
    ],
    "heads by chunk and stack": [
        (SPLIT, "torch.stack(x.chunk(heads, dim=-1), dim=1)"), (MERGED, "torch.cat(tuple(x.unbind(1)), dim=-1)"),
    ],
    "GELU by its formula": [
        ("nn.functional.gelu(self.lin1(sa_output))",
         "0.5 * (h := self.lin1(sa_output)) * (1 + torch.erf(h / math.sqrt(2)))"),
    ],
    "skips and norms in float64": [
        (FIRST_NORM, "self.sa_layer_norm((sa_output.double() + hidden_states).float())"),
        (SECOND_NORM, "self.output_layer_norm((ffn_output.double() + sa_output).float())"),
    ],
    "dropout that knows eval mode": [
        ("self.config = config", "self.config = config\n        self.dropout = nn.Dropout(0.1)"),
        ("self.out_lin(context)", "self.dropout(self.out_lin(context))"),
    ],
}  # fmt: skip

EXERCISE = Exercise(cases, put_together, MISTAKES, right=RIGHT, framework="torch", cell="attention_block_answer",
    parts=("attention_init", "attention_scores", "attention_weights", "attention_context"),
    accepted={"detach": "Nothing is trained in this assignment: the trained weights are loaded."},
    shows=("the four parts work together", "heads merged", "skips and LayerNorms in place"),
    axes={"output": "batch, tokens, dim", "weights": "batch, heads, queries, keys"},
)  # fmt: skip
