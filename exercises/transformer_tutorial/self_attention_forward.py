"""``SelfAttention.forward``: what the attention is given must be each head's queries, keys and values.

A stand-in mixes the three in place of the attention; whoever attends without ``self.attention`` is right as well.
"""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._answers import body, self_attention
from ._rules import GIVEN_ATTENTION, GIVEN_MASK, GIVEN_RATE, split
from .self_attention_maps import MAPS

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for b, t, heads, k in ((2, 4, 3, 5), (3, 5, 2, 6), (1, 3, 2, 4)):
        weights = {f"{name}.weight": generator.normal(0, k**-0.5, (k * heads, k)).astype(np.float32) for name in MAPS}
        weights["unify_heads.weight"] = generator.normal(0, (k * heads) ** -0.5, (k, k * heads)).astype(np.float32)
        weights["unify_heads.bias"] = generator.normal(0, 0.3, k).astype(np.float32)
        x = generator.normal(0, 1, (b, t, k)).astype(np.float32)
        made.append(Case({"k": k, "heads": heads}, {"x": x}, weights, {}, _expected(x, heads, weights)))
    return made


def _expected(x: Array, heads: int, weights: dict[str, Array]) -> dict[str, Array]:
    """``output`` with the stand-in for the attention, and ``attended``, with torch's own attention."""
    import torch
    import torch.nn.functional as F

    w = {name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()}
    given = torch.from_numpy(x.astype(np.float64))
    q, k, v = (
        F.linear(given, w[f"to_{name}.weight"]).unflatten(-1, (heads, -1)) for name in ("queries", "keys", "values")
    )
    attended = F.scaled_dot_product_attention(*(part.transpose(1, 2) for part in (q, k, v))).transpose(1, 2)
    found = {"output": q + 2 * k - 3 * v.flip(1), "attended": attended}
    unify = w["unify_heads.weight"], w["unify_heads.bias"]
    return {name: F.linear(mixed.flatten(2), *unify).numpy() for name, mixed in found.items()}


# The lines of the solution that mistakes change.
SPLIT = ".view(b, t, h, k)"
ATTEND = "out = self.attention(queries, keys, values, b, h, t, k, mask)"
ASKED = "It asks for queries, keys and values."


def _ordered(*order: str) -> list[tuple[str, str]]:
    """Patches: other maps than those for queries, keys and values, in this order."""
    return [(f"{name} = self.to_{name}(x)", f"{name} = self.to_{taken}(x)")
            for name, taken in zip(("queries", "keys", "values"), order, strict=True) if name != taken]  # fmt: skip


def _others(*order: str) -> Mistake:
    made = ", ".join(f"to_{name}" for name in order)
    return Mistake(
        "SPLIT-others", f"The attention was given what {made} make, in this order.", ASKED, *_ordered(*order)
    )


MISTAKES = [
    Mistake("SPLIT-inter", "The heads are interleaved: the last axis was taken for (k, h).",
            "A map lays the heads end to end: h times k numbers.", (SPLIT, ".view(b, t, k, h).transpose(2, 3)")),
    Mistake("SPLIT-view", "The heads were cut out of the wrong axis: a head mixes numbers of different tokens.",
            "Each token's numbers are split for themselves: the token axis stays where it is.",
            (SPLIT, ".view(b, h, t, k).transpose(1, 2)")),
    Mistake("SPLIT-turned", "The attention was given (b, h, t, k); it asks for (b, t, h, k).",
            "DotProductAttention moves the heads itself.", (SPLIT, ".view(b, t, h, k).transpose(1, 2)")),
    Mistake("SPLIT-swap", "Queries and keys are swapped.", "Which map makes which?",
            *_ordered("keys", "queries", "values")),
    Mistake("SPLIT-values", "Keys and values are swapped.", "Which map makes which?",
            *_ordered("queries", "values", "keys")),
    Mistake("SPLIT-all", "All three come from one map.", "Each has its own.",
            *_ordered("queries", "queries", "queries")),
    Mistake("SPLIT-all-keys", "All three come from one map.", "Each has its own.", *_ordered("keys", "keys", "keys")),
    *(_others(*order) for order in (
        ("values", "keys", "values"), ("values", "keys", "queries"), ("queries", "queries", "values"),
        ("keys", "keys", "values"), ("queries", "keys", "keys"), ("queries", "keys", "queries"),
        ("queries", "values", "values"), ("keys", "values", "queries"), ("values", "queries", "keys"),
        ("values", "values", "values"))),
    dropout_at_work("What comes out").by(("return self.unify_heads(out)", "return F.dropout(self.unify_heads(out))")),
    GIVEN_ATTENTION.by(("self.attention = DotProductAttention(dropout)", "pass")),
    GIVEN_MASK.by(("b, h, t, k, mask)", "b, h, t, k)")),
    GIVEN_RATE.by(("DotProductAttention(dropout)", "DotProductAttention(0.0)")),
    Mistake("", "not mapped at all", "",
            *((f"self.to_{name}(x){SPLIT}", "x.unsqueeze(2).expand(b, t, h, k)")
              for name in ("queries", "keys", "values"))),
    Mistake("", "not split", "", (SPLIT, "")),
    CHANGED.by((ATTEND, f"{ATTEND}\n        x.zero_()")),
    CUT.by(("self.to_keys(x)", "self.to_keys(x).detach()")),
    DTYPE.by(("return self.unify_heads(out)", "return self.unify_heads(out).double()")),
]  # fmt: skip

OWN_ATTENTION = """
    q, k_, v = (part.transpose(1, 2) for part in (queries, keys, values))
    allowed = None if mask is None else mask[:, None, None]
    out = F.scaled_dot_product_attention(q, k_, v, attn_mask=allowed).transpose(1, 2).reshape(b, t, h * k)
"""
RIGHT = {
    "the assignment's own signature, without a mask": self_attention(masked=False),
    "stacked chunks": self_attention(forward="""
        split = lambda x: torch.stack(x.chunk(h, dim=-1), dim=2)
        queries, keys, values = split(self.to_queries(x)), split(self.to_keys(x)), split(self.to_values(x))
    """),
    "matrices by hand": self_attention(forward="""
        queries = torch.einsum("btk,hik->bthi", x, self.to_queries.weight.view(h, k, k))
        keys = torch.einsum("btk,hik->bthi", x, self.to_keys.weight.view(h, k, k))
        values = torch.einsum("btk,hik->bthi", x, self.to_values.weight.view(h, k, k))
    """),
    "without the class of the exercise before": [(ATTEND, body(OWN_ATTENTION, 8).strip())],
    "functional_call, with type hints": self_attention(forward="""
        call = torch.func.functional_call
        maps: list[nn.Linear] = [self.to_queries, self.to_keys, self.to_values]
        queries, keys, values = (call(part, dict(part.named_parameters()), (x,)).view(b, t, h, k) for part in maps)
    """),
    "one product with all three weights": self_attention(forward="""
        weight = torch.cat([self.to_queries.weight, self.to_keys.weight, self.to_values.weight])
        queries, keys, values = F.linear(x, weight).unflatten(-1, (3, h, k)).unbind(2)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, split, MISTAKES, right=RIGHT, framework="torch", cell="self_attention_answer",
    shows=("queries, keys and values from their own maps", "split into heads", "given lines as they were"),
    axes={"output": "b, t, k"},
)  # fmt: skip
