"""Knocking out heads, by what must be true of it."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, passed, running, same_shape
from course.check.decoder._looking import HEADS, LAYERS, VOCABULARY, nothing_left, small_model
from course.check.modules import undisturbed


@undisturbed
def knock_out(function: Any) -> None:
    """The heads that are named write nothing, all others go on, and the model stays as it was."""
    name = "knock_out"
    model, ids = small_model(), torch.randint(VOCABULARY, (2, 6))
    before = model(ids)

    def silenced(layer: int, heads: list[int]) -> Any:
        with running(name, f"layer {layer}, heads {heads}", "Which module does the hook sit on, and what is it given?"):
            found = function(model, ids.clone(), layer, heads)
        same_shape(name, "the logits", found, tuple(before.shape), "(batch, tokens, vocabulary)", "Return model(ids).")
        nothing_left(name, model)
        return found

    one = silenced(0, [1])
    if not close(model(ids), before):
        fail(name, "afterwards the model is as it was before.", "Yours gives other logits.", "Change no weights.")
    if not close(silenced(0, []), before):
        fail(name, "without any head to silence, the logits stay.", "Yours change.", "Only the heads in the list.")
    if close(one, before):
        fail(
            name, "without head 1 of layer 0 the logits change.", "Yours do not.", "A pre-hook must return the inputs."
        )
    for layer in range(LAYERS):
        _other_heads(name, model, silenced, layer, ids)
    everything = silenced(1, list(range(HEADS)))
    model.layers[1].self_attn.o_proj.weight.data.zero_()
    if not close(everything, model(ids)):
        came = "Yours gives something else."
        fail(name, "without all of its heads a layer adds nothing.", came, "The skip goes on, only heads fall silent.")
    passed(name, "the right heads fall silent", "at every token", "no hook is left")


def _other_heads(name: str, model: Any, silenced: Any, layer: int, ids: torch.Tensor) -> None:
    """A head of which nothing is read can be silenced without a change; no other can."""
    projection = model.layers[layer].self_attn.o_proj
    size = projection.weight.shape[1] // HEADS
    kept = projection.weight.clone()
    for head in range(HEADS):
        projection.weight.data[:, head * size : (head + 1) * size] = 0
        if not close(silenced(layer, [head]), model(ids)):
            came = f"In yours, silencing head {head} of layer {layer} changes others."
            look = "Head h has the numbers h · head_size to (h + 1) · head_size, at every token."
            fail(name, "only the heads in the list fall silent.", came, look)
        projection.weight.data.copy_(kept)
