"""Right and wrong maps of ``SelfAttention``."""

from __future__ import annotations

from .._answers import right, self_attention, wrong

CELL = "self_attention_answer"
MAP = "nn.Linear(k, k * heads, bias=False)"
QUERIES, VALUES = f"self.to_queries = {MAP}", f"self.to_values = {MAP}"

RIGHT = [
    self_attention("values first, sizes by name", """
        self.to_values = nn.Linear(in_features=k, out_features=heads * k, bias=False)
        self.unify_heads = nn.Linear(in_features=heads * k, out_features=k)
        self.to_queries = nn.Linear(in_features=k, out_features=heads * k, bias=False)
        self.to_keys = nn.Linear(in_features=k, out_features=heads * k, bias=False)
    """),
    self_attention("made in a loop, unflattened", """
        for role in ("keys", "queries", "values"):
            setattr(self, f"to_{role}", nn.Linear(k, heads * k, False))
        self.unify_heads = nn.Linear(heads * k, k)
    """, """
        queries, keys, values = (to(x).unflatten(-1, (h, k)) for to in (self.to_queries, self.to_keys, self.to_values))
    """),
    right("from a generator", (f"self.to_keys = {MAP}", f"made = ({MAP} for _ in range(3))\n"
                                                        "        self.to_keys, self.to_queries, self.to_values = made"),
          (QUERIES, ""), (VALUES, "")),
    self_attention("type hints, keyword arguments alone", """
        sizes: dict[str, int] = {"in_features": k, "out_features": k * heads}
        self.to_queries: nn.Module = nn.Linear(**sizes, bias=False)
        self.to_keys: nn.Module = nn.Linear(**sizes, bias=False)
        self.to_values: nn.Module = nn.Linear(**sizes, bias=False)
        self.unify_heads: nn.Module = nn.Linear(in_features=k * heads, out_features=k, bias=True)
    """),
]  # fmt: skip

WRONG = [
    wrong("one vector for all heads", "MAP-one", (MAP, "nn.Linear(k, k, bias=False)")),
    wrong("sizes exchanged", "MAP-turned", (MAP, "nn.Linear(k * heads, k, bias=False)")),
    wrong("all heads go in", "MAP-wide", (MAP, "nn.Linear(k * heads, k * heads, bias=False)")),
    wrong("one number per head", "MAP-heads", (MAP, "nn.Linear(k, heads, bias=False)")),
    wrong("always eight heads", "MAP-eight", (MAP, "nn.Linear(k, k * 8, bias=False)")),
    wrong("with bias", "MAP-bias", (MAP, "nn.Linear(k, k * heads)")),
    wrong("one map for all three", "MAP-shared", (QUERIES, ""),
          (VALUES, "self.to_queries = self.to_values = self.to_keys")),
    wrong("one map for keys and values", "MAP-two", (VALUES, "self.to_values = self.to_keys")),
    wrong("unify_heads the wrong way round", "MAP-unify", ("nn.Linear(k * heads, k)", "nn.Linear(k, k * heads)")),
    wrong("unify_heads without bias", "MAP-unify-bias",
          ("nn.Linear(k * heads, k)", "nn.Linear(k * heads, k, bias=False)"), unseen=True),
]  # fmt: skip
