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

RIGHT = [
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
