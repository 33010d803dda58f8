"""The four maps of ``SelfAttention``."""

from __future__ import annotations

from typing import Any

from torch import nn

from course.check.base import fail, passed
from course.check.transformer_tutorial._calls import make, undisturbed

MAPS = ("to_queries", "to_keys", "to_values")


@undisturbed
def self_attention_maps(kind: Any) -> None:
    """Three maps from one word vector to a vector for every head, and one map back."""
    name = "self_attention_maps"
    k, heads = 5, 3
    layer = make(name, kind, k, heads=heads)
    for part in (*MAPS, "unify_heads"):
        given = getattr(layer, part, None)
        if not isinstance(given, nn.Linear):
            fail(name, f"{part} must be an nn.Linear.", f"Yours is {type(given).__name__}.", "Look at __init__.")
        sizes = (k * heads, k) if part == "unify_heads" else (k, k * heads)
        if (given.in_features, given.out_features) != sizes:
            fail(
                name,
                f"with k = {k} and {heads} heads, {part} must lead from {sizes[0]} numbers to {sizes[1]}.",
                f"Yours leads from {given.in_features} to {given.out_features}.",
                "Every head gets a query, a key and a value of size k.",
            )
    biased = [part for part in MAPS if getattr(layer, part).bias is not None]
    if biased:
        fail(
            name, "the three maps have no bias.", f"Yours has one in {', '.join(biased)}.", "nn.Linear can do without."
        )
    if len({id(getattr(layer, part)) for part in MAPS}) < len(MAPS):
        fail(
            name,
            "queries, keys and values are made by three different layers.",
            "Two of yours are the same object.",
            "Three layers, three objects.",
        )
    passed(name, "three maps, one for each role", "sizes", "no bias")
