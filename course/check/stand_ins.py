"""Small modules that stand in a model for its parts, so that one part of it can be looked at alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import is_stub
from course.check.ready_steps import beginning_after, ending_after
from course.check.unfinished_code import last_local_tensor

#: What a block is fed where what the one before it gave is not taken apart.
BOTH = "both things that the last block gave"


class StandInEmbeddings(nn.Module):
    """Gives one stored tensor (batch, tokens, dim), whatever the ids."""

    def __init__(self, embedded: Tensor) -> None:
        super().__init__()
        self.embedded = embedded

    def forward(self, input_ids: Tensor) -> Tensor:
        return self.embedded.clone()


class StandInLayer(nn.Module):
    """Gives ``x @ matrix + shift`` and the stored attention, and records what it was fed in ``seen``."""

    def __init__(self, matrix: Tensor, shift: Tensor, attention: Tensor, seen: list[Tensor]) -> None:
        super().__init__()
        self.matrix, self.shift, self.attention, self.seen = matrix, shift, attention, seen

    def forward(self, hidden_states: Tensor) -> tuple[Tensor, Tensor]:
        if not isinstance(hidden_states, Tensor):
            came = BOTH if isinstance(hidden_states, tuple) else type(hidden_states).__name__
            raise TypeError(f"a block takes a tensor (batch, tokens, dim); it was fed {came}")
        self.seen.append(hidden_states.detach().clone())
        return hidden_states @ self.matrix + self.shift, self.attention.clone()


class Both(tuple[Tensor, Tensor]):
    """What a block returns; who forgets to take the two apart can still index the first one by ``[:, 0]``."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(0)[key] if isinstance(key, tuple) else super().__getitem__(key)


class StandInOutput(nn.Module):
    """A block that gives one stored tensor and even weights, whatever it is fed."""

    def __init__(self, final: Tensor, heads: int) -> None:
        super().__init__()
        batch, tokens, _ = final.shape
        self.final = final
        self.attention = torch.full((batch, heads, tokens, tokens), 1 / tokens)

    def forward(self, hidden_states: Any) -> Both:
        return Both((self.final.clone(), self.attention.clone()))


class Reached(Exception):
    """The classifier was called: the loop is over."""


class StandInClassifier(nn.Module):
    """Ends the forward pass; without weights, it cannot be used in any other way either."""

    def forward(self, pooled_output: Tensor) -> Tensor:
        raise Reached


@dataclass(frozen=True)
class LoopRecord:
    """What the loop over the layers did.

    layer_inputs: (layers called, batch, tokens, dim), in the order of the calls of the first forward pass
    pooled: (batch, dim), the first token of the loop's output; None where there is none
    attention, attention_again: (layers, batch, heads, tokens, tokens), kept after the first and after the second
        pass; None where there is not one tensor for each layer
    grown: did the second pass keep more than the first?
    """

    layer_inputs: Tensor
    pooled: Tensor | None
    attention: Tensor | None
    attention_again: Tensor | None
    grown: bool


def build(student_class: Any, config: Any) -> nn.Module:
    """``student_class(config)`` in eval mode. A gap left in ``__init__`` leaves the lines before it standing."""
    model = student_class.__new__(student_class)
    try:
        model.__init__(config)
    except NotImplementedError as error:
        if not is_stub(error):
            raise
    module: nn.Module = model.eval()
    return module


def put_in(model: nn.Module, embeddings: nn.Module, layers: Iterable[nn.Module]) -> nn.Module:
    """Replace the embeddings and the encoder's list, whatever the student's list was and however it was called."""
    encoder = nn.ModuleList(layers)
    others = [
        name
        for name, child in model.named_children()
        if isinstance(child, nn.ModuleList | nn.Sequential) and len(child) and all(hasattr(b, "q_lin") for b in child)
    ]
    for name in {"attention_layers", *others}:
        setattr(model, name, encoder)
    model.embeddings = embeddings
    return model


def run_loop(
    model: nn.Module, input_ids: Tensor, embedded: Tensor, matrices: Tensor, shifts: Tensor, attention: Tensor
) -> LoopRecord:
    """Two forward passes through stand-ins: layer i gives ``x @ matrices[i] + shifts[i]`` and ``attention[i]``.

    In the second pass, each gives the weights of the batch's sentences in reverse order.

    embedded: (batch, tokens, dim); matrices: (layers, dim, dim); shifts: (layers, dim);
    attention: (layers, batch, heads, tokens, tokens)

    A classifier that is not there yet, or fails, does no harm: only the loop is looked at.
    """
    seen: list[Tensor] = []
    layers = [StandInLayer(*given, seen) for given in zip(matrices, shifts, attention, strict=True)]
    put_in(model, StandInEmbeddings(embedded), layers)
    pooled = pooled_by(model, input_ids)
    inputs = list(seen)
    first, size = _kept(model, len(layers)), _size(getattr(model, "attention_probs", None))
    for layer in layers:
        layer.attention = layer.attention.flip(0)
    _forward(model, input_ids)
    again, grown = _kept(model, len(layers)), _size(getattr(model, "attention_probs", None)) > size
    layer_inputs = torch.stack(inputs) if inputs else torch.zeros(0, *embedded.shape)
    left = _left_by_loop(model, input_ids) if pooled is not None else None
    pooled = left if left is not None else pooled
    return LoopRecord(layer_inputs, pooled, first, again, grown)


def pooled_by(model: nn.Module, input_ids: Tensor) -> Tensor | None:
    """(batch, dim): what the model's classifier would be given; None where nothing gets there. It is taken out."""
    _end_at_classifier(model)
    return _forward(model, input_ids)


def _left_by_loop(model: nn.Module, input_ids: Tensor) -> Tensor | None:
    """The first token of ``output`` before anything is done with it: that is the classifier's; None where none is."""
    kind = type(model)
    try:
        model.__class__ = ending_after(kind, "attention_layers", "output")
        output = model(input_ids)
        return output[:, 0] if isinstance(output, Tensor) and output.ndim == 3 else None
    except Exception:
        return None
    finally:
        model.__class__ = kind


def run_classifier(model: nn.Module, input_ids: Tensor, final: Tensor, layers: int, heads: int) -> Any:
    """The logits of a model whose every part before the classifier gives ``final`` (batch, tokens, dim)."""
    put_in(model, StandInEmbeddings(final), [StandInOutput(final, heads) for _ in range(layers)])
    return model(input_ids)


def run_classifier_alone(model: nn.Module, input_ids: Tensor, final: Tensor) -> Any:
    """The same, from the line after the loop on that uses ``output``: for a loop that is missing, broken, or misnamed.

    Raises ValueError where there is no such line.
    """
    kind = type(model)
    try:
        model.__class__ = beginning_after(kind, "attention_layers", "output", {"output": final.clone()})
        return model(input_ids)
    finally:
        model.__class__ = kind


def _end_at_classifier(model: nn.Module) -> None:
    """From now on a forward pass ends where the classifier begins, however that is written."""
    layers = [getattr(model, name, None) for name in ("pre_classifier", "classifier")]
    for module in model.modules():
        # a container that the student made of the two, say a Sequential, ends the pass too
        if module is not model and any(layer in list(module.modules()) for layer in layers):
            module.register_forward_pre_hook(_reached)
    model.pre_classifier, model.classifier = StandInClassifier(), StandInClassifier()


def _reached(module: nn.Module, inputs: Any) -> None:
    raise Reached


def _forward(model: nn.Module, input_ids: Tensor) -> Tensor | None:
    """One forward pass up to the classifier: -> the first token of ``output``, (batch, dim).

    Raises what the model raised where it did not get through the loop.
    """
    try:
        model(input_ids)
    except Exception as error:
        pooled = last_local_tensor(error, model, ("pooled_output",))
        misnamed = isinstance(error, NameError) and error.name == "output"
        if pooled is None and not misnamed and not isinstance(error, Reached):
            raise
        output = last_local_tensor(error, model, ("output",))
        # the pooling is a given line: its points are the classifier's
        return output[:, 0] if output is not None and output.ndim == 3 else pooled
    return None


def _kept(model: nn.Module, layers: int) -> Tensor | None:
    """``attention_probs`` as one tensor, layers first; None unless there is one tensor of one shape for each layer."""
    kept = getattr(model, "attention_probs", None)
    entries: list[Any]
    if isinstance(kept, Mapping):
        entries = [kept.get(layer) for layer in range(layers)]
    elif isinstance(kept, Sequence | Tensor):
        entries = list(kept)
    else:
        return None
    tensors: list[Any] = [
        entry[0] if isinstance(entry, list | tuple) and len(entry) == 1 else entry for entry in entries
    ]
    if len(tensors) != layers or not all(isinstance(tensor, Tensor) for tensor in tensors):
        return None
    if len({tensor.shape for tensor in tensors}) != 1:
        return None
    return torch.stack([tensor.detach().clone() for tensor in tensors])


def _size(kept: Any) -> int:
    """How many numbers are kept, in whatever nesting."""
    if isinstance(kept, Tensor):
        return kept.numel()
    if isinstance(kept, Mapping):
        return sum(_size(entry) for entry in kept.values())
    if isinstance(kept, list | tuple):
        return sum(_size(entry) for entry in kept)
    return 0
