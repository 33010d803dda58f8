"""Blocks whose output is right, in many styles, or wrong."""

from __future__ import annotations

from .._answers import MERGE, PROJECT, block, wrong

CELL = "attention_block_answer"

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

RIGHT = [
    block(
        "the root in a buffer, head by head",
        BUFFER,
        more='self.register_buffer("root", torch.tensor(config.attention_head_size).sqrt(), persistent=False)',
    ),
    block("a namespace of q, k and v, bmm and movedim", ATTRIBUTES),
    block("keywords alone behind the context", rest=KEYWORDS),
    block("skips and norms in float64", rest=IN_FLOAT64),
    block("torch's own attention for the context", READY_MADE),
    block("chunk, stack and cat", CHUNKS),
    block("unflatten, movedim and flatten", UNFLATTENED),
    block("feed-forward network as Sequential", more=SEQUENTIAL, rest=THROUGH_SEQUENTIAL),
    block("dropout that knows eval mode", EVAL_DROPOUT, more="self.dropout = nn.Dropout(0.1)", rest=WITH_DROPOUT),
    block("LayerNorm and GELU spelt out", rest=SPELT_OUT),
]

CONTEXT = "context = weights @ v"
MERGED = "x.transpose(1, 2).reshape(batch, tokens, heads * size)"
FIRST_NORM = "self.sa_layer_norm(sa_output + hidden_states)"
SECOND_NORM = "self.output_layer_norm(ffn_output + sa_output)"
UNBIASED = """x = sa_output + hidden_states
        deviation = torch.sqrt(x.var(-1, keepdim=True) + self.config.eps)
        x = (x - x.mean(-1, keepdim=True)) / deviation
        sa_output = x * self.sa_layer_norm.weight + self.sa_layer_norm.bias"""

SECOND = "self.output_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)"
OUT = "self.out_lin = nn.Linear(config.dim, config.dim)"

WRONG = [
    wrong("out_lin left out of __init__", "L-missing", (OUT, "pass")),
    wrong("out_lin without bias", "L-bias", (OUT, OUT.replace("dim)", "dim, bias=False)"))),
    wrong("a norm that does not scale", "L-weight", (SECOND, SECOND.replace(")", ", elementwise_affine=False)"))),
    wrong("lin2 the wrong way round", "L-size", ("(config.hidden_dim, config.dim)", "(config.dim, config.hidden_dim)")),
    wrong("the config not kept", "L-alone", ("self.config = config", "pass")),
    wrong("eps of the second LayerNorm", "M13", (SECOND, SECOND.replace(", eps=config.eps", ""))),
    wrong("SiLU", "M12-silu", ("nn.functional.gelu(", "nn.functional.silu(")),
    wrong("the feed-forward network fed the context", "", ("self.lin1(sa_output)", "self.lin1(context)")),
    wrong(
        "heads merged in another order", "", (MERGED, MERGED.replace("x.transpose(1, 2)", "x.flip(1).transpose(1, 2)"))
    ),
    wrong("weights transposed", "M4-transposed", (CONTEXT, "context = weights.transpose(-2, -1) @ v")),
    wrong("keys in place of values", "M4-keys", (CONTEXT, "context = weights @ k")),
    wrong("summed over the queries", "M9", (CONTEXT, 'context = torch.einsum("bhqk,bhkd->bhkd", weights, v)')),
    wrong("softmax after the sum", "M9-late", (CONTEXT, "context = (scores @ v).softmax(-1)")),
    wrong(
        "values cut by view alone",
        "M5-values",
        ("v = shape(self.v_lin(hidden_states))", "v = self.v_lin(hidden_states).view(batch, heads, tokens, size)"),
    ),
    wrong("merged by reshape alone", "M6", (MERGED, "x.reshape(batch, tokens, heads * size)")),
    wrong("no skip around the attention", "M7", (FIRST_NORM, "self.sa_layer_norm(sa_output)")),
    wrong("no skip around the feed-forward network", "M7-ffn", (SECOND_NORM, "self.output_layer_norm(ffn_output)")),
    wrong(
        "second skip from the block's input",
        "M7-place",
        (SECOND_NORM, "self.output_layer_norm(ffn_output + hidden_states)"),
    ),
    wrong(
        "both LayerNorms before the addition",
        "M8",
        (FIRST_NORM, "self.sa_layer_norm(sa_output) + hidden_states"),
        (SECOND_NORM, "self.output_layer_norm(ffn_output) + sa_output"),
    ),
    wrong(
        "the second LayerNorm before the addition",
        "M8",
        (SECOND_NORM, "self.output_layer_norm(ffn_output) + sa_output"),
    ),
    wrong("the first LayerNorm missing", "M8-none", (FIRST_NORM, "sa_output + hidden_states")),
    wrong(
        "pre-LN",
        "M8-pre",
        (
            "batch, tokens, dim = hidden_states.shape",
            "batch, tokens, dim = hidden_states.shape\n"
            "        skip = hidden_states\n"
            "        hidden_states = self.sa_layer_norm(skip)",
        ),
        (FIRST_NORM, "sa_output + skip"),
        ("self.lin1(sa_output)", "self.lin1(self.output_layer_norm(sa_output))"),
        (SECOND_NORM, "ffn_output + sa_output"),
    ),
    wrong("ReLU", "M12", ("nn.functional.gelu(", "nn.functional.relu(")),
    wrong(
        "tanh approximation of GELU",
        "M12-tanh",
        ("gelu(self.lin1(sa_output))", 'gelu(self.lin1(sa_output), approximate="tanh")'),
    ),
    wrong("no activation", "M12-none", ("nn.functional.gelu(", "(")),
    wrong("LayerNorms with their default eps", "M13", ("config.dim, eps=config.eps", "config.dim")),
    wrong("unbiased variance", "M13-unbiased", (f"sa_output = {FIRST_NORM}", UNBIASED)),
    wrong(
        "dropout on the context, never switched off",
        "M16",
        (CONTEXT, "context = nn.functional.dropout(weights, 0.1) @ v"),
    ),
    wrong("[CLS] for every token", "", (CONTEXT, "context = (weights @ v)[:, :, :1].expand_as(v)")),
]
