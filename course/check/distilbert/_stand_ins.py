"""Stand-ins for the encoder's blocks, so that the loop through them can be looked at alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn


class StandInLayer(nn.Module):
    """Gives ``x @ matrix + shift`` and the stored attention, and records what it was fed in ``seen``."""

    def __init__(self, matrix: Tensor, shift: Tensor, attention: Tensor, seen: list[Tensor]) -> None:
        super().__init__()
        self.matrix, self.shift, self.attention, self.seen = matrix, shift, attention, seen

    def forward(self, hidden_states: Tensor) -> tuple[Tensor, Tensor]:
        if not isinstance(hidden_states, Tensor):
            came = "both things that the last block gave: take them apart"
            came = came if isinstance(hidden_states, tuple) else type(hidden_states).__name__
            raise TypeError(f"a block takes the hidden states alone (batch, tokens, dim); it was fed {came}")
        self.seen.append(hidden_states.detach().clone())
        return hidden_states @ self.matrix + self.shift, self.attention.clone()


def put_in(model: Any, layers: Sequence[nn.Module]) -> None:
    """Replace the encoder's list, whatever its name: the right one is asked for where the list is made."""
    lists = [name for name, child in model.named_children() if isinstance(child, nn.ModuleList | nn.Sequential)]
    for name in {"attention_layers", *lists}:
        setattr(model, name, nn.ModuleList(layers))


def kept(model: Any, layers: int) -> Tensor | None:
    """``attention_probs`` as one tensor, layers first; None unless there is one tensor of one shape for each layer."""
    found = getattr(model, "attention_probs", None)
    entries: list[Any]
    if isinstance(found, Mapping):
        entries = [found.get(layer) for layer in range(layers)]
    elif isinstance(found, Sequence | Tensor):
        entries = list(found)
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


def size(found: Any) -> int:
    """How many numbers are kept, in whatever nesting."""
    if isinstance(found, Tensor):
        return found.numel()
    if isinstance(found, Mapping):
        return sum(size(entry) for entry in found.values())
    if isinstance(found, list | tuple):
        return sum(size(entry) for entry in found)
    return 0
