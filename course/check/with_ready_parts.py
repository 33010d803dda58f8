"""Code that uses what earlier exercises made, called twice: with those as they are, and with ready-made ones."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from course.check._rules.case_inputs import names_around
from course.check.limits import attempt_limit


def both_ways(function: Any, call: Callable[[], dict[str, Any]], ready: dict[str, Any]) -> dict[str, Any]:
    """What ``call()`` gives, and as ``ready_y`` what it gives as ``y`` while the names in ``ready`` mean those.

    function: the student's, which ``call`` calls. ready: name in its notebook -> what it means the second time.
    See :func:`own_and_ready` for calls that fail.
    """

    def called(names: dict[str, Any]) -> dict[str, Any]:
        with meaning(names_around(function), names), attempt_limit():
            return call()

    return own_and_ready(partial(called, {}), partial(called, ready))


def own_and_ready(own: Callable[[], Mapping[str, Any]], ready: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
    """What ``own()`` gives, and as ``ready_y`` what ``ready()`` gives as ``y``.

    Leaves out what fails. ``problem``: what the first call stopped with, which is raised where both fail.
    """
    answers: dict[str, Any] = {}
    problem: Exception | None = None
    try:
        answers |= own()
    except Exception as error:
        problem, answers["problem"] = error, f"{type(error).__name__}: {error}"[:300]
    try:
        return answers | {f"ready_{name}": value for name, value in ready().items()}
    except Exception:
        if problem is not None:
            raise problem from None
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
