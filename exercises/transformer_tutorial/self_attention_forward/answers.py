"""Right and wrong queries, keys and values for the attention."""

from __future__ import annotations

from .._answers import body, right, self_attention, wrong

CELL = "self_attention_answer"
SPLIT = ".view(b, t, h, k)"
ATTEND = "out = self.attention(queries, keys, values, b, h, t, k, mask)"
NAMES = ("queries", "keys", "values")
OWN_ATTENTION = """
    q, k_, v = (part.transpose(1, 2) for part in (queries, keys, values))
    allowed = None if mask is None else mask[:, None, None]
    out = F.scaled_dot_product_attention(q, k_, v, attn_mask=allowed).transpose(1, 2).reshape(b, t, h * k)
"""

RIGHT = [
    self_attention("the assignment's own signature, without a mask", masked=False),
    self_attention("stacked chunks", forward="""
        split = lambda x: torch.stack(x.chunk(h, dim=-1), dim=2)
        queries, keys, values = split(self.to_queries(x)), split(self.to_keys(x)), split(self.to_values(x))
    """),
    self_attention("matrices by hand", forward="""
        queries = torch.einsum("btk,hik->bthi", x, self.to_queries.weight.view(h, k, k))
        keys = torch.einsum("btk,hik->bthi", x, self.to_keys.weight.view(h, k, k))
        values = torch.einsum("btk,hik->bthi", x, self.to_values.weight.view(h, k, k))
    """),
    right("without the class of the exercise before", (ATTEND, body(OWN_ATTENTION, 8).strip())),
    self_attention("functional_call, with type hints", forward="""
        call = torch.func.functional_call
        maps: list[nn.Linear] = [self.to_queries, self.to_keys, self.to_values]
        queries, keys, values = (call(part, dict(part.named_parameters()), (x,)).view(b, t, h, k) for part in maps)
    """),
    self_attention("one product with all three weights", forward="""
        weight = torch.cat([self.to_queries.weight, self.to_keys.weight, self.to_values.weight])
        queries, keys, values = F.linear(x, weight).unflatten(-1, (3, h, k)).unbind(2)
    """),
]  # fmt: skip

WRONG = [
    wrong("(k, h) in place of (h, k)", "SPLIT-inter", (SPLIT, ".view(b, t, k, h).transpose(2, 3)")),
    wrong("heads cut from the tokens", "SPLIT-view", (SPLIT, ".view(b, h, t, k).transpose(1, 2)")),
    wrong("heads before tokens", "SPLIT-turned", (SPLIT, ".view(b, t, h, k).transpose(1, 2)")),
    wrong("queries and keys exchanged", "SPLIT-swap", ("queries = self.to_queries", "queries = self.to_keys"),
          ("keys = self.to_keys(x)", "keys = self.to_queries(x)")),
    wrong("keys and values exchanged", "SPLIT-values", ("keys = self.to_keys(x)", "keys = self.to_values(x)"),
          ("values = self.to_values(x).", "values = self.to_keys(x).")),
    wrong("all from one map", "SPLIT-all", ("self.to_keys(x)", "self.to_queries(x)"),
          ("self.to_values(x)", "self.to_queries(x)")),
    wrong("not mapped at all", "",
          *((f"self.to_{name}(x){SPLIT}", "x.unsqueeze(2).expand(b, t, h, k)") for name in NAMES)),
    wrong("not split", "", (SPLIT, "")),
    wrong("the attention lost", "GIVEN-attention",
          ("self.attention = DotProductAttention(dropout)", "pass")),
    wrong("the mask not handed on", "GIVEN-mask", ("b, h, t, k, mask)", "b, h, t, k)"), unseen=True),
    wrong("another dropout", "GIVEN-rate", ("DotProductAttention(dropout)", "DotProductAttention(0.0)"), unseen=True),
    wrong("queries from the values' map", "SPLIT-others", ("self.to_queries(x)", "self.to_values(x)")),
    wrong("what comes out is dropped", "M16",
          ("return self.unify_heads(out)", "return F.dropout(self.unify_heads(out))"), unseen=True),
]  # fmt: skip
