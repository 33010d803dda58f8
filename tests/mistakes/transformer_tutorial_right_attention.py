"""Right answers to notebook 1 of the tutorial in other styles than ours."""

from __future__ import annotations

from textwrap import dedent, indent

from tests.mistakes.transformer_tutorial_answer import ATTENTION, Answer

HEAD = """\
class DotProductAttention(nn.Module):
    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def calculate_score(self, queries, keys):
        return torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])

    def forward(self, queries, keys, values, b, h, t, k, mask=None):
"""


def attention(name: str, body: str) -> Answer:
    text = HEAD + indent(dedent(body).strip("\n"), " " * 8)
    return Answer(ATTENTION, "dot_product_attention_answer", name, (), text)


ATTENTIONS = [
    attention("views of contiguous tensors, as many tutorials write it", """
        keys = keys.transpose(1, 2).contiguous().view(b * h, t, k)
        queries = queries.transpose(1, 2).contiguous().view(b * h, t, k)
        values = values.transpose(1, 2).contiguous().view(b * h, t, k)
        score = self.calculate_score(queries, keys)
        if mask is not None:
            score[~mask[:, None, None].expand(b, h, t, t).reshape(b * h, t, t)] = -math.inf
        softmax_weights = F.softmax(score, dim=2)
        out = torch.bmm(self.dropout(softmax_weights), values).view(b, h, t, k)
        return out.transpose(1, 2).contiguous().view(b, t, h * k)
    """),
    attention("einsum, nothing folded", """
        scores = torch.einsum("bqhk,bmhk->bhqm", queries, keys) / k**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf)
        weights = self.dropout(scores.softmax(dim=-1))
        return torch.einsum("bhqm,bmhk->bqhk", weights, values).flatten(2)
    """),
    attention("torch's own attention", """
        q, k_, v = (x.transpose(1, 2) for x in (queries, keys, values))
        allowed = None if mask is None else mask[:, None, None, :]
        rate = self.dropout.p if self.training else 0.0
        out = F.scaled_dot_product_attention(q, k_, v, attn_mask=allowed, dropout_p=rate)
        return out.transpose(1, 2).reshape(b, t, -1)
    """),
    attention("a loop over the heads, in float64", """
        outs = []
        for head in range(h):
            q, k_, v = (x[:, :, head].double() for x in (queries, keys, values))
            scores = (q @ k_.mT) * k**-0.5
            if mask is not None:
                scores = torch.where(mask.unsqueeze(1), scores, torch.tensor(-1e30, dtype=torch.float64))
            outs.append(self.dropout(torch.softmax(scores, -1)) @ v)
        return torch.cat(outs, dim=-1).float()
    """),
    attention("permute and matmul, mask added", """
        q, v = queries.permute(0, 2, 1, 3), values.permute(0, 2, 1, 3)
        scores = torch.matmul(q / math.sqrt(k), keys.permute(0, 2, 3, 1))
        if mask is not None:
            scores = scores + torch.zeros(b, 1, 1, t).masked_fill(~mask.view(b, 1, 1, t), float("-inf"))
        scores = scores - scores.max(dim=-1, keepdim=True).values
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        return torch.matmul(self.dropout(weights), v).permute(0, 2, 1, 3).reshape(b, t, h * k)
    """),
    attention("a large negative number in place of minus infinity", """
        fold = lambda x: x.transpose(1, 2).flatten(0, 1)
        score = self.calculate_score(fold(queries), fold(keys))
        if mask is not None:
            score = score + (mask.repeat_interleave(h, 0)[:, None].float() - 1) * 1e9
        weights = F.dropout(score.softmax(-1), self.dropout.p, self.training)
        return (weights @ fold(values)).unflatten(0, (b, h)).transpose(1, 2).flatten(2)
    """),
]  # fmt: skip

MAPS = """\
class SelfAttention(nn.Module):
    def __init__(self, k, heads=8, dropout=0.1):
        super().__init__()
        self.k, self.heads = k, heads
{init}
        self.attention = DotProductAttention(dropout)

    def forward(self, x{mask}):
        b, t, k = x.size()
        h = self.heads
{forward}
        out = self.attention(queries, keys, values, b, h, t, k{given})
        return self.unify_heads(out)
"""
INIT = """
    self.to_keys = nn.Linear(k, k * heads, bias=False)
    self.to_queries = nn.Linear(k, k * heads, bias=False)
    self.to_values = nn.Linear(k, k * heads, bias=False)
    self.unify_heads = nn.Linear(k * heads, k)
"""
FORWARD = """
    queries = self.to_queries(x).view(b, t, h, k)
    keys = self.to_keys(x).view(b, t, h, k)
    values = self.to_values(x).view(b, t, h, k)
"""


def maps(name: str, init: str = INIT, forward: str = FORWARD, masked: bool = True, text: str = "") -> Answer:
    made = MAPS.format(
        init=indent(dedent(init).strip("\n"), " " * 8),
        forward=indent(dedent(forward).strip("\n"), " " * 8),
        mask=", mask=None" if masked else "",
        given=", mask" if masked else "",
    )
    return Answer(ATTENTION, "self_attention_answer", name, (), text or made)


SELF_ATTENTIONS = [
    maps("the sheet's own signature, without a mask", masked=False),
    maps("values first, sizes by name", """
        self.to_values = nn.Linear(in_features=k, out_features=heads * k, bias=False)
        self.unify_heads = nn.Linear(in_features=heads * k, out_features=k)
        self.to_queries = nn.Linear(in_features=k, out_features=heads * k, bias=False)
        self.to_keys = nn.Linear(in_features=k, out_features=heads * k, bias=False)
    """),
    maps("made in a loop, unflattened", """
        for role in ("keys", "queries", "values"):
            setattr(self, f"to_{role}", nn.Linear(k, heads * k, False))
        self.unify_heads = nn.Linear(heads * k, k)
    """, """
        queries, keys, values = (to(x).unflatten(-1, (h, k)) for to in (self.to_queries, self.to_keys, self.to_values))
    """),
    maps("stacked chunks", INIT, """
        split = lambda x: torch.stack(x.chunk(h, dim=-1), dim=2)
        queries, keys, values = split(self.to_queries(x)), split(self.to_keys(x)), split(self.to_values(x))
    """),
    maps("matrices by hand", INIT, """
        queries = torch.einsum("btk,hik->bthi", x, self.to_queries.weight.view(h, k, k))
        keys = torch.einsum("btk,hik->bthi", x, self.to_keys.weight.view(h, k, k))
        values = torch.einsum("btk,hik->bthi", x, self.to_values.weight.view(h, k, k))
    """),
    maps("without the class of the exercise before", INIT, """
        parts = (to(x).reshape(b, t, h, k).transpose(1, 2) for to in (self.to_queries, self.to_keys, self.to_values))
        allowed = None if mask is None else mask[:, None, None]
        mixed = F.scaled_dot_product_attention(*parts, attn_mask=allowed)
        return self.unify_heads(mixed.transpose(1, 2).reshape(b, t, h * k))
    """),
]  # fmt: skip


def bank(name: str, text: str) -> Answer:
    return Answer(ATTENTION, "bank_reading_answer", name, (), text)


BANKS = [
    bank("capitals and spaces", 'heaviest, nearest, spread = " Bank", "WATER ", "Nearly  equal"'),
    bank("a full stop", 'heaviest, nearest, spread = "bank.", "water.", "nearly equal."'),
    bank("computed", """
keys = "river bank cold water".split()
weights, value = ask("bank", " ".join(keys))
heaviest = keys[weights.argmax()]
nearest = vectors.similar(value)[0][0]
spread = "nearly equal" if weights.max() < 2 * weights.min() else "one takes nearly all"
"""),
    bank("quotes within", "heaviest, nearest, spread = \"'bank'\", '\"water\"', 'nearly equal'"),
]  # fmt: skip

RIGHT = [*ATTENTIONS, *SELF_ATTENTIONS, *BANKS]
