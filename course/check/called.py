"""Exercises that are a method of a class: called with a case's inputs, whatever the rest of the class does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch import nn

from course.check.base import several


def method(name: str, *given: str) -> Callable[[Any, Any], dict[str, Any]]:
    """How the exercise ``name`` is called, which is a method of that name. given: the inputs, in its own order."""

    def call(student_class: Any, case: Any) -> dict[str, Any]:
        function = getattr(made(student_class, case.config), name)
        inputs = [getattr(case, one).clone() for one in given]
        answer, changed = function(*inputs), [not torch.equal(x, getattr(case, one)) for x, one in zip(inputs, given)]
        again = function(*(getattr(case, one).clone() for one in given))
        return {name: answer, "again": again, "changed": changed}

    return call


def made(student_class: Any, config: Any) -> Any:
    """An object of the class in eval mode. Where ``__init__`` stops, with what it had made: that is its own exercise."""
    module = student_class.__new__(student_class)
    nn.Module.__init__(module)
    module.config = config
    with suppress(Exception):
        module.__init__(config)
    return module.eval()


def whole(student_class: Any, case: Any, ready: type, methods: tuple[str, ...], *names: str) -> dict[str, Any]:
    """What the class gives for the case's hidden states, and as ``ready_…`` with these methods and layers of ``ready``.

    ``problem``: what it stopped with, where it is right with ready-made parts.
    """

    def run(module: nn.Module) -> dict[str, Any]:
        given = case.hidden_states.clone()
        found = dict(zip(names, several(case.load(module)(given), *names), strict=True))
        again = module(case.hidden_states.clone())[0]
        return {**found, "again": again, "changed": not torch.equal(given, case.hidden_states)}

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
