"""What the checks of both attention functions look at: shapes, what the result is made of, large scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course.check.base import CheckFailed, as_array, close, fail, finite, running, same_shape
from course.check.both_ways import meaning
from course.check.numpy_attention._glass import ARGUMENTS, SHOWN, Layer, N

Array = np.ndarray


def runs(name: str, function: Layer, inputs: tuple[Array, ...], square: tuple[Array, ...]) -> None:
    """20 tokens go in and come out; where that fails, says whether 32 would have worked."""
    before = [array.copy() for array in inputs]
    try:
        with running(name, f"{name}({ARGUMENTS}) with 20 tokens", "Print the shape after every step."):
            y = as_array(function(*inputs))
    except CheckFailed as failure:
        if isinstance(failure.__cause__, NotImplementedError) or not _works(function, square):
            raise
        raise CheckFailed(
            name,
            "20 tokens should work as well as 32.",
            failure.came,
            "With n = d_qkv = 32 it runs. Is there a transpose missing, or a 32 that should be len(x)?",
        ) from failure.__cause__
    same_shape(
        name, "the result", y, inputs[0].shape, "(n, d_model)", "W_o brings each token back to the width of the model."
    )
    finite(name, "the result", y)
    for label, array, old in zip(ARGUMENTS.split(", "), inputs, before, strict=True):
        if not np.array_equal(array, old):
            fail(
                name,
                f"{label} must stay as it is.",
                "Your function changed it.",
                "-=, /= and *= write into their left side.",
            )


def own_or_ready_softmax(function: Layer, look: Callable[[Layer], None]) -> None:
    """``look(function)``; where it fails, the same with a ready-made softmax, as in grading.

    A function that is right but for the notebook's softmax passes, with a word on that softmax.
    Raises the first CheckFailed where it fails both ways.
    """
    try:
        return look(function)
    except CheckFailed as failure:
        scope = getattr(function, "__globals__", {})
        if "softmax" not in scope:
            raise
        try:
            with meaning(scope, {"softmax": ready_softmax}):
                look(function)
        except CheckFailed:
            raise failure from failure.__cause__
        print(
            f"  A thought: this holds with a ready-made softmax. With yours, {failure.expected} {failure.came}\n"
            "  Does your softmax run along the last axis (-1), whatever stands before it?"
        )


def ready_softmax(scores: Array) -> Array:
    """Along the last axis of any number of axes."""
    weights: Array = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    return weights


def _works(function: Layer, inputs: tuple[Array, ...]) -> bool:
    try:
        return np.shape(function(*inputs)) == inputs[0].shape
    except Exception:  # whatever it is, the first failure is the one to tell
        return False


def judge_mix(name: str, out: Array, rest: Array, skip: Array, where: str = "") -> None:
    """What must not show: x itself, or anything where all values are 0."""
    heads = f" {where}" if where else ""
    if rest.any():
        came = "Yours also holds x." if close(rest, skip) else "Yours also shows numbers where W_o leads to nothing."
        fail(
            name,
            f"the result must be made of the values alone{heads}.",
            came,
            "Nothing is added behind W_o in this exercise.",
        )
    if np.delete(out, SHOWN, axis=1).any():
        late = bool((out > 0).all()) and close(out.sum(axis=1), np.ones(len(out)))
        came = "Yours does not, and each row of it sums to 1." if late else "Yours does not."
        fail(
            name,
            f"where all values are 0, the weighted sum must be 0{heads}.",
            came,
            "The softmax belongs to the scores, before the weighted sum."
            if late
            else "Do the weights meet V, and nothing else?",
        )


def factors(width: int, model: int, **others: float) -> dict[str, float]:
    return {
        "they were not divided": width**0.5,
        "they were divided by d_qkv itself, or by its root twice": width**-0.5,
        "they were multiplied by √d_qkv": float(width),
        "they were divided by √d_model": (width / model) ** 0.5,
        "they were divided by the root of the number of tokens": (width / N) ** 0.5,
        **others,
    }


def large(name: str, function: Layer, inputs: tuple[Array, ...]) -> None:
    with running(name, "scores of several hundred"), np.errstate(all="ignore"):
        y = function(*inputs)
    finite(
        name, "the results of large scores", y, "Does the softmax here subtract the largest score of each row first?"
    )
