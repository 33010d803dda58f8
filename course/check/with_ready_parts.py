"""Code that uses what earlier exercises made, called twice: with those as they are, and with ready-made ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

from course.check.limits import attempt_limit


def both_ways(function: Callable[..., Any], *given: Any, **ready: Any) -> dict[str, Any]:
    """What ``function(*given)`` gives: as ``y``, and as ``ready_y`` while the names in ``ready`` mean those.

    ready: name in the function's notebook -> what it means the second time. Each call gets copies of ``given``.
    Leaves out what fails; raises what the first call raised where both fail.
    """
    answers: dict[str, Any] = {}
    problem: Exception | None = None
    for name, names in (("y", {}), ("ready_y", ready)):
        try:
            with meaning(getattr(function, "__globals__", {}), names), attempt_limit():
                answers[name] = function(*deepcopy(given))
        except Exception as error:
            problem = problem or error
    if problem is not None and not answers:
        raise problem
    return answers


def own_and_ready(own: Callable[[], Mapping[str, Any]], ready: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """What ``own()`` gives, and as ``ready_y`` what ``ready()`` gives as ``y``.

    Leaves out what fails; raises what the first call raised where both fail.
    """
    answers: dict[str, Any] = {}
    problem: Exception | None = None
    try:
        answers |= own()
    except Exception as error:
        problem = error
    with suppress(Exception):
        answers |= {f"ready_{name}": value for name, value in ready().items()}
    if problem is not None and not answers:
        raise problem
    return answers


def made(student_class: Any, *given: Any, ready: dict[str, Any], **named: Any) -> Any:
    """``student_class(*given, **named)``; where that fails, the same while the names in ``ready`` mean those."""
    try:
        return student_class(*given, **named)
    except Exception as error:
        with meaning(getattr(student_class.__init__, "__globals__", {}), ready), suppress(Exception):
            return student_class(*given, **named)
        raise error


@contextmanager
def meaning(space: dict[str, Any], names: dict[str, Any]) -> Iterator[None]:
    """Within the block, ``names`` have these values in ``space``; afterwards their own again, or none."""
    kept = {name: space[name] for name in names if name in space}
    space.update(names)
    try:
        yield
    finally:
        for name in names:
            space.pop(name, None)
        space.update(kept)
