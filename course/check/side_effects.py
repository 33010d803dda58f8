"""What the values of a result do not show: what a call changes, and whether training can reach what it is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from course.check.base import fail

#: A step of numbers near 1 in float32, and the part of a gradient by which it may miss.
_STEP, _NEAR = 0.002, 0.03
#: A sum in float32 is known but for this part of it.
_FLOAT32 = 1e-6


def side_effects(
    call: Callable[..., Any], *given: Tensor, weights: Sequence[Tensor] = (), step: bool = False
) -> dict[str, list[bool]]:
    """``changed``: which of the tensors given to ``call`` are other ones afterwards. ``cut``: to which of the floating-
    point ones, and of ``weights``, no gradient comes back. Empty where the call fails, or gives nothing.

    step: whether all count as cut off where a small step does not change the result as its gradient says. Then a part
    of it is cut off. For functions without steps and kinks.
    Floating-point tensors are given as random ones of the same shape: where numbers are large, gradients vanish.
    """
    asked = [x.requires_grad for x in weights]
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.manual_seed(0)
            leaves = [torch.randn_like(x).requires_grad_() if x.is_floating_point() else x.clone() for x in given]
            passed = [leaf * 1 if leaf.requires_grad else leaf for leaf in leaves]  # no leaf: may be changed in place
            kept = [x.detach().clone() for x in passed]
            for weight in weights:  # stored weights are loaded without
                weight.requires_grad_()
            chance = torch.get_rng_state()
            result = call(*passed)
            if result is None:  # what is missing is judged elsewhere
                return {}
            changed = [x.shape != old.shape or not torch.equal(x, old) for x, old in zip(passed, kept, strict=True)]
            if any(changed):  # what a gradient needs may be among it
                return {"changed": changed}
            return {"changed": changed, "cut": _cut(call, result, leaves, weights, chance if step else None)}
    except Exception:
        return {}
    finally:
        for weight, before in zip(weights, asked, strict=True):
            weight.requires_grad_(before)


def _cut(
    call: Callable[..., Any], result: Any, leaves: Sequence[Tensor], weights: Sequence[Tensor], chance: Tensor | None
) -> list[bool]:
    """To which of leaves and weights no gradient comes back from the result; a result that is no tensor is cut off
    from all. chance: the state of the random numbers with which the result was made, where a step is to be tried.
    """
    wanted = [leaf for leaf in leaves if leaf.requires_grad] + list(weights)
    if not isinstance(result, Tensor) or not result.requires_grad:
        return [True] * len(wanted)
    shares = torch.rand(result.shape, dtype=torch.double)
    try:
        gradients = torch.autograd.grad((result.double() * shares).sum(), wanted, allow_unused=True)
    except RuntimeError as error:
        if "inplace" not in str(error):  # what a layer needs to send gradients back was overwritten
            raise
        return [True] * len(wanted)
    missing = [gradient is None or not bool(gradient.any()) for gradient in gradients]
    if any(missing) or chance is None:
        return missing
    most = float((result.detach().double() * shares).abs().sum())

    def total(given: list[Tensor]) -> float:
        torch.set_rng_state(chance)
        return float((call(*given).double() * shares).sum())

    return [not _as_a_step_shows(total, most, leaves, weights, gradients)] * len(wanted)


def _as_a_step_shows(
    total: Callable[[list[Tensor]], float],
    most: float,
    leaves: Sequence[Tensor],
    weights: Sequence[Tensor],
    gradients: Sequence[Tensor],
) -> bool:
    """Whether a small step changes ``total(leaves)``, a sum of parts whose sizes add up to ``most``, as gradients say.

    True where that cannot be seen: the call fails, or a step back changes as much less as is missing, as at a kink.
    """
    directions = [torch.randn_like(gradient) for gradient in gradients]
    said = sum(float((gradient.double() * way).sum()) for gradient, way in zip(gradients, directions, strict=True))
    size = max(abs(said), math.sqrt(sum(float(gradient.double().square().sum()) for gradient in gradients)))
    left = iter(directions)
    ways = [next(left) if leaf.requires_grad else None for leaf in leaves]
    moved, own = list(left), [weight.detach().clone() for weight in weights]

    def at(step: float) -> float:
        for weight, before, way in zip(weights, own, moved, strict=True):
            weight.copy_(before + step * way)
        pairs = zip(leaves, ways, strict=True)
        return total([leaf.clone() if way is None else leaf.detach() + step * way for leaf, way in pairs])

    try:
        with torch.no_grad():
            step = _STEP * min(1.0, most / size)
            behind, here, ahead = (at(place) / step for place in (-step, 0.0, step))
    except Exception:
        return True
    finally:
        with torch.no_grad():
            for weight, before in zip(weights, own, strict=True):
                weight.copy_(before)
    bend = abs(ahead - 2 * here + behind)
    return abs((ahead - behind) / 2 - said) <= max(_NEAR * size, 2 * bend, _FLOAT32 * most / step)


def other_entries(given: Mapping[int, Tensor], before: Mapping[int, Tensor]) -> bool:
    """Whether a dictionary of tensors is another one than before."""
    return given.keys() != before.keys() or not all(torch.equal(given[key], before[key]) for key in before)


def check_side_effects(name: str, call: Callable[..., Any], *given: Tensor, weights: Sequence[Tensor] = ()) -> None:
    """Fails where the call changes what it is given, or where training could not reach what the result is made of."""
    found = side_effects(call, *given, weights=weights)
    if any(found.get("changed", ())):
        fail(name, "the inputs must be the same afterwards.", "Yours was changed in place.", "Make new tensors.")
    if any(found.get("cut", ())):
        fail(
            name,
            "training must reach all that the result is made of.",
            "From yours no gradient comes back.",
            "detach, .data, no_grad, tolist() and NumPy cut a result off from what it is made of.",
        )
