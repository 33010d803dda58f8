"""Attention with a cache, in float64 NumPy with knobs, to say what people compute who make a certain mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._attention import softmax

Array = np.ndarray


def attend_cached(
    inputs: Mapping[str, Array],
    *,
    visible: Callable[[int, int], Array] = lambda new, old: np.tri(new, old + new, old, dtype=bool),
    hidden: float = -np.inf,
    scale: Callable[[int], float] = lambda size: size**0.5,
    axis: int = -1,
    late: bool = False,
    order: str = "behind",
    kept: str = "all",
) -> dict[str, Array]:
    """Output, keys and values; the defaults are right. order: of the new among the old, or ``none`` of the old"""
    query, key, value = (inputs[name].astype(np.float64) for name in ("query", "key", "value"))
    none = np.zeros((*key.shape[:2], 0, key.shape[3]))
    old = tuple(inputs.get(name, none).astype(np.float64) for name in ("old_keys", "old_values"))
    pairs = list(zip(old, (key, value), strict=True))
    keys, values = (np.concatenate((new, past) if order == "before" else (past, new), 2) for past, new in pairs)
    if order == "none":
        keys, values = key, value
    new = query.shape[2]
    scores = query @ keys.swapaxes(-1, -2) / scale(query.shape[3])
    seen = visible(new, keys.shape[2] - new)
    with np.errstate(invalid="ignore", over="ignore"):
        weights = softmax(scores if late else np.where(seen, scores, hidden), axis)
        output = (np.where(seen, weights, 0) if late else weights) @ values
    returned = {"all": (keys, values), "new": (key, value), "old": old if old[0].size else (key, value)}[kept]
    return {"output": output, "keys": returned[0], "values": returned[1]}


def by(**settings: Any) -> Callable[[Any], Mapping[str, Array]]:
    """What comes out with these knobs, for the inputs of a case."""
    return lambda case: attend_cached(case.inputs, **settings)
