"""Activation patching, by what must be true of it."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, passed, running, same_shape
from course.check.decoder._looking import LAYERS, VOCABULARY, nothing_left, small_model
from course.check.modules import undisturbed

TOKENS = 5


@undisturbed
def patch(function: Any) -> None:
    """The corrupted run, with one vector of the clean run put in its place."""
    name = "patch"
    model = small_model()
    clean, corrupted = (torch.randint(VOCABULARY, (2, TOKENS)) for _ in range(2))
    corrupted[:, 2] = (clean[:, 2] + 1) % VOCABULARY
    before = model(corrupted)

    def patched(layer: int, token: int, clean: torch.Tensor = clean) -> Any:
        with running(name, f"layer {layer}, token {token}", "Two runs: the first keeps, the second puts in."):
            found = function(model, clean.clone(), corrupted.clone(), layer, token)
        same_shape(
            name, "the logits", found, tuple(before.shape), "(batch, tokens, vocabulary)", "Return the second run's."
        )
        nothing_left(name, model)
        return found

    last = patched(LAYERS - 1, 2)
    if close(last, before):
        came = "Yours gives the corrupted run's, unchanged."
        fail(name, "patching changes the logits.", came, "A hook that returns a tensor puts it in the output's place.")
    if not close(last[:, 2], model(clean)[:, 2]):
        came = "Yours gives something else."
        look = "Keep the output of model.layers[layer] at the token from the clean run."
        fail(name, "behind the last layer, the token that was patched predicts as in the clean run.", came, look)
    others = [token for token in range(TOKENS) if token != 2]
    if not close(last[:, others], before[:, others]):
        fail(name, "behind the last layer, other tokens stay as they were.", "Yours change.", "Only this one token.")
    first = patched(0, 2)
    if not close(first[:, :2], before[:, :2]):
        fail(name, "tokens before the patched one cannot see it.", "Yours change.", "Only this one token.")
    if close(first[:, 3:], before[:, 3:]):
        fail(
            name, "behind layer 0, later tokens see the patched one.", "Yours do not change.", "Which layer is patched?"
        )
    if not close(patched(0, 2, corrupted), before):
        fail(name, "patching from the same tokens changes nothing.", "Yours changes.", "Replace, do not add.")
    if not close(model(corrupted), before):
        fail(name, "afterwards the model is as it was before.", "Yours gives other logits.", "Change no weights.")
    passed(name, "one token, one layer", "from clean to corrupted", "no hook is left")
