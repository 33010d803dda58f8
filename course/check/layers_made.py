"""Which layers a class makes by itself: what loading stored weights, or ready-made layers, would put right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from torch import Tensor, nn


def layers_made(student_class: Any, config: Any) -> list[str] | None:
    """The layers of the class by name, and ``name sizes`` of every parameter, say ``out_lin.weight 12 12``.

    None where it stops.
    """
    with suppress(Exception):
        module = student_class(config)
        layers = [name for name, _ in module.named_children()]
        parameters = module.named_parameters(remove_duplicate=False)
        return [*layers, *(" ".join([name, *map(str, parameter.shape)]) for name, parameter in parameters)]
    return None


def fed_to(layer: nn.Module, kept: list[Tensor]) -> Any:
    """From now on, what the layer is fed is kept, however it is called; ``remove()`` of the result ends it."""

    def keep(_: nn.Module, given: Sequence[Any], named: Mapping[str, Any]) -> None:
        kept.extend(value.detach().clone() for value in (*given, *named.values()) if isinstance(value, Tensor))

    return layer.register_forward_pre_hook(keep, with_kwargs=True)


def runs(module: nn.Module, inputs: Tensor) -> bool:
    """Whether the module works on these inputs."""
    with suppress(Exception):
        module(inputs)
        return True
    return False
