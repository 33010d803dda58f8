"""What a model computes on the way, for ``distilbert_lab/3_probing``: noted by hooks, for one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from course.distillation import SentenceClassifier


@dataclass(frozen=True)
class Layer:
    """One layer on one sentence. context (tokens, dim): all heads' outputs, side by side, as they enter ``out_lin``.

    network (tokens, dim): what the feed-forward network writes. The modules are the layer's own.
    """

    context: Tensor
    network: Tensor
    out_lin: nn.Linear
    first_norm: nn.LayerNorm
    second_norm: nn.LayerNorm


@torch.no_grad()
def inside(model: SentenceClassifier, ids: Tensor) -> tuple[Tensor, list[Layer]]:
    """ids (1, tokens) -> the embedding (tokens, dim), and what each layer computed"""
    noted: dict[Any, Tensor] = {}
    handles = []
    layers: list[Any] = list(model.layers)
    for layer in layers:
        attention = layer.attention
        note_input = lambda module, given: noted.__setitem__(module, given[0][0])  # noqa: E731
        note_output = lambda module, given, result: noted.__setitem__(module, result[0])  # noqa: E731
        handles.append(attention.out_lin.register_forward_pre_hook(note_input))
        handles.append(layer.ffn.register_forward_hook(note_output))
    try:
        embedded = model.hidden_states(ids)[0][0]
    finally:
        for handle in handles:
            handle.remove()
    return embedded, [
        Layer(noted[layer.attention.out_lin], noted[layer.ffn], layer.attention.out_lin, layer.sa_layer_norm,
              layer.output_layer_norm)
        for layer in layers
    ]  # fmt: skip


@contextmanager
def silenced(model: SentenceClassifier, layer: int, head: int) -> Iterator[None]:
    """Inside the ``with`` block this head writes zeros."""
    attention: Any = model.layers[layer].attention
    size = attention.attention_head_size

    def zero(module: nn.Module, given: tuple[Tensor, ...]) -> Tensor:
        context = given[0].clone()
        context[..., head * size : (head + 1) * size] = 0
        return context

    handle = attention.out_lin.register_forward_pre_hook(zero)
    try:
        yield
    finally:
        handle.remove()
