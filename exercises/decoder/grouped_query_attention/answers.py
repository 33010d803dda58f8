"""Right and wrong ways to share keys and values among query heads."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import module, right, wrong

SHARED = "keys, values = keys.repeat_interleave(group, dim=1), values.repeat_interleave(group, dim=1)"
TURNED = "queries, keys = rotate(queries, cos, sin), rotate(keys, cos, sin)"
DIVIDED = "/ math.sqrt(self.head_size)"
MASKED = 'scores.masked_fill(later, float("-inf"))'
MERGED = "self.o_proj(attended.transpose(1, 2).flatten(2))"
K_PROJ = "self.k_proj = nn.Linear(dim, kv_heads * self.head_size, bias=False)"
INIT = """
    self.heads, self.kv_heads, self.head_size = heads, kv_heads, dim // heads
    self.q_proj = nn.Linear(dim, heads * self.head_size, bias=False)
    self.k_proj = nn.Linear(dim, kv_heads * self.head_size, bias=False)
    self.v_proj = nn.Linear(dim, kv_heads * self.head_size, bias=False)
    self.o_proj = nn.Linear(heads * self.head_size, dim, bias=False)
"""


def attention(name: str, lines: str, init: str = INIT) -> SampleAnswer:
    return module(name, "GroupedQueryAttention", "dim, heads, kv_heads", init, "x, cos, sin", lines)


RIGHT = [
    attention("torch's fused attention", """
        b, t, _ = x.shape
        q = rotate(self.q_proj(x).view(b, t, -1, self.head_size).transpose(1, 2), cos, sin)
        k = rotate(self.k_proj(x).view(b, t, -1, self.head_size).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(b, t, -1, self.head_size).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(out.transpose(1, 2).reshape(b, t, -1))
    """),
    attention("an axis for the group", """
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
    attention("head by head", """
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
    attention("expanded and flattened", """
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
    attention("turned as one, indexed by group", """
        b, t, _ = x.shape
        both = torch.cat([self.q_proj(x), self.k_proj(x)], dim=-1).view(b, t, -1, self.head_size).transpose(1, 2)
        both = rotate(both, cos, sin)
        of = torch.arange(self.heads) // (self.heads // self.kv_heads)
        q, k = both[:, : self.heads], both[:, self.heads :][:, of]
        v = self.v_proj(x).view(b, t, self.kv_heads, self.head_size).transpose(1, 2)[:, of]
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).contiguous().view(b, t, -1))
    """),
    right("a large negative number", ('float("-inf")', "-1e30")),
]  # fmt: skip

WRONG = [
    wrong("repeat", "GQA-tile", (SHARED, "keys, values = keys.repeat(1, group, 1, 1), values.repeat(1, group, 1, 1)")),
    wrong("the first for all", "GQA-first", (SHARED, "keys, values = keys[:, :1], values[:, :1]")),
    wrong("not scaled", "GQA-scale", (DIVIDED, "")),
    wrong("scaled by dim", "GQA-scale-dim", (DIVIDED, "/ math.sqrt(x.shape[-1])")),
    wrong("scaled without root", "GQA-scale-square", (DIVIDED, "/ self.head_size")),
    wrong("no mask", "GQA-mask", (MASKED, "scores")),
    wrong("zeros for hidden scores", "GQA-zeros", ('float("-inf")', "0.0")),
    wrong("not turned", "GQA-rotation", (TURNED, "pass")),
    wrong("queries alone", "GQA-queries", (TURNED, "queries = rotate(queries, cos, sin)")),
    wrong("keys alone", "GQA-keys", (TURNED, "keys = rotate(keys, cos, sin)")),
    wrong("values turned, too", "GQA-values", (TURNED, f"{TURNED}\n        values = rotate(values, cos, sin)")),
    wrong("softmax over the queries", "GQA-axis", ("softmax(dim=-1)", "softmax(dim=-2)")),
    wrong("no o_proj", "GQA-output", (MERGED, "attended.transpose(1, 2).flatten(2)")),
    wrong("merged without transpose", "GQA-merge", (MERGED, "self.o_proj(attended.reshape(batch, tokens, -1))")),
    wrong("itself hidden", "", ("triu(1)", "triu(0)")),
    wrong("k_proj for all heads", "MADE-size", (K_PROJ, K_PROJ.replace("kv_heads", "heads")), points=1.5),
    wrong("k_proj with bias", "MADE-extra", (K_PROJ, K_PROJ.replace(", bias=False", "")), points=1.5),
    wrong("weights cut off", "CUT", ("attended = weights @", "attended = weights.detach() @")),
]  # fmt: skip
