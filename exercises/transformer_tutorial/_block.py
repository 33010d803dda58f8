"""The transformer block with stand-ins for its sublayers: neither an earlier notebook nor the first half can spoil
the second.

The hidden cells put ``attend`` and ``feed`` in place of attention and feed-forward network, and hand over what the
network was given (``between``) and what the block gives (``output``).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Case

from ._rules import EPS, feed

Array = np.ndarray


def attend(x: Array) -> Array:
    """The hidden cells' stand-in for the attention: (b, t, k) -> (b, t, k)"""
    return 2 * x[:, ::-1] + 0.5


def make(generator: np.random.Generator) -> list[Case]:
    """The last case has small differences, so that the eps of LayerNorm shows. Its x lies around -1/6, where
    2x + 1/2 + x is 0: beside a large mean, float32 loses small differences.
    """
    cases = []
    for (b, t, k), heads, size, middle in (
        ((2, 5, 6), 3, 1.0, 0),
        ((3, 4, 7), 2, 1.0, 0),
        ((2, 3, 5), 4, 4e-3, -1 / 6),
        ((1, 4, 5), 2, 1.0, 0),
    ):
        weights = {
            f"norm_{i}.{kind}": generator.normal(kind == "weight", 0.3, k).astype(np.float32)
            for i in (1, 2)
            for kind in ("weight", "bias")
        }
        inputs = {"x": (middle + size * generator.normal(0, 1, (b, t, k))).astype(np.float32)}
        x = inputs["x"].astype(np.float64)
        between = _torch_norm(attend(x) + x, weights, "norm_1")
        output = _torch_norm(feed(between) + between, weights, "norm_2")
        cases.append(Case({"k": k, "heads": heads}, inputs, weights, {}, {"between": between, "output": output}))
    return cases


def _torch_norm(x: Array, weights: Mapping[str, Array], name: str) -> Array:
    import torch

    scale, shift = (torch.from_numpy(weights[f"{name}.{kind}"].astype(np.float64)) for kind in ("weight", "bias"))
    tensor = torch.from_numpy(np.ascontiguousarray(x))
    return torch.nn.functional.layer_norm(tensor, x.shape[-1:], scale, shift, EPS).numpy()
