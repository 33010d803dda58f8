"""The four maps that ``SelfAttention.__init__`` makes: their sizes, their biases, and that they are four."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ._answers import self_attention
from ._rules import UNIFY_BIAS, maps_in_words

MAPS = ("to_keys", "to_queries", "to_values")


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for heads in (3, 4):
        k = int(generator.integers(9, 30))
        expected = {name: np.array([k * heads, k]) for name in MAPS}
        expected |= {
            "unify_heads": np.array([k, k * heads]),
            "biases": np.array([False] * 3),
            "float32": np.array(True),
            "distinct": np.array(3),
            "registered": np.array(4),
        }
        made.append(Case({"k": k, "heads": heads}, expected=expected))
    return made


# The lines of the solution that mistakes change.
MAP = "nn.Linear(k, k * heads, bias=False)"
QUERIES, VALUES = f"self.to_queries = {MAP}", f"self.to_values = {MAP}"
UNIFY = "nn.Linear(k * heads, k)"

MISTAKES = [
    Mistake("MAP-one", "A map gives one vector of size k; it must give one for every head.",
            "All heads share one map: k numbers go in, the vectors of all heads come out, end to end.",
            (MAP, "nn.Linear(k, k, bias=False)")),
    Mistake("MAP-turned", "Input and output size are swapped.",
            "nn.Linear takes what goes in first. Its weight has shape (out, in).",
            (MAP, "nn.Linear(k * heads, k, bias=False)")),
    Mistake("MAP-wide", "Input and output both have the size of all heads together.",
            "What goes in is one word vector, k numbers.", (MAP, "nn.Linear(k * heads, k * heads, bias=False)")),
    Mistake("MAP-heads", "A map gives one number per head.", "Each head gets a whole vector of size k.",
            (MAP, "nn.Linear(k, heads, bias=False)")),
    Mistake("MAP-eight", "The number of heads is fixed at 8.", "It is an argument of __init__.",
            (MAP, "nn.Linear(k, k * 8, bias=False)")),
    Mistake("MAP-bias", "The maps have a bias; the assignment asks for none.",
            "nn.Linear has one unless told otherwise.", (MAP, "nn.Linear(k, k * heads)")),
    Mistake("MAP-dtype", "The maps are no float32: word vectors are, and a product of two dtypes stops.",
            "nn.Linear makes float32 unless told otherwise.",
            (MAP, MAP.replace("False", "False, dtype=torch.float64"))),
    Mistake("MAP-shared", "Keys, queries and values share one map.", "Three layers, three objects.",
            (QUERIES, ""), (VALUES, "self.to_queries = self.to_values = self.to_keys")),
    Mistake("MAP-two", "Two of the three maps are one and the same layer.", "Three layers, three objects.",
            (VALUES, "self.to_values = self.to_keys")),
    Mistake("MAP-unify", "unify_heads does not lead from all heads back to one vector of size k.",
            "All heads end to end go in, heads · k numbers; one word vector comes out, k numbers.",
            (UNIFY, "nn.Linear(k, k * heads)")),
    UNIFY_BIAS.by((UNIFY, "nn.Linear(k * heads, k, bias=False)")),
]  # fmt: skip

RIGHT = {
    "values first, sizes by name": self_attention("""
        self.to_values = nn.Linear(in_features=k, out_features=heads * k, bias=False)
        self.unify_heads = nn.Linear(in_features=heads * k, out_features=k)
        self.to_queries = nn.Linear(in_features=k, out_features=heads * k, bias=False)
        self.to_keys = nn.Linear(in_features=k, out_features=heads * k, bias=False)
    """),
    "made in a loop, unflattened": self_attention("""
        for role in ("keys", "queries", "values"):
            setattr(self, f"to_{role}", nn.Linear(k, heads * k, False))
        self.unify_heads = nn.Linear(heads * k, k)
    """, """
        queries, keys, values = (to(x).unflatten(-1, (h, k)) for to in (self.to_queries, self.to_keys, self.to_values))
    """),
    "from a generator": [
        (f"self.to_keys = {MAP}", f"made = ({MAP} for _ in range(3))\n"
                                  "        self.to_keys, self.to_queries, self.to_values = made"),
        (QUERIES, ""), (VALUES, ""),
    ],
    "type hints, keyword arguments alone": self_attention("""
        sizes: dict[str, int] = {"in_features": k, "out_features": k * heads}
        self.to_queries: nn.Module = nn.Linear(**sizes, bias=False)
        self.to_keys: nn.Module = nn.Linear(**sizes, bias=False)
        self.to_values: nn.Module = nn.Linear(**sizes, bias=False)
        self.unify_heads: nn.Module = nn.Linear(in_features=k * heads, out_features=k, bias=True)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, maps_in_words, MISTAKES, right=RIGHT, framework="torch", cell="self_attention_answer",
    shows=("three maps without bias, one for each role", "one map with bias back", "sizes"),
)  # fmt: skip
