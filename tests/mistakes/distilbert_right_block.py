"""Notebook 2: attention blocks that are right, each in another style than the course's own."""

from __future__ import annotations

from textwrap import indent

from tests.mistakes.distilbert_answer import BLOCK, StudentAnswer

CLASS = """
class AttentionBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
{init}
        self.out_lin = nn.Linear(config.dim, config.dim)
        self.sa_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)
        self.lin1 = nn.Linear(config.dim, config.hidden_dim)
        self.lin2 = nn.Linear(config.hidden_dim, config.dim)
        self.output_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)
{more}

    def forward(self, hidden_states):
        batch, tokens, dim = hidden_states.shape
        heads, size = self.config.n_heads, self.config.attention_head_size
{attention}
{rest}
"""
IN_ORDER = """
self.q_lin = nn.Linear(config.dim, config.dim)
self.k_lin = nn.Linear(config.dim, config.dim)
self.v_lin = nn.Linear(config.dim, config.dim)
"""
PROJECT = """
def split(x):
    return x.view(batch, tokens, heads, size).transpose(1, 2)

q = split(self.q_lin(hidden_states)) / math.sqrt(size)
k, v = split(self.k_lin(hidden_states)), split(self.v_lin(hidden_states))
"""
MERGE = """
context = context.transpose(1, 2).reshape(batch, tokens, dim)
"""
PLAIN = PROJECT + "weights = torch.softmax(q @ k.mT, dim=-1)\ncontext = weights @ v\n" + MERGE
REST = """
attended = self.sa_layer_norm(self.out_lin(context) + hidden_states)
fed = self.lin2(nn.functional.gelu(self.lin1(attended)))
return self.output_layer_norm(fed + attended), weights
"""


def _right(
    name: str, attention: str = PLAIN, init: str = IN_ORDER, more: str = "", rest: str = REST, fast: bool = False
) -> StudentAnswer:
    parts = {"init": init, "more": more, "attention": attention, "rest": rest}
    text = CLASS.format(**{part: indent(code.strip("\n"), " " * 8) for part, code in parts.items()})
    return StudentAnswer(name, BLOCK, "attention_block_answer", text, fast=fast)


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
HEAD_BY_HEAD = """
q, k, v = self.q_lin(hidden_states), self.k_lin(hidden_states), self.v_lin(hidden_states)
all_weights, all_contexts = [], []
for head in range(heads):
    part = slice(head * size, (head + 1) * size)
    scores = torch.bmm(q[:, :, part], k[:, :, part].transpose(1, 2)) / math.sqrt(size)
    all_weights.append(scores.softmax(dim=-1))
    all_contexts.append(torch.bmm(all_weights[-1], v[:, :, part]))
weights = torch.stack(all_weights, dim=1)
context = torch.cat(all_contexts, dim=-1)
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
READY_MADE = (
    PROJECT
    + """
weights = (q @ k.transpose(-1, -2)).softmax(-1)
context = nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)
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
BY_HAND = (
    PROJECT
    + """
scores = q @ k.transpose(-2, -1)
scores = scores - scores.max(dim=-1, keepdim=True).values
exponentials = torch.exp(scores)
weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
context = weights @ v
"""
    + MERGE
)
LOG_SUM_EXP = (
    PROJECT
    + """
scores = q @ k.transpose(-2, -1)
weights = (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()
context = (weights[..., None] * v[:, :, None]).sum(3)
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
EVAL_DROPOUT = (
    PROJECT
    + """
weights = (q @ k.transpose(-2, -1)).softmax(-1)
context = self.dropout(weights) @ v
"""
    + MERGE
)

OTHER_ORDER = """
self.v_lin = nn.Linear(in_features=config.dim, out_features=config.all_head_size, bias=True)
self.k_lin = nn.Linear(in_features=config.dim, out_features=config.all_head_size, bias=True)
self.q_lin = nn.Linear(in_features=config.dim, out_features=config.all_head_size, bias=True)
"""
BY_NAME = """
for name in ("q_lin", "k_lin", "v_lin"):
    setattr(self, name, nn.Linear(config.n_heads * config.attention_head_size, config.dim))
"""
LISTED = IN_ORDER + "self.projections = nn.ModuleList([self.q_lin, self.k_lin, self.v_lin])\n"
FROM_LIST = (
    """
q, k, v = (p(hidden_states).view(batch, tokens, heads, size).transpose(1, 2) for p in self.projections)
weights = (q @ k.transpose(-2, -1) / math.sqrt(size)).softmax(-1)
context = weights @ v
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


RIGHT = [
    _right("einsum", EINSUM, fast=True),
    _right("matmul, permute and contiguous", MATMUL),
    _right("head by head", HEAD_BY_HEAD),
    _right("query by query", QUERY_BY_QUERY),
    _right("baddbmm over batch times heads", BADDBMM),
    _right("torch's own attention for the context", READY_MADE, fast=True),
    _right("torch's own multi-head attention", MULTI_HEAD),
    _right("chunk, stack and cat", CHUNKS),
    _right("unflatten, movedim and flatten", UNFLATTENED),
    _right("float64 inside, then back", DOUBLE),
    _right("softmax by hand, the largest score subtracted", BY_HAND),
    _right("softmax by logsumexp, context by a sum", LOG_SUM_EXP),
    _right("keys times queries, turned back", KEYS_FIRST),
    _right("projections in another order", init=OTHER_ORDER),
    _right("projections by setattr", init=BY_NAME),
    _right("projections in a ModuleList too", FROM_LIST, init=LISTED),
    _right("feed-forward network as Sequential", more=SEQUENTIAL, rest=THROUGH_SEQUENTIAL),
    _right("dropout that knows eval mode", EVAL_DROPOUT, more="self.dropout = nn.Dropout(0.1)", rest=WITH_DROPOUT),
    _right("LayerNorm and GELU spelt out", rest=SPELT_OUT),
    StudentAnswer(
        "the old class name, subclassed",
        BLOCK,
        "attention_block_answer",
        _right("").text.replace("AttentionBlock", "DistillBertAttention")
        + "\n\nclass AttentionBlock(DistillBertAttention):\n    pass\n",
    ),
]
