"""Attention with a cache: torch's own attention in float64 over all tokens at once, of which the last rows are new."""

from __future__ import annotations

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

from .._cache import by

Array = np.ndarray
SCALE = "query @ keyᵀ / √head_size"
ROWS = "Row 0 of the scores belongs to the first new token, and the cached ones stand before it."


def make(generator: np.random.Generator) -> list[Case]:
    """A prompt, a piece behind a cache, one token behind a cache, and a piece with large scores."""
    import torch
    from torch.nn import functional as F

    cases = []
    for (batch, heads, size), old, new, spread in (
        ((2, 3, 4), 0, 5, 1.2), ((3, 2, 6), 4, 3, 1.2), ((2, 4, 3), 6, 1, 1.2), ((3, 4, 5), 2, 7, 25.0),
    ):  # fmt: skip
        shape = (batch, heads, old + new, size)
        query, key, value = (generator.normal(0, width, shape).astype(np.float32) for width in (spread, 1.2, 1.0))
        double = (torch.from_numpy(x.astype(np.float64)) for x in (query, key, value))
        output = F.scaled_dot_product_attention(*double, is_causal=True).numpy()[:, :, old:]
        inputs = {name: x[:, :, old:] for name, x in (("query", query), ("key", key), ("value", value))}
        if old:
            inputs |= {"old_keys": key[:, :, :old], "old_values": value[:, :, :old]}
        expected = {"output": output, "keys": key, "values": value}
        cases.append(Case({"cached": bool(old)}, inputs, expected=expected))
    return cases


def _first(new: int, old: int) -> Array:
    return np.tri(new, old + new, dtype=bool)


def _all(new: int, old: int) -> Array:
    return np.ones((new, old + new), dtype=bool)


def _next(new: int, old: int) -> Array:
    return np.tri(new, old + new, old + 1, dtype=bool)


def _before(new: int, old: int) -> Array:
    return np.tri(new, old + new, old - 1, dtype=bool)


MISTAKES = [
    Mistake("K1-first", "The mask begins at the wrong token: the first new one sees one key only.", ROWS,
            by(visible=_first)),
    Mistake("K1-open", "New tokens see later ones: nothing is masked.",
            "A piece of several tokens needs the causal mask, too.", by(visible=_all)),
    Mistake("K1-next", "Each token sees one token too many: the next one.", "Where does the triangle end?",
            by(visible=_next)),
    Mistake("K1-self", "A token does not see itself.", "The token's own key belongs to what is seen.",
            by(visible=_before)),
    Mistake("K1-alone", "The new tokens see each other only: the cache is not used.",
            "Old keys and new ones, one behind the other.", by(order="none")),
    Mistake("K1-before", "The new keys and values stand before the old ones.", "A cache grows at its end.",
            by(order="before")),
    Mistake("K1-old", "The cache that comes back is the old one.", "Give back what was put together.", by(kept="old")),
    Mistake("K1-new", "The cache that comes back has only the new tokens.", "Give back what was put together.",
            by(kept="new")),
    Mistake("K1-zero", "Hidden scores became 0, and still get weight.",
            "What must a score be, for the softmax to make exactly 0 of it?", by(hidden=0.0)),
    Mistake("K1-late", "The mask came after the softmax: the weights no longer sum to 1.",
            "Hide the scores, then take the softmax.", by(late=True)),
    Mistake("K1-unscaled", "The scores are not divided by √head_size.", SCALE, by(scale=lambda size: 1.0)),
    Mistake("K1-whole", "The scores are divided by head_size, not by its root.", SCALE, by(scale=float)),
    Mistake("K1-queries", "The softmax runs over the queries.", "Each query's weights sum to 1 over the keys.",
            by(axis=-2)),
    *SIDE_EFFECTS,
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch")
