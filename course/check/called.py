"""A class as a whole: as it stands, and with the parts that have exercises of their own ready-made."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch import nn

from course.check.base import several


def whole(
    student_class: Any, case: Any, ready: Any, methods: tuple[str, ...], given: str, *names: str
) -> dict[str, Any]:
    """What the class gives for the case's input ``given``; as ``ready_…`` with methods and layers of ``ready``."""
    stored = getattr(case, given)

    def run(kind: Any) -> dict[str, Any]:
        module: nn.Module = case.load(kind(case.config))
        inputs = stored.clone()
        first, again = module(inputs), module(stored.clone())
        one = len(names) == 1
        found = {names[0]: first} if one else dict(zip(names, several(first, *names), strict=True))
        return {**found, "again": again if one else again[0], "changed": not torch.equal(inputs, stored)}

    return as_it_stands_and_ready(run, student_class, with_ready_parts(student_class, ready, methods))


def as_it_stands_and_ready(run: Callable[[Any], dict[str, Any]], student_class: Any, ready: Any) -> dict[str, Any]:
    """What ``run`` finds with the class as it stands, and as ``ready_…`` with the class ``ready``.

    ``problem``: what it stopped with, where it runs with ready-made parts. Raises what it stopped with where not.
    """
    try:
        found, problem = run(student_class), None
    except Exception as error:
        found, problem = {"problem": f"{type(error).__name__}: {error}"[:300]}, error
    try:
        return {**found, **{f"ready_{name}": value for name, value in run(ready).items()}}
    except Exception:
        if problem is not None:
            raise problem from None
        return found


def with_ready_parts(student_class: Any, ready: Any, methods: tuple[str, ...], layers: tuple[str, ...] = ()) -> Any:
    """The class with these methods and layers of ``ready``, and with those layers that ``__init__`` does not make."""

    def init(self: Any, config: Any) -> None:
        with suppress(Exception):
            student_class.__init__(self, config)
        names = [name for name in ready.layers if name in layers or not hasattr(self, name)]
        made = ready(config) if names else None  # takes longer than a pass through the student's
        for name in names:
            setattr(self, name, getattr(made, name))

    parts = {name: vars(ready)[name] for name in methods}
    return type(student_class.__name__, (student_class,), {"__init__": init, **parts})
