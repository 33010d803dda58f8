"""Notebook 4: the average over the heads."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course.check.base import axis_that_sums_to_one, close, fail, passed, running, same_shape, to_numpy
from course.check.distilbert._functions import is_function
from course.check.modules import undisturbed
from course.check.side_effects import other_entries

LAYERS, HEADS, TOKENS = 4, 3, 5


@undisturbed
def head_average(average_heads: Any) -> None:
    """One matrix for each layer: the average over its heads.

    In layer i, head h puts all its weight on key (h + i) mod 5, whatever the query.
    """
    name = "head_average"
    is_function(name, average_heads)
    probs = {i: torch.eye(TOKENS)[[(h + i) % TOKENS for h in range(HEADS)]] for i in range(LAYERS)}  # (heads, keys)
    probs = {i: rows[None, :, None, :].expand(1, HEADS, TOKENS, TOKENS).clone() for i, rows in probs.items()}
    look = "attention_probs[i] is (1, heads, queries, keys): which axis are the heads?"
    given = {i: weights.clone() for i, weights in probs.items()}
    with running(name, f"{LAYERS} layers of {HEADS} heads and {TOKENS} tokens", look):
        average = average_heads(given)
    if other_entries(given, probs):
        came, make = "Yours was changed in place.", "Put what you make into a new list, not into attention_probs."
        fail(name, "attention_probs must come out as it went in.", came, make)
    _average_shape(name, average)
    array = to_numpy(average).astype(float)
    if not close(array.sum(-1), np.ones((LAYERS, TOKENS))):
        axis = axis_that_sums_to_one(array, ("layers", "queries", "keys"))
        came = f"The first row of yours sums to {array[0, 0].sum():.3g}."
        if axis:
            came = f"Yours sum to 1 over {axis}."
        elif close(array.sum(-1), np.full((LAYERS, TOKENS), HEADS)):
            came = f"Yours sum to {HEADS}, the number of heads: they were added up."
        fail(name, "an average of weights is weights again: each query's row sums to 1.", came, look)
    third = 1 / HEADS
    right = np.array([[third if (key - i) % TOKENS < HEADS else 0.0 for key in range(TOKENS)] for i in range(LAYERS)])
    right = right[:, None, :].repeat(TOKENS, axis=1)
    if float(np.abs(array - right).max()) > 3e-5:
        came = "Yours are others."
        if close(array, right):
            came = "Yours are nearly that: does something compute with too few digits?"
        elif array.max() > 0.99:
            came = "Yours shows one head alone."
        elif close(array, right[::-1]):
            came = "Yours are in reverse order."
        elif close(array, right[:1].repeat(LAYERS, axis=0)):
            came = "Yours are all those of layer 0."
        fail(name, "entry i is the average over the heads of layer i.", came, look)
    passed(name, "one matrix for each layer", "rows sum to 1", "all heads count alike")


def _average_shape(name: str, average: Any) -> None:
    want, axes = (LAYERS, TOKENS, TOKENS), "(n_layers, tokens, tokens)"
    looks = {
        (LAYERS, 1, TOKENS, TOKENS): "The batch axis is still there: one sentence needs none.",
        (LAYERS, HEADS, TOKENS): "That is an average over queries or keys: the heads are still there.",
        (HEADS, TOKENS, TOKENS): "That is an average over the layers: the heads are still there.",
        (TOKENS, TOKENS): "That is one matrix for all layers: each layer keeps its own.",
        (LAYERS, HEADS, TOKENS, TOKENS): "The heads are still there: average over their axis.",
    }
    came = tuple(getattr(average, "shape", ()))
    if isinstance(average, list | tuple | dict):
        same_shape(name, "the average", average, want, axes, "torch.stack makes one tensor of a list of tensors.")
    same_shape(name, "the average", average, want, axes, looks.get(came, "Print the shape after each step."))
