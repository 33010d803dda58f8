"""A class as a whole: as it stands, and with the parts that have exercises of their own ready-made."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course.check._rules.called import made
from course.check.base import several


def whole(
    student_class: Any, case: Any, ready: type, methods: tuple[str, ...], given: str, *names: str
) -> dict[str, Any]:
    """What the class gives for the case's input ``given``; as ``ready_…`` with these methods and layers of ``ready``.

    ``problem``: what it stopped with, where it is right with ready-made parts.
    """
    stored = getattr(case, given)

    def run(module: nn.Module) -> dict[str, Any]:
        inputs = stored.clone()
        first, again = case.load(module)(inputs), module(stored.clone())
        one = len(names) == 1
        found = {names[0]: first} if one else dict(zip(names, several(first, *names), strict=True))
        return {**found, "again": again if one else again[0], "changed": not torch.equal(inputs, stored)}

    def with_ready_parts() -> nn.Module:
        kind = type(student_class.__name__, (student_class,), {name: vars(ready)[name] for name in methods})
        module = made(kind, case.config)
        for name in (name for name in vars(ready)["layers"] if not hasattr(module, name)):
            setattr(module, name, getattr(ready(case.config), name))
        return module

    try:
        found, problem = run(student_class(case.config)), None
    except Exception as error:
        found, problem = {"problem": f"{type(error).__name__}: {error}"[:300]}, error
    try:
        return {**found, **{f"ready_{name}": value for name, value in run(with_ready_parts()).items()}}
    except Exception:
        if problem is not None:
            raise problem from None
        return found
