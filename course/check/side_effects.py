"""What the values of a result do not show: what a call changes, and whether training can reach what it is made of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from course.check.base import fail, tried


def side_effects(call: Callable[..., Any], *given: Tensor, weights: Sequence[Tensor] = ()) -> dict[str, list[bool]]:
    """``changed``: which of the tensors given to ``call`` are other ones afterwards. ``cut``: to which of the floating-
    point ones, and of ``weights``, no gradient comes back. ``unsteady``: whether a second call gives something else.
    Empty where the call fails, or gives nothing.

    Floating-point tensors are given as random ones of the same shape: where numbers are large, gradients vanish.
    """
    asked = [x.requires_grad for x in weights]
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.default_generator.manual_seed(0)
            leaves = [torch.randn_like(x).requires_grad_() if x.is_floating_point() else x.clone() for x in given]
            passed = [leaf * 1 if leaf.requires_grad else leaf for leaf in leaves]  # no leaf: may be changed in place
            kept = [x.detach().clone() for x in passed]
            for weight in weights:  # stored weights are loaded without
                weight.requires_grad_()
            result = call(*passed)
            if result is None:  # what is missing is judged elsewhere
                return {}
            changed = [x.shape != old.shape or not torch.equal(x, old) for x, old in zip(passed, kept, strict=True)]
            wanted = [leaf for leaf in leaves if leaf.requires_grad] + list(weights)
            if any(changed):  # what a gradient needs may be among it
                return {"changed": changed}
            return {
                "changed": changed,
                "cut": _cut(result, wanted),
                "unsteady": [_differs(result, tried(lambda: call(*passed)))],
            }
    except Exception:
        return {}
    finally:
        for weight, before in zip(weights, asked, strict=True):
            weight.requires_grad_(before)


def changed(call: Callable[..., Any], *given: Tensor) -> list[bool]:
    """Which of the tensors given to ``call`` are other ones afterwards, for functions with which nothing is trained."""
    return side_effects(call, *given).get("changed", [False])


def _differs(first: Any, second: Any) -> bool:
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        return False
    return first.shape != second.shape or not torch.allclose(first, second, rtol=1e-3, atol=1e-4, equal_nan=True)


def _cut(result: Any, wanted: Sequence[Tensor]) -> list[bool]:
    """To which of these no gradient comes back from the result; a result that is no tensor is cut off from all."""
    if not isinstance(result, Tensor) or not result.requires_grad:
        return [True] * len(wanted)
    total = (result.double() * torch.rand(result.shape, dtype=torch.double)).sum()
    try:
        gradients = torch.autograd.grad(total, list(wanted), allow_unused=True)
    except RuntimeError as error:
        if "inplace" not in str(error):  # what a layer needs to send gradients back was overwritten
            raise
        return [True] * len(wanted)
    return [gradient is None or not bool(gradient.any()) for gradient in gradients]


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
