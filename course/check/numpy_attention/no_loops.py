"""The check of the bonus: no Python loop in a function, nor in the functions that it calls."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from course.check.base import as_array, fail, passed, running, same_shape
from course.check.numpy_attention._loops import find_loops
from course.check.numpy_attention._ready import HEADS, random_inputs


def no_loops(function: Callable[..., Any]) -> None:
    """Fails where ``function``, or a function of the notebook that it mentions, loops in Python."""
    name = function.__name__
    inputs = random_inputs(20, heads=HEADS)
    with running(name, f"{name} with 20 tokens"):
        y = as_array(function(*inputs))
    same_shape(name, "the result", y, inputs[0].shape, "(n, d_model)")
    scope = function.__globals__
    own = [value for value in scope.values() if inspect.isfunction(value) and value.__globals__ is scope]
    with running(name, "reading the function's source", "Define it with def, in a cell of this notebook."):
        source = "\n".join(inspect.getsource(value) for value in own)
    source += "".join(f"\nimport functools as {other}" for other, value in scope.items() if value is functools)
    found = find_loops(source, name)
    if found:
        fail(
            name,
            "no Python loop.",
            f"Yours has {'; '.join(found)}.",
            "Let one einsum, or @ on a stack of matrices, serve all heads at once.",
        )
    passed(name, "not one loop")
