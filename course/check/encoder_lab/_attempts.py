"""Several ways to ask one class for its answer, and how its parts were asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from course.check.encoder_lab._stand_ins import first
from course.check.limits import attempt_limit

Answers = dict[str, Any]


def attempts(stand_ins: Sequence[Callable[[], Answers]], own: Callable[[], Answers]) -> Answers:
    """The answers of each attempt that runs, as ``stand_in/output``, ``stand_in_1/output``, ``own/output`` and so on.

    Raises what the first attempt raised where none of them runs.
    """
    found: Answers = {}
    problem: Exception | None = None
    names = ("stand_in", *(f"stand_in_{number}" for number in range(1, len(stand_ins))))
    for name, attempt in [*zip(names, stand_ins, strict=False), ("own", own)]:
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


def masked_attention(function: Callable[..., Any], case: Any) -> Answers:
    """A masked attention's output, and its weights with and without mask (values that are unit vectors show them)."""
    inputs = case.query, case.key
    unit_values = torch.eye(case.key.shape[1]).expand(len(case.key), -1, -1)
    return {
        "output": first(function(*inputs, case.value, case.mask)),
        "unmasked": first(function(*inputs, case.value)),
        "masked_weights": first(function(*inputs, unit_values, case.mask)),
        "plain_weights": first(function(*inputs, unit_values)),
    }
