"""What checks of torch modules share: a quiet surrounding, and layers that must have a name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch
from torch import nn

from course.check.base import fail

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def undisturbed(check: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A check neither records gradients nor moves torch's random numbers on: a seeded notebook stays seeded."""

    @wraps(check)
    def wrapper(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.default_generator.manual_seed(0)
            return check(*args, **kwargs)

    return wrapper


def part(name: str, module: nn.Module, attribute: str) -> Any:
    """``module.attribute``; a missing one is a failed check."""
    found = getattr(module, attribute, None)
    if found is None:
        fail(
            name,
            f"a layer called {attribute} is expected.",
            f"{type(module).__name__} has none of that name.",
            f"Names count: self.{attribute} = …",
        )
    return found
