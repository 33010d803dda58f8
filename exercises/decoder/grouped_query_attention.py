"""Grouped-query attention. Expected answers: transformers' own LlamaAttention. Rotation and tables are ready-made."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, UNSTEADY, Case, Exercise, Mistake, variant

from ._llama import attention_weights, loaded, tensor
from ._modern import tables
from ._rules import MADE_EXTRA, MADE_MISSING, MADE_SIZE, with_parts


def cases(generator: np.random.Generator) -> list[Case]:
    """Groups of three, groups of two, and one head of keys and values for all."""
    from course.modern_parts import ReadyAttention

    made = []
    for (batch, tokens, dim), heads, kv_heads in (
        ((2, 5, 24), 6, 2),
        ((3, 6, 32), 8, 4),
        ((2, 7, 18), 3, 1),
        ((1, 4, 24), 4, 2),
    ):
        cos, sin = (table.astype(np.float32) for table in tables(np.arange(2, tokens + 2), dim // heads))
        weights = attention_weights(generator, dim, heads, kv_heads)
        inputs = {"x": generator.normal(0, 1, (batch, tokens, dim)).astype(np.float32), "cos": cos, "sin": sin}
        given = (tensor(inputs[name]) for name in ("x", "cos", "sin"))
        output = loaded(ReadyAttention(dim, heads, kv_heads), weights)(*given).detach().numpy()
        config = {"dim": dim, "heads": heads, "kv_heads": kv_heads}
        made.append(Case(config, inputs, weights, {}, {"output": output}))
    return made


# Lines of the solution that mistakes change.
SHARED = "keys, values = keys.repeat_interleave(group, dim=1), values.repeat_interleave(group, dim=1)"
TURNED = "queries, keys = rotate(queries, cos, sin), rotate(keys, cos, sin)"
DIVIDED = "/ math.sqrt(self.head_size)"
MASKED = 'scores.masked_fill(later, float("-inf"))'
MERGED = "self.o_proj(attended.transpose(1, 2).flatten(2))"
K_PROJ = "self.k_proj = nn.Linear(dim, kv_heads * self.head_size, bias=False)"
DISTANCE = "only then the distance counts."

MISTAKES = [
    Mistake("GQA-tile", "The heads of keys and values are handed out in turn: 0, 1, 0, 1, …",
            "Neighbouring query heads share one: 0, 0, …, 1, 1, … repeat_interleave does that.",
            (SHARED, "keys, values = keys.repeat(1, group, 1, 1), values.repeat(1, group, 1, 1)")),
    Mistake("GQA-first", "Every query head uses the first head of keys and values.",
            "Each group has its own: heads // kv_heads query heads share one.",
            (SHARED, "keys, values = keys[:, :1], values[:, :1]")),
    Mistake("GQA-scale", "The scores are not divided by the root of head_size.", "√head_size, as in every attention.",
            (DIVIDED, "")),
    Mistake("GQA-scale-dim", "The scores are divided by the root of dim.", "A dot product here sums head_size terms.",
            (DIVIDED, "/ math.sqrt(x.shape[-1])")),
    Mistake("GQA-scale-square", "The scores are divided by head_size, not by its root.", "√head_size.",
            (DIVIDED, "/ self.head_size")),
    Mistake("GQA-mask", "Tokens see later ones: the causal mask is missing.", "Minus infinity above the diagonal.",
            (MASKED, "scores")),
    Mistake("GQA-zeros", "Hidden scores were set to 0, so later tokens still get weight.",
            "Minus infinity before the softmax.", ('float("-inf")', "0.0")),
    Mistake("GQA-rotation", "Queries and keys were not turned.", "rotate(…, cos, sin) for both.", (TURNED, "pass")),
    Mistake("GQA-queries", "Only the queries were turned.", f"The keys, too: {DISTANCE}",
            (TURNED, "queries = rotate(queries, cos, sin)")),
    Mistake("GQA-keys", "Only the keys were turned.", f"The queries, too: {DISTANCE}",
            (TURNED, "keys = rotate(keys, cos, sin)")),
    Mistake("GQA-values", "The values were turned, too.", "Positions decide who looks where, not what is seen.",
            (TURNED, f"{TURNED}\n        values = rotate(values, cos, sin)")),
    Mistake("GQA-axis", "The softmax runs over the queries.", "Each query's weights sum to 1.",
            ("softmax(dim=-1)", "softmax(dim=-2)")),
    Mistake("GQA-output", "o_proj is missing.", "It mixes what the heads found.",
            (MERGED, "attended.transpose(1, 2).flatten(2)")),
    Mistake("GQA-merge", "The heads were put together without moving them after the tokens.",
            "transpose(1, 2) before heads and head_size become one axis.",
            (MERGED, "self.o_proj(attended.reshape(batch, tokens, -1))")),
    Mistake("GQA-self", "A token does not see itself: the first token sees nothing at all.",
            "Only later tokens are hidden.", ("triu(1)", "triu(0)")),
    *(Mistake("GQA-taken", "Keys stand where values belong, or values where keys belong.",
              "Queries meet keys; the weights mix values.", how)
      for how in ((SHARED, f"{SHARED}\n        {wrong}")
                  for wrong in ("keys, values = values, keys", "values = keys", "keys = values"))),
    MADE_MISSING,
    MADE_SIZE.by((K_PROJ, K_PROJ.replace("kv_heads", "heads"))),
    MADE_EXTRA.by((K_PROJ, K_PROJ.replace(", bias=False", ""))),
    CHANGED.by((MERGED, f"{MERGED} + 0 * x.mul_(1.5).sum()")),
    CUT.by(("attended = weights @", "attended = weights.detach() @")),
    UNSTEADY,
]  # fmt: skip

HEAD = """class GroupedQueryAttention(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.head_size = heads, kv_heads, dim // heads
        self.q_proj = nn.Linear(dim, heads * self.head_size, bias=False)
        self.k_proj = nn.Linear(dim, kv_heads * self.head_size, bias=False)
        self.v_proj = nn.Linear(dim, kv_heads * self.head_size, bias=False)
        self.o_proj = nn.Linear(heads * self.head_size, dim, bias=False)

    def forward(self, x, cos, sin):"""
RIGHT = {
    "torch's fused attention": variant(HEAD, """
        b, t, _ = x.shape
        q = rotate(self.q_proj(x).view(b, t, -1, self.head_size).transpose(1, 2), cos, sin)
        k = rotate(self.k_proj(x).view(b, t, -1, self.head_size).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(b, t, -1, self.head_size).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(out.transpose(1, 2).reshape(b, t, -1))
    """),
    "an axis for the group": variant(HEAD, """
        b, t, _ = x.shape
        g, n, s = self.kv_heads, self.heads // self.kv_heads, self.head_size
        q = rotate(self.q_proj(x).view(b, t, g * n, s).permute(0, 2, 1, 3), cos, sin).unflatten(1, (g, n))
        k = rotate(self.k_proj(x).view(b, t, g, s).permute(0, 2, 1, 3), cos, sin)
        v = self.v_proj(x).view(b, t, g, s).permute(0, 2, 1, 3)
        scores = torch.einsum("bgnqs,bgks->bgnqk", q, k) * s**-0.5
        scores = scores + torch.full((t, t), float("-inf")).triu(1)
        mixed = torch.einsum("bgnqk,bgks->bqgns", F.softmax(scores, dim=-1), v)
        return self.o_proj(mixed.flatten(2))
    """),
    "head by head": variant(HEAD, """
        q, k, v = (layer(x).split(self.head_size, dim=-1) for layer in (self.q_proj, self.k_proj, self.v_proj))
        t, group = x.shape[1], self.heads // self.kv_heads
        seen = torch.tril(torch.ones(t, t)) == 1
        turn = lambda y: rotate(y.unsqueeze(1), cos, sin).squeeze(1)
        found = []
        for head in range(self.heads):
            scores = turn(q[head]) @ turn(k[head // group]).mT / self.head_size**0.5
            found.append(torch.where(seen, scores, -torch.inf).softmax(-1) @ v[head // group])
        return self.o_proj(torch.cat(found, dim=-1))
    """),
    "expanded and flattened": variant(HEAD, """
        split = lambda y: y.unflatten(-1, (-1, self.head_size)).movedim(-2, 1)
        q, k, v = split(self.q_proj(x)), split(self.k_proj(x)), split(self.v_proj(x))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        copies = self.heads // self.kv_heads
        k, v = (y[:, :, None].expand(-1, -1, copies, -1, -1).flatten(1, 2) for y in (k, v))
        t = x.size(1)
        scores = (q / math.sqrt(self.head_size)) @ k.transpose(2, 3)
        scores = scores.masked_fill(torch.arange(t)[None] > torch.arange(t)[:, None], torch.finfo(x.dtype).min)
        return self.o_proj((torch.softmax(scores, -1) @ v).movedim(1, 2).flatten(-2))
    """),
    "turned as one, indexed by group": variant(HEAD, """
        b, t, _ = x.shape
        both = torch.cat([self.q_proj(x), self.k_proj(x)], dim=-1).view(b, t, -1, self.head_size).transpose(1, 2)
        both = rotate(both, cos, sin)
        of = torch.arange(self.heads) // (self.heads // self.kv_heads)
        q, k = both[:, : self.heads], both[:, self.heads :][:, of]
        v = self.v_proj(x).view(b, t, self.kv_heads, self.head_size).transpose(1, 2)[:, of]
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).contiguous().view(b, t, -1))
    """),
    "a large negative number": [('float("-inf")', "-1e30")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, with_parts, MISTAKES, right=RIGHT, framework="torch",
    shows=("no look ahead", "queries and keys turned", "neighbours share keys and values", "scaled by √head_size"),
    axes={"output": "batch, tokens, dim"},
)  # fmt: skip
