"""Part 4 of the attention block: the context, and the block as a whole."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._answers import MERGE, PROJECT, block
from ._block_cases import low_inner_variance_case, low_variance_case, ordinary_cases
from ._rules import L_ALONE, L_BIAS, L_MISSING, L_SIZE, L_WEIGHT, STOPS, WHOLE, context_and_whole


def cases(generator: np.random.Generator) -> list[Case]:
    """Two of small numbers show a LayerNorm's eps."""
    return [*ordinary_cases(generator), low_variance_case(generator), low_inner_variance_case(generator)]


# Lines of the solution that mistakes change.
VALUES = "v = shape(self.v_lin(hidden_states))"
CONTEXT = "context = weights @ v"
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
    Mistake("M4-transposed", "The weights were transposed before they met the values: each key collected from the "
            "queries.", "Row i of the weights belongs to query i and mixes the values of all keys.",
            (CONTEXT, "context = weights.transpose(-2, -1) @ v")),
    Mistake("M4-keys", "The weights met the keys; what they should mix are the values.",
            "A key says what a token offers, its value is what is collected.", (CONTEXT, "context = weights @ k")),
    Mistake("M9", "The sum runs over the queries: each token's own value, times what all queries give it.",
            "A query's context sums over the keys, the last axis of its weights.",
            (CONTEXT, 'context = torch.einsum("bhqk,bhkd->bhkd", weights, v)')),
    Mistake("M9-late", "The scores met the values before the softmax.",
            "First the weights, then the mixture: the weights meet the values.",
            (CONTEXT, "context = (scores @ v).softmax(-1)")),
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
    dropout_at_work("The block's outputs").by((CONTEXT, "context = nn.functional.dropout(weights, 0.1) @ v")),
    L_MISSING.by((OUT, "pass")),
    L_BIAS.by((OUT, OUT.replace("dim)", "dim, bias=False)"))),
    L_WEIGHT.by((SECOND, SECOND.replace(")", ", elementwise_affine=False)"))),
    L_SIZE.by((LIN2, "(config.dim, config.hidden_dim)")),
    L_ALONE.by(("self.config = config", "pass")),
    CHANGED.by(("return ffn_output, weights", "return ffn_output, weights + 0 * hidden_states.zero_().sum()")),
    DTYPE.by(("return ffn_output, weights", "return ffn_output.double(), weights")),
    WHOLE.by((VALUES, f"{VALUES}.flip(1)")),
    STOPS.by((VALUES, f"{VALUES}.half()")),
    Mistake("", "heads merged in another order", "", (MERGED, MERGED.replace("x.tr", "x.flip(1).tr"))),
    Mistake("", "[CLS] for every token", "", (CONTEXT, "context = (weights @ v)[:, :, :1].expand_as(v)")),
]  # fmt: skip

# What right answers write.
READY_MADE = (
    PROJECT
    + """
weights = (q @ k.transpose(-1, -2)).softmax(-1)
context = nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)
"""
    + MERGE
)
CHUNKS = """
def split(x):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)

q, k, v = split(self.q_lin(hidden_states)), split(self.k_lin(hidden_states)), split(self.v_lin(hidden_states))
weights = torch.softmax(q @ k.transpose(2, 3) / size**0.5, -1)
context = torch.cat((weights @ v).unbind(1), dim=-1)
"""
UNFLATTENED = """
q, k, v = (
    layer(hidden_states).unflatten(-1, (heads, -1)).movedim(2, 1) for layer in (self.q_lin, self.k_lin, self.v_lin)
)
weights = (q.mul(size**-0.5) @ k.swapaxes(-1, -2)).softmax(-1)
context = (weights @ v).movedim(1, 2).flatten(2)
"""
EVAL_DROPOUT = (
    PROJECT
    + """
weights = (q @ k.transpose(-2, -1)).softmax(-1)
context = self.dropout(weights) @ v
"""
    + MERGE
)
SEQUENTIAL = "self.ffn = nn.Sequential(self.lin1, nn.GELU(), self.lin2)"
THROUGH_SEQUENTIAL = """
attended = self.sa_layer_norm(self.out_lin(context) + hidden_states)
return self.output_layer_norm(self.ffn(attended) + attended), weights
"""
WITH_DROPOUT = """
attended = self.sa_layer_norm(self.dropout(self.out_lin(context)) + hidden_states)
fed = nn.functional.dropout(self.lin2(nn.GELU()(self.lin1(attended))), 0.1, training=self.training)
return self.output_layer_norm(fed + attended), weights
"""
SPELT_OUT = """
def normalise(x, layer):
    variance, mean = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(variance + layer.eps) * layer.weight + layer.bias

attended = normalise(self.out_lin(context) + hidden_states, self.sa_layer_norm)
x = self.lin1(attended)
fed = self.lin2(0.5 * x * (1 + torch.erf(x / math.sqrt(2))))
return normalise(fed + attended, self.output_layer_norm), weights
"""

BUFFER = """
q, k, v = (x(hidden_states).unflatten(2, (heads, size)).transpose(1, 2) for x in (self.q_lin, self.k_lin, self.v_lin))
weights = (q / self.root @ k.mT).softmax(-1)
context = torch.cat([(weights[:, h] @ v[:, h]) for h in range(heads)], dim=-1)
"""
ATTRIBUTES = """
from types import SimpleNamespace

heads_of = lambda x: x.view(batch, -1, self.config.n_heads, size).transpose(1, 2)
made = SimpleNamespace(**{name: heads_of(getattr(self, f"{name}_lin")(hidden_states)) for name in "qkv"})
weights = (made.q @ made.k.transpose(3, 2)).div(size**0.5).softmax(3)
context = torch.bmm(weights.flatten(0, 1), made.v.flatten(0, 1)).unflatten(0, (batch, heads))
context = context.movedim(1, -2).reshape(hidden_states.shape)
"""
KEYWORDS = """
attended = nn.functional.layer_norm(
    input=torch.add(input=hidden_states, other=self.out_lin(input=context)), normalized_shape=(dim,),
    weight=self.sa_layer_norm.weight, bias=self.sa_layer_norm.bias, eps=self.sa_layer_norm.eps)
fed = self.lin2(input=nn.functional.gelu(input=self.lin1(input=attended), approximate="none"))
return (self.output_layer_norm(input=attended.add(fed)), weights)
"""
IN_FLOAT64 = """
def add_norm(x, skip, norm):
    x = (x.double() + skip.double())
    x = (x - x.mean(-1, keepdim=True)) * (x.var(-1, correction=0, keepdim=True) + norm.eps).rsqrt()
    return (x * norm.weight + norm.bias).to(hidden_states.dtype)

x = add_norm(self.out_lin(context), hidden_states, self.sa_layer_norm)
x = add_norm(self.lin2(nn.GELU(approximate="none")(self.lin1(x))), x, self.output_layer_norm)
return x, weights
"""

RIGHT = {
    "the root in a buffer, head by head": block(
        BUFFER, more='self.register_buffer("root", torch.tensor(config.attention_head_size).sqrt(), persistent=False)'
    ),
    "a namespace of q, k and v, bmm and movedim": block(ATTRIBUTES),
    "keywords alone after the context": block(rest=KEYWORDS),
    "skips and norms in float64": block(rest=IN_FLOAT64),
    "torch's own attention for the context": block(READY_MADE),
    "chunk, stack and cat": block(CHUNKS),
    "unflatten, movedim and flatten": block(UNFLATTENED),
    "feed-forward network as Sequential": block(more=SEQUENTIAL, rest=THROUGH_SEQUENTIAL),
    "dropout that knows eval mode": block(EVAL_DROPOUT, more="self.dropout = nn.Dropout(0.1)", rest=WITH_DROPOUT),
    "LayerNorm and GELU spelt out": block(rest=SPELT_OUT),
}

EXERCISE = Exercise(
    cases, context_and_whole, MISTAKES, right=RIGHT, framework="torch", cell="attention_block_answer",
    shows=("values are mixed by the weights", "heads merged", "skips and LayerNorms in place", "the block runs"),
    axes={"output": "batch, tokens, dim", "context": "batch, tokens, dim", "weights": "batch, heads, queries, keys"},
)  # fmt: skip
