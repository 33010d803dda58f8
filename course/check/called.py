"""A class as a whole: as it stands, and with the parts that have exercises of their own ready-made."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import nn

from course.check.base import CheckFailed, several
from course.check.with_ready_parts import own_and_ready
from course.parts import refusal


def whole(
    student_class: Any, case: Any, ready: Any, methods: tuple[str, ...], given: str, *names: str, shorter: bool = False
) -> dict[str, Any]:
    """What the class gives for the case's input ``given``; as ``ready_…`` with methods and layers of ``ready``.

    shorter: a call with fewer tokens comes last, and must not stop: what is kept of a longer sentence shows.
    """
    stored = getattr(case, given)

    def run(kind: Any) -> dict[str, Any]:
        module: nn.Module = case.load(kind(case.config))
        inputs = stored.clone()
        first, again = module(inputs), module(stored.clone())
        if shorter:
            module(stored[:, :2].clone())
        one = len(names) == 1
        found = {names[0]: first} if one else dict(zip(names, several(first, *names), strict=True))
        return {**found, "again": again if one else again[0], "changed": not torch.equal(inputs, stored)}

    return own_and_ready(partial(run, student_class), partial(run, with_ready_parts(student_class, ready, methods)))


def with_ready_parts(student_class: Any, ready: Any, methods: tuple[str, ...], layers: tuple[str, ...] = ()) -> Any:
    """The class with these methods and layers of ``ready``, and with those layers that ``__init__`` does not make."""

    def init(self: Any, *sizes: Any, **named: Any) -> None:
        with suppress(Exception):
            student_class.__init__(self, *sizes, **named)
        names = [name for name in ready.layers if name in layers or not hasattr(self, name)]
        made = ready(*sizes, **named) if names else None  # takes longer than a pass through the student's
        for name in names:
            setattr(self, name, getattr(made, name))

    parts = {name: vars(ready)[name] for name in methods}
    return type(student_class.__name__, (student_class,), {"__init__": init, **parts})


def as_it_stands_or_ready(
    check: Callable[[Any], None], student_class: Any, package: str, parts: Mapping[str, Any], ready: Callable[[], None]
) -> None:
    """``check(student_class)``; or, as in grading, ``ready()`` where some of the parts do not pass their own checks.

    package: that of the checks. parts: exercise -> the class that its check is given. ready: the check of ready-made
    parts.
    """
    try:
        check(student_class)
    except CheckFailed:
        checks = import_module(package)
        wrong = [part for part, its_class in parts.items() if refusal(partial(getattr(checks, part), its_class))]
        if not wrong or len(wrong) == len(parts):
            raise
        ready()
        print(f"  With ready-made parts. Yours do not pass all their checks yet: {', '.join(wrong)}.")
