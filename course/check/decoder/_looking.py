"""What the checks and hidden cells of notebook 5 share: small models, and calls that must remove every hook."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from course.check.base import fail
from course.small_decoder import SmallDecoder

VOCABULARY, DIM, HEADS, LAYERS = 9, 12, 3, 2


def small_model() -> Any:
    """An untrained model with weights large enough that every head matters."""
    model = SmallDecoder(VOCABULARY, DIM, HEADS, LAYERS)
    for weight in model.parameters():
        if weight.ndim == 2:
            weight.data.normal_(0, 1.5 / weight.shape[1] ** 0.5)
    return model.eval()


def called(function: Callable[..., Any], model: nn.Module, *calls: Sequence[Any]) -> dict[str, Any]:
    """``logits``: what the function gives for the model and each of these arguments, one after the other; ``hooks``:
    how many hooks it left; ``changed``: whether a weight is another one afterwards.

    Hooks that were left are removed after each call, and weights put back: the next one begins afresh.
    """
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    logits, hooks, changed = [], 0, False
    for arguments in calls:
        given = [value.clone() if isinstance(value, Tensor) else value for value in arguments]
        logits.append(function(model, *given))
        hooks += clear_hooks(model)
        changed |= any(not torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
        model.load_state_dict(before)
    return {"logits": torch.stack(logits), "hooks": hooks, "changed": changed}


def clear_hooks(model: nn.Module) -> int:
    """Remove all hooks from the model and its parts; how many there were."""
    found = 0
    for part in model.modules():
        for hooks in (part._forward_hooks, part._forward_pre_hooks):
            found += len(hooks)
            hooks.clear()
    return found


def nothing_left(name: str, model: nn.Module) -> None:
    """Fails where a hook was left on the model."""
    if clear_hooks(model):
        look = "register_forward_hook gives a handle, and the handle has remove()."
        fail(name, "afterwards the model is as it was before.", "Yours leaves a hook on it.", look)
