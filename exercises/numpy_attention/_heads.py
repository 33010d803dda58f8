"""Cases for ``apply_self_attention`` and ``apply_multihead_attention``; the oracle is ``torch``'s own attention."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Case

Array = np.ndarray

#: The assignment's constants: a solution that uses them in place of ``W_q.shape`` is right in its notebook, and here.
N_HEADS, D_QKV = 8, 32


def moderate(
    generator: np.random.Generator, n: int, d_model: int, heads: int | None, size: float = 1.0
) -> dict[str, Array]:
    """Inputs whose scores are of order 1 where ``size`` is 1. heads: None for a single head, without that axis."""
    stack = () if heads is None else (heads,)
    drawn = {name: generator.normal(0, 1.2 * d_model**-0.5, (*stack, d_model, D_QKV)) for name in ("W_q", "W_k", "W_v")}
    rows = D_QKV * (heads or 1)
    drawn |= {"W_o": generator.normal(0, rows**-0.5, (rows, d_model)), "x": size * generator.normal(0, 1, (n, d_model))}
    return {name: array.astype(np.float32) for name, array in drawn.items()}


def _huge(generator: np.random.Generator, n: int, d_model: int, heads: int | None) -> dict[str, Array]:
    """Inputs with scores of several hundred. Each query's best key is so far ahead that float32 gives the same result.

    In float64, so that what overflows here overflows in the submission too.
    """
    while True:
        drawn = moderate(generator, n, d_model, heads, size=40.0)
        q, k = (drawn["x"].astype(np.float64) @ drawn[name] for name in ("W_q", "W_k"))
        best = np.sort(q @ k.swapaxes(-1, -2), axis=-1)[..., -2:] * D_QKV**-0.5
        if np.diff(best).min() > 25:
            return {name: array.astype(np.float64) for name, array in drawn.items()}


def oracle(inputs: Mapping[str, Array]) -> Array:
    """``torch``'s own attention in float64: -> y (n, d_model)."""
    import torch  # needed only to draw cases: notebooks and judging run without it
    from torch.nn.functional import scaled_dot_product_attention

    x, w_q, w_k, w_v, w_o = (
        torch.from_numpy(inputs[name].astype(np.float64)) for name in ("x", "W_q", "W_k", "W_v", "W_o")
    )
    if w_q.ndim == 2:
        return (scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v) @ w_o).numpy()
    heads = [scaled_dot_product_attention(x @ q, x @ k, x @ v) for q, k, v in zip(w_q, w_k, w_v, strict=True)]
    return (torch.cat(heads, dim=-1) @ w_o).numpy()


def cases(heads: int | None) -> Callable[[np.random.Generator], list[Case]]:
    def make(generator: np.random.Generator) -> list[Case]:
        # the square one first: some mistakes run only there
        drawn = [
            moderate(generator, D_QKV, 24, heads),
            moderate(generator, 20, 27, heads),
            moderate(generator, 7, 12, heads),
            _huge(generator, 5, 14, heads),
        ]
        probe = generator.normal(0, 1.5, (5, 7))
        probe[2] += 900.0
        return [Case({}, {**inputs, "scores": probe}, expected={"y": oracle(inputs)}) for inputs in drawn]

    return make
