"""Blocks whose scores are right, in many styles, or wrong."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import MERGE, PROJECT, block, wrong

CELL = "attention_block_answer"

EINSUM = """
q, k, v = (layer(hidden_states).view(batch, tokens, heads, size) for layer in (self.q_lin, self.k_lin, self.v_lin))
weights = nn.functional.softmax(torch.einsum("bqhd,bkhd->bhqk", q, k) / size**0.5, dim=3)
context = torch.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, tokens, dim)
"""
MATMUL = """
q = self.q_lin(hidden_states).reshape(batch, tokens, heads, size).permute(0, 2, 1, 3).contiguous()
k = self.k_lin(hidden_states).reshape(batch, tokens, heads, size).permute(0, 2, 3, 1).contiguous()
v = self.v_lin(hidden_states).reshape(batch, tokens, heads, size).permute(0, 2, 1, 3).contiguous()
weights = nn.Softmax(dim=-1)(torch.matmul(q, k) * (1.0 / math.sqrt(size)))
context = torch.matmul(weights, v).permute(0, 2, 1, 3).contiguous().view(batch, tokens, dim)
"""
QUERY_BY_QUERY = (
    PROJECT
    + """
weights = torch.zeros(batch, heads, tokens, tokens)
context = torch.zeros_like(v)
for i in range(tokens):
    scores = torch.stack([(q[:, :, i] * k[:, :, j]).sum(-1) for j in range(tokens)], dim=-1)
    weights[:, :, i] = scores.softmax(-1)
    context[:, :, i] = sum(weights[:, :, i, j, None] * v[:, :, j] for j in range(tokens))
"""
    + MERGE
)
BADDBMM = (
    PROJECT
    + """
q, k, v = (x.reshape(batch * heads, tokens, size) for x in (q, k, v))
scores = torch.baddbmm(torch.zeros(1, tokens, tokens), q, k.transpose(1, 2), beta=0, alpha=1)
weights = scores.softmax(dim=2)
context = torch.bmm(weights, v).view(batch, heads, tokens, size)
weights = weights.view(batch, heads, tokens, tokens)
"""
    + MERGE
)
MULTI_HEAD = """
x = hidden_states.transpose(0, 1)
context, weights = nn.functional.multi_head_attention_forward(
    x, x, x, dim, heads, None, torch.cat([self.q_lin.bias, self.k_lin.bias, self.v_lin.bias]), None, None, False, 0.0,
    torch.eye(dim), torch.zeros(dim), training=False, use_separate_proj_weight=True, average_attn_weights=False,
    q_proj_weight=self.q_lin.weight, k_proj_weight=self.k_lin.weight, v_proj_weight=self.v_lin.weight)
context = context.transpose(0, 1)
"""
DOUBLE = (
    PROJECT
    + """
q, k, v = q.double(), k.double(), v.double()
weights = (q @ k.transpose(-2, -1)).softmax(-1)
context = (weights @ v).float()
weights = weights.to(torch.float32)
"""
    + MERGE
)
KEYS_FIRST = (
    PROJECT
    + """
weights = torch.softmax((k @ q.transpose(-2, -1)).transpose(-2, -1), -1)
context = (v.transpose(-2, -1) @ weights.transpose(-2, -1)).transpose(-2, -1)
"""
    + MERGE
)

REARRANGED = """
from functorch.einops.rearrange import rearrange

q, k, v = (
    rearrange(layer(hidden_states), "b t (h d) -> b h t d", h=heads) for layer in (self.q_lin, self.k_lin, self.v_lin)
)
weights = torch.softmax(q @ rearrange(k, "b h t d -> b h d t") * size**-0.5, dim=-1)
context = rearrange(weights @ v, "b h t d -> b t (h d)")
"""
VMAP = (
    PROJECT
    + """
weights = torch.vmap(lambda a, b: (a @ b.mT).softmax(-1), in_dims=1, out_dims=1)(q, k)
context = torch.vmap(torch.matmul, in_dims=(1, 1), out_dims=1)(weights, v)
"""
    + MERGE
)
BROADCAST = (
    PROJECT
    + """
weights = (q[:, :, :, None] * k[:, :, None]).sum(dim=-1).softmax(dim=-1)
context = torch.tensor_split(weights @ v, heads, dim=1)
context = torch.cat([head.squeeze(1) for head in context], dim=-1)
"""
)
ONE_PRODUCT = """
layers = (self.q_lin, self.k_lin, self.v_lin)
weight, bias = torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers])
three = nn.functional.linear(hidden_states, weight, bias).view(batch, tokens, 3, heads, size)
q, k, v = three.permute(2, 0, 3, 1, 4)
weights = torch.softmax(input=torch.matmul(input=q, other=k.mT).div(math.sqrt(size)), dim=-1)
context = torch.matmul(weights, v).swapaxes(1, 2).flatten(start_dim=2)
"""
CALLED = """
from torch.func import functional_call

def made(layer: nn.Linear) -> torch.Tensor:
    made_by = functional_call(layer, dict(layer.named_parameters()), (hidden_states,))
    return made_by.reshape(batch, tokens, heads, size).transpose(1, 2)

weights = (scores := made(self.q_lin) @ made(self.k_lin).mT / size**0.5).softmax(scores.ndim - 1)
context = (weights @ made(self.v_lin)).transpose(1, 2).reshape(batch, tokens, dim)
"""

RIGHT = [
    block("torch's einops: rearrange", REARRANGED),
    block("vmap over the heads", VMAP),
    block("broadcast and summed, heads put together again", BROADCAST),
    block("the three projections in one product", ONE_PRODUCT),
    block("functional_call, type hints and a walrus", CALLED),
    block("einsum", EINSUM),
    block("matmul, permute and contiguous", MATMUL),
    block("query by query", QUERY_BY_QUERY),
    block("baddbmm over batch times heads", BADDBMM),
    block("torch's own multi-head attention", MULTI_HEAD),
    block("keys times queries, turned back", KEYS_FIRST),
    block("float64 inside, then back", DOUBLE),
]

SCORES = "scores = q @ k.transpose(-2, -1)"
SCALE = "q = q / math.sqrt(q.shape[-1])"
SPLIT = "x.view(batch, tokens, heads, size).transpose(1, 2)"


def _scores(name: str, mistake: str, line: str, old: str = SCORES, unseen: bool = False) -> SampleAnswer:
    """The line that computes the scores, or ``old``, written as ``line``."""
    return wrong(name, mistake, (old, line), unseen=unseen)


WRONG = [
    _scores("never divided", "M2", "pass", old=SCALE),
    _scores("divided twice", "M3", f"{SCORES} / math.sqrt(size)"),
    _scores("divided by the size of a head", "M3", "q = q / size", old=SCALE),
    _scores("divided by the root of the model's width", "M3-dim", "q = q / math.sqrt(dim)", old=SCALE),
    _scores("divided by the root of the tokens too", "M3-factor", f"{SCORES} / math.sqrt(tokens)"),
    _scores("query and key exchanged", "M4-swap", "scores = k @ q.transpose(-2, -1)"),
    _scores("query and key exchanged in einsum", "M4-swap", 'scores = torch.einsum("bhqd,bhkd->bhkq", q, k)'),
    _scores("key not transposed", "", "scores = q @ k"),
    _scores("all axes of the key turned round", "", "scores = q @ k.T"),
    _scores("heads by view alone", "M5", "x.reshape(batch, heads, tokens, size)", old=SPLIT),
    _scores("heads interleaved", "M5-inter", "x.view(batch, tokens, size, heads).permute(0, 3, 1, 2)", old=SPLIT),
    _scores(
        "a causal mask",
        "M10-causal",
        f"{SCORES}\n        scores = scores.masked_fill(torch.ones(tokens, tokens).triu(1) == 1, -math.inf)",
    ),
    _scores(
        "the diagonal masked",
        "M10-diagonal",
        f"{SCORES}\n        scores = scores.masked_fill(torch.eye(tokens) == 1, -math.inf)",
    ),
    _scores("distances in place of products", "", "scores = -torch.cdist(q, k)"),
    _scores("a bias on the diagonal", "", f"{SCORES} + 2 * torch.eye(tokens)", unseen=True),
    # no score can be read from such weights
    wrong(
        "all weights alike",
        "",
        ("weights = scores.softmax(dim=-1)", "weights = torch.full_like(scores, 1 / tokens)"),
        costs={"attention_weights": 0},
    ),
]
