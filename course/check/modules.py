"""What checks of torch modules share: quiet surroundings, a student's module, and layers that must have a name."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch
from torch import nn

from course.check.base import fail, running

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


def make(name: str, student_class: Any, *arguments: Any, **named: Any) -> Any:
    """The student's module in eval mode. Fails where ``student_class`` is no class of modules, or cannot be made."""
    if not callable(student_class):
        came = f"It got {student_class!r:.40}."
        fail(name, "give the check the class itself.", came, "Write its name without brackets.")
    label = getattr(student_class, "__name__", "module")
    with running(name, f"making a {label}", "Look at __init__."):
        module = student_class(*arguments, **named)
    if not isinstance(module, nn.Module):
        fail(name, f"{label} must be an nn.Module.", f"It is a {type(module).__name__}.", "class …(nn.Module)")
    return module.eval()


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
