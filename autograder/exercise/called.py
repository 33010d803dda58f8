"""How an exercise is called that is a function of its own, or a method of a class: by its check as by grading."""

import copy
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .values import drawn


def called(target: Any, case: Any, name: str, given: Sequence[str], method: str = "") -> dict[str, Any]:
    """The answer ``name``; ``again``, that of a second call; ``changed``, whether the first one changed an input. In
    place of a drawing what it shows, name by name.

    target: a function; or, with ``method``, a class. An object of it is made with the case's ``config`` and weights, in
    eval mode.
    given: the names of the inputs, in the order of the function.

    Raises NoSuchMethod.
    """
    function = method_of(case.load(made(target, case.config)), method) if method else target
    inputs = [copy.deepcopy(getattr(case, one)) for one in given]
    answer = function(*inputs)
    changed = [not same(first, getattr(case, one)) for first, one in zip(inputs, given, strict=True)]
    if shown := drawn(answer):
        return {**shown, "changed": changed}
    # a copy: the second call may write into what the first one gave
    kept = copy.deepcopy(answer.detach() if hasattr(answer, "detach") else answer)
    again = function(*(copy.deepcopy(getattr(case, one)) for one in given))
    return {name: kept, "again": again, "changed": changed}


class NoSuchMethod(AttributeError):
    """The student's class has no method of the exercise's name."""


def method_of(thing: Any, name: str) -> Any:
    """The object's method. Raises NoSuchMethod."""
    if not hasattr(type(thing), name):
        raise NoSuchMethod(f"{type(thing).__name__} has no method {name}")
    return getattr(thing, name)


def made(kind: Any, config: Any) -> Any:
    """An object of the class. Where ``__init__`` stops, with what it had made: that is an exercise of its own."""
    thing = kind.__new__(kind)
    with suppress(Exception):
        thing.__init__(config)
    return thing.eval() if hasattr(thing, "eval") else thing


def names_around(target: Any) -> dict[str, Any]:
    """The names of the notebook that a class or function stands in."""
    own = [getattr(target, name, None) for name in ("forward", "__init__")] if isinstance(target, type) else []
    for function in (*own, target):
        space = getattr(function, "__globals__", None)
        if isinstance(space, dict):
            return space
    return {}


def same(first: Any, second: Any) -> bool:
    """Whether two inputs are equal: tensors, arrays, texts, or lists and dictionaries of these."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if hasattr(first, "shape") and hasattr(second, "shape"):
        return bool(np.array_equal(np.asarray(first), np.asarray(second)))
    return type(first) is type(second) and first == second
