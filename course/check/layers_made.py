"""Which layers a class makes by itself: what loading stored weights, or ready-made layers, would put right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from torch import Tensor, nn

from course.check.base import fail


def layers_made(kind: Any, config: Any) -> list[str] | None:
    """The layers of ``kind(config)`` by name, and ``name sizes`` of every parameter, say ``out_lin.weight 12 12``.

    None where it stops.
    """
    with suppress(Exception):
        module = kind(config)
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


def check_layers(name: str, module: nn.Module, sizes: Mapping[str, Sequence[int]]) -> None:
    """Fails where a layer is missing, has other sizes, or has no bias. sizes: layer -> shape of its weight"""
    for layer, want in sizes.items():
        found = getattr(module, layer, None)
        if not isinstance(found, nn.Module):
            fail(
                name,
                f"a layer called {layer} is expected.",
                f"{type(module).__name__} has none of that name.",
                f"Names count: self.{layer} = …",
            )
        parameters = dict(found.named_parameters())
        for part in ("weight",) if isinstance(found, nn.Embedding) else ("weight", "bias"):
            if part not in parameters:
                look = "A layer of torch has one unless told otherwise, and the trained weights bring one."
                fail(name, f"{layer} must have a {part}.", "Yours has none.", look)
        came = tuple(parameters["weight"].shape)
        if came != tuple(want):
            look = "Every size comes from the config; which of them comes first?"
            fail(name, f"the weight of {layer} must have shape {tuple(want)}.", f"Yours has {came}.", look)
