"""The check of ``apply_self_attention``: shapes at another length, then the weights themselves."""

from __future__ import annotations

import numpy as np

from course.check.base import passed, running, same_shape
from course.check.numpy_attention._glass import ARGUMENTS, SHOWN, TABLE, Layer, glass, random_inputs
from course.check.numpy_attention._layers import factors, judge_mix, large, runs
from course.check.numpy_attention._weights import judge_weights


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
