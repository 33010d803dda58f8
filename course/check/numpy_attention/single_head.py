"""The check of ``apply_self_attention``, with inputs made of glass: the result shows the attention weights.

``x`` holds a hand-made table and one mark for each token. W_q picks the table, W_k and W_v pick the marks, W_o
passes on what it gets: so the scores are the table, and the result is the weights themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course.check.base import CheckFailed, close, fail, finite, passed, running, same_shape
from course.check.numpy_attention.weights import judge_weights

Array = np.ndarray
Layer = Callable[[Array, Array, Array, Array, Array], Array]

#: Rows are queries, columns are keys; no symmetry, so that nothing can be exchanged unseen.
TABLE = np.array(
    [
        [0.0, 1.0, -0.5, 0.7, 0.2],
        [-1.0, 0.4, 0.9, 0.0, -0.3],
        [0.6, -0.8, 0.3, 1.2, -0.1],
        [0.5, 0.1, -1.1, 0.2, 0.8],
        [-0.4, 0.9, 0.6, -0.7, 0.3],
    ]
)
N = len(TABLE)
#: Where the weights show in the result; the columns before, where keys and queries have their numbers, stay 0.
SHOWN = slice(N, 2 * N)
ARGUMENTS = "x, W_q, W_k, W_v, W_o"


def glass(width: int, size: float = 1.0) -> tuple[Array, Array, Array, Array, Array]:
    """x (5, width + 10), W_q, W_k, W_v (width + 10, width), W_o (width, width + 10); the scores are size · TABLE"""
    model = width + 2 * N
    table, marks = slice(width, width + N), slice(width + N, model)
    x = np.zeros((N, model))
    x[:, table], x[:, marks] = size * width**0.5 * TABLE, np.eye(N)
    w_q, w_k, w_v = np.zeros((3, model, width))
    w_q[table, :N] = w_k[marks, :N] = w_v[marks, SHOWN] = np.eye(N)
    return x, w_q, w_k, w_v, np.eye(width, model)


def random_inputs(tokens: int, model: int = 48, width: int = 32, heads: int | None = None) -> tuple[Array, ...]:
    generator = np.random.default_rng(tokens)
    stack = () if heads is None else (heads,)
    projections = [generator.normal(0, model**-0.5, (*stack, model, width)) for _ in range(3)]
    return (
        generator.normal(0, 1, (tokens, model)),
        *projections,
        generator.normal(0, 0.1, ((heads or 1) * width, model)),
    )


def self_attention(function: Layer) -> None:
    """Shapes at another length, then the weights themselves: rows, orientation, scale; then large scores."""
    name = "apply_self_attention"
    runs(name, function, random_inputs(20), random_inputs(32))
    width = 32
    x, w_q, w_k, w_v, w_o = glass(width)
    with running(name, f"{name}({ARGUMENTS}) with 5 tokens"):
        y = np.asarray(function(x, w_q, w_k, w_v, w_o))
    same_shape(name, "the result", y, x.shape, "(n, d_model)", "W_o brings each token back to the width of the model.")
    judge_mix(name, y[:, :width], y[:, width:], x[:, width:])
    judge_weights(name, y[:, SHOWN], TABLE, factors(width, x.shape[1]))
    large(name, function, glass(width, size=2000.0))
    passed(
        name, "20 tokens in, 20 out", "each query's weights sum to 1", "scores divided by √d_qkv", "large scores too"
    )
    _note_constant(function)


def runs(name: str, function: Layer, inputs: tuple[Array, ...], square: tuple[Array, ...]) -> None:
    """20 tokens go in and come out; where that fails, says whether 32 would have worked."""
    before = [array.copy() for array in inputs]
    try:
        with running(name, f"{name}({ARGUMENTS}) with 20 tokens", "Print the shape after every step."):
            y = function(*inputs)
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


def _note_constant(function: Layer) -> None:
    x, w_q, w_k, w_v, w_o = glass(16)
    try:
        y = np.asarray(function(x, w_q, w_k, w_v, w_o))
        judge_weights("", y[:, SHOWN], TABLE, {})
    except Exception:
        print(
            "  A thought: with W_q of another width (16, say) it gives something else. It uses the constant d_qkv; "
            "W_q.shape knows the width too."
        )
