"""The stretch goal of notebook 5: a head that writes its mean in place of nothing. Ungraded."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, passed, running, same_shape
from course.check.decoder._looking import HEADS, VOCABULARY, nothing_left, small_model
from course.check.modules import undisturbed
from course.check.stretch import begun


@undisturbed
def mean_knock_out(function: Any) -> None:
    """The heads that are named write their own mean over batch and tokens, everywhere."""
    name = "mean_knock_out"
    model, ids = small_model(), torch.randint(VOCABULARY, (2, 6))
    if not begun(name, function, model, ids, 1, [0]):
        return
    with running(name, "layer 1, head 0", "Which module does the hook sit on, and what is it given?"):
        found = function(model, ids, 1, [0])
    before = model(ids)
    same_shape(name, "the logits", found, tuple(before.shape), "(batch, tokens, vocabulary)")
    nothing_left(name, model)
    attention = model.layers[1].self_attn
    entering: list[torch.Tensor] = []
    handle = attention.o_proj.register_forward_pre_hook(lambda _, given: entering.append(given[0].clone()))
    model(ids)
    handle.remove()
    size = attention.o_proj.weight.shape[1] // HEADS
    entering[0][..., :size] = entering[0][..., :size].mean(dim=(0, 1))
    handle = attention.o_proj.register_forward_pre_hook(lambda _, given: (entering[0],))
    want = model(ids)
    handle.remove()
    if not close(found, want, 1e-3):
        look = "The mean runs over batch and tokens: (head_size,) numbers for each head."
        fail(name, "the head writes its own mean at every token.", "Yours writes something else.", look)
    passed(name, "the head writes its mean")
