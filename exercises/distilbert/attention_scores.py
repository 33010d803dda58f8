"""Part 2 of the attention block: the scores, read off a softmax of them."""

from __future__ import annotations

import numpy as np

from autograder.exercise import DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._answers import MERGE, PROJECT, block
from ._block_cases import expecting, ordinary_cases
from ._rules import FACTOR, scores_alone


def cases(generator: np.random.Generator) -> list[Case]:
    return expecting(ordinary_cases(generator), "weights")


# Lines of the solution that mistakes change.
SCORES = "scores = q @ k.transpose(-2, -1)"
SCALE = "q = q / math.sqrt(q.shape[-1])"
SPLIT = "x.view(batch, tokens, heads, size).transpose(1, 2)"
DIVIDED_BY_SIZE = "Your scores are divided by d_k altogether, not by its square root."
GIVEN = "The given line above already divides q; the scores need no further division."
SWAPPED = "Query and key are swapped: entry (i, j) is how token j asks for token i."
ROWS = "Rows are queries, columns are keys: which of the two is transposed?"
BOTH_WAYS = "DistilBERT reads in both directions, and each token may look at every token: nothing is masked here."


def hidden(where: str) -> tuple[str, str]:
    return SCORES, f"{SCORES}\n        scores = scores.masked_fill({where} == 1, -math.inf)"


MISTAKES = [
    Mistake("M2", "Your scores are √(size of a head) times too large: they were not divided.",
            "q comes divided by √d_k already in the given code; was that line lost?", (SCALE, "pass")),
    Mistake("M3", DIVIDED_BY_SIZE, GIVEN, (SCORES, f"{SCORES} / math.sqrt(size)")),
    Mistake("M3", DIVIDED_BY_SIZE, GIVEN, (SCALE, "q = q / size")),
    Mistake("M3-dim", "Your scores are divided by √dim, the width of the whole model.",
            "Each head has its own, smaller width: the last axis of q.", (SCALE, "q = q / math.sqrt(dim)")),
    Mistake("M4-swap", SWAPPED, ROWS, (SCORES, "scores = k @ q.transpose(-2, -1)")),
    Mistake("M5", "The heads are cut out of the wrong axis: a head mixes numbers of different tokens.",
            "First split the last axis into (heads, size), then exchange the token axis with the head axis.",
            (SPLIT, "x.reshape(batch, heads, tokens, size)")),
    Mistake("M5-inter", "The heads are interleaved: neighbouring features went to different heads.",
            "The last axis splits into (heads, size), in this order.",
            (SPLIT, "x.view(batch, tokens, size, heads).permute(0, 3, 1, 2)")),
    Mistake("M10-causal", "No token sees the tokens after it: a causal mask was applied.", BOTH_WAYS,
            hidden("torch.ones(tokens, tokens).triu(1)")),
    Mistake("M10-diagonal", "No token sees itself: the diagonal was masked.", BOTH_WAYS, hidden("torch.eye(tokens)")),
    FACTOR.by((SCORES, f"{SCORES} / math.sqrt(tokens)")),
    DTYPE.by((SCORES, "scores = q.double() @ k.double().transpose(-2, -1)")),
    dropout_at_work("The scores").by((SCORES, f"{SCORES}\n        scores = nn.functional.dropout(scores, 0.5)")),
    Mistake("M4-swap", SWAPPED, ROWS, (SCORES, 'scores = torch.einsum("bhqd,bhkd->bhkq", q, k)')),
    Mistake("", "key not transposed", "", (SCORES, "scores = q @ k")),
    Mistake("", "all axes of the key flipped", "", (SCORES, "scores = q @ k.T")),
    Mistake("", "distances in place of products", "", (SCORES, "scores = -torch.cdist(q, k)")),
    Mistake("", "a bias on the diagonal", "", (SCORES, f"{SCORES} + 2 * torch.eye(tokens)")),
]  # fmt: skip

# What right answers write.
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

RIGHT = {
    "torch's einops: rearrange": block(REARRANGED),
    "vmap over the heads": block(VMAP),
    "broadcast and summed, heads put together again": block(BROADCAST),
    "the three projections in one product": block(ONE_PRODUCT),
    "functional_call, type hints and a walrus": block(CALLED),
    "einsum": block(EINSUM),
    "matmul, permute and contiguous": block(MATMUL),
    "query by query": block(QUERY_BY_QUERY),
    "baddbmm over batch times heads": block(BADDBMM),
    "torch's own multi-head attention": block(MULTI_HEAD),
    "keys times queries, turned back": block(KEYS_FIRST),
    "float64 inside, then back": block(DOUBLE),
}

EXERCISE = Exercise(
    cases, scores_alone, MISTAKES, right=RIGHT, framework="torch", cell="attention_block_answer",
    shows=("every query meets every key", "rows are queries, columns are keys", "scaled once"),
    axes={"weights": "batch, heads, queries, keys"},
)  # fmt: skip
