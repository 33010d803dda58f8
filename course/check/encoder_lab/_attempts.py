"""Several ways to ask one class for its answer, how its parts were asked for, and what it has of its own."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from course.check.encoder_lab._stand_ins import first
from course.check.limits import attempt_limit
from course.check.side_effects import side_effects

Answers = dict[str, Any]


def attempts(stand_ins: Sequence[Callable[[], Answers]]) -> Answers:
    """The answers of each attempt that runs, as ``stand_in/output``, ``stand_in_1/output`` and so on.

    Raises what the first attempt raised where none of them runs.
    """
    found: Answers = {}
    problem: Exception | None = None
    for number, attempt in enumerate(stand_ins):
        name = f"stand_in_{number}" if number else "stand_in"
        try:
            with attempt_limit():
                found |= {f"{name}/{key}": answer for key, answer in attempt().items()}
        except Exception as error:
            problem = problem or error
    if problem is not None and not found:
        raise problem
    return found


def arguments(part: str, names: Sequence[str], made: Sequence[Mapping[str, Any]]) -> Answers:
    """With which numbers a part was made, one row per call; nothing where it was not made under its name."""
    rows = [[_number(call.get(name)) for name in names] for call in made]
    return {f"{part}_arguments": rows} if rows else {}


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) else -1


def listed(owner: nn.Module, parts: Any) -> Answers:
    """How many parts a list holds, how many of them are objects of their own, how many the owner knows of."""
    found = list(parts) if hasattr(parts, "__iter__") else [parts]
    known = {id(module) for module in owner.modules()}
    return {
        "length": len(found),
        "distinct": len({id(part) for part in found}),
        "registered": sum(id(part) in known for part in found),
    }


def values(sizes: Any, names: Sequence[str]) -> list[Any]:
    """The sizes of these names, in order."""
    return [getattr(sizes, name) for name in names]


def own(step: Callable[[], Any]) -> Any:
    """What an earlier step of the student's gives; None where it does not run."""
    try:
        with attempt_limit():
            return step()
    except Exception:
        return None


def parts(owner: nn.Module, *names: str) -> list[bool]:
    """Whether ``__init__`` made each of these parts, under its name. Asked before a stand-in takes its place."""
    return [isinstance(getattr(owner, name, None), nn.Module) for name in names]


def learned(owner: nn.Module, norm: str) -> int:
    """How many of a norm's two parameters, scale and shift, it has."""
    layer = getattr(owner, norm, None)
    return sum(getattr(layer, name, None) is not None for name in ("weight", "bias"))


def own_norms(layer: nn.Module) -> bool:
    """Whether the two norms of an encoder layer share no scale."""
    scales = [getattr(getattr(layer, name, None), "weight", None) for name in ("layer_norm_1", "layer_norm_2")]
    return scales[0] is None or scales[0] is not scales[1]


def effects(*makes: Callable[[], nn.Module], given: Tensor, within: tuple[str, ...] = ("",)) -> Answers:
    """``changed`` and ``cut`` of the first of these modules that works; see :mod:`course.check.side_effects`.

    within: how the names of the weights begin that a gradient must come back to.
    """
    for make in makes:
        with suppress(Exception), attempt_limit():  # a part, which has points of its own, may stop or never end
            module = make()
            named = module.named_parameters()
            loaded = [weight for name, weight in named if name.startswith(within) and not weight.requires_grad]
            if found := side_effects(partial(_first, module), given, weights=loaded):
                return dict(found)
    return {}


def _first(module: nn.Module, given: Tensor) -> Tensor:
    return first(module(given))


def kept_factor(head: nn.Module, vectors: Tensor) -> float:
    """By what a head in training multiplies the numbers of a vector that it does not drop."""
    linear: Any = head.linear
    linear.weight.data.zero_()
    linear.weight.data[:, 0] = 1.0
    linear.bias.data.zero_()
    ones = torch.ones(64, *vectors.shape[1:])
    return float(first(head.train()(ones)).max())
