"""Notebook 1: what ``MultiHeadAttention`` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import CheckFailed, close, fail, passed, running, same_shape
from course.check.encoder_lab._building import with_own_parts
from course.check.encoder_lab._heads import with_heads
from course.check.encoder_lab._loading import module_of
from course.check.encoder_lab._stand_ins import ReachedInto, StandIn, first, forms, returns_pair
from course.check.modules import part, undisturbed


@undisturbed
def multi_head_attention(kind: Any) -> None:
    """Concatenation of what the heads give, and the last projection."""
    name = "multi_head_attention"
    numbered = [StandIn(torch.zeros(15, 5), float(number)) for number in (1, -2, 3)]
    attention, _, _ = with_heads(name, kind, 15, 3, numbered)
    linear = part(name, attention, "output_linear")
    if tuple(linear.weight.shape) != (15, 15):
        fail(
            name, "output_linear makes 15 numbers out of 15.", f"Yours is {linear}.", "Make multi_head_init pass first."
        )
    _put(linear, torch.eye(15))
    try:
        output = _call(name, kind, attention, numbered, torch.randn(2, 4, 15))
    except CheckFailed as failed:
        if not isinstance(failed.__cause__, ReachedInto):
            raise
        return with_own_parts(name, kind, (15, 3), torch.randn(2, 4, 15))
    same_shape(
        name,
        "the output",
        output,
        (2, 4, 15),
        "(batch, tokens, d_model)",
        "The heads' vectors (2, 4, 5) are laid end to end, along the last axis.",
    )
    if not close(output, torch.tensor([1.0, -2.0, 3.0]).repeat_interleave(5).expand(2, 4, 15)):
        fail(
            name,
            "a token's vector must be: all of head 1, then all of head 2, then all of head 3.",
            f"With heads that give 1s, -2s and 3s yours begins {_few(output[0, 0])}.",
            "Concatenate along the last axis.",
        )
    if not all(close(heard.received[0], numbered[0].received[0]) for heard in numbered):
        fail(
            name, "every head gets the same hidden states.", "Yours get different ones.", "The heads work side by side."
        )
    _put(linear, 2 * torch.eye(15))
    doubled = _call(name, kind, attention, numbered, torch.randn(2, 4, 15))
    if not close(doubled, 2 * output):
        fail(name, "what the heads found goes through output_linear.", "In yours that layer changes nothing.")
    passed(name, "heads side by side", "end to end", "output_linear last")


def _call(name: str, kind: Any, attention: Any, parts: Sequence[StandIn], hidden_states: Tensor) -> Tensor:
    """Its output, with heads that return what the student's own heads return, a tensor or a pair."""
    models = module_of(kind)
    attention.heads = nn.ModuleList(parts)
    pair = returns_pair(lambda: models.AttentionHead(15, 5, 5, 5), hidden_states)
    with running(name, f"the attention on {tuple(hidden_states.shape)}", "Each head takes the hidden states."):
        problem: Exception | None = None
        for form in forms(pair):
            for stand_in in parts:
                stand_in.pair = form
                stand_in.received.clear()
            try:
                return first(attention(hidden_states))
            except Exception as error:
                problem = problem or error
        assert problem is not None
        raise problem


def _put(layer: Any, weight: Tensor) -> None:
    layer.weight.copy_(weight)
    if layer.bias is not None:
        layer.bias.zero_()


def _few(vector: Tensor) -> str:
    return ", ".join(f"{number:.2g}" for number in vector[:6].tolist()) + ", …"
