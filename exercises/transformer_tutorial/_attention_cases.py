"""Cases for ``DotProductAttention``: drawing them, and torch's answer to them."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case

Array = np.ndarray


def torch_attention(queries: Array, keys: Array, values: Array, mask: Array | None = None) -> Array:
    """torch's own attention in float64: (b, t, h, k) three times, mask (b, t) -> (b, t, h*k)"""
    import torch

    q, k, v = (torch.from_numpy(x.astype(np.float64)).transpose(1, 2) for x in (queries, keys, values))
    allowed = None if mask is None else torch.from_numpy(mask)[:, None, None, :]
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return out.transpose(1, 2).flatten(2).numpy()


def draw(generator: np.random.Generator, b: int, t: int, h: int, k: int, size: float = 1.3) -> Case:
    """size: how large queries and keys are, and so how unequal the weights"""
    drawn = {name: (size * generator.normal(0, 1, (b, t, h, k))).astype(np.float32) for name in ("queries", "keys")}
    drawn["values"] = generator.normal(0, 1.5, (b, t, h, k)).astype(np.float32)
    return Case({}, drawn, expected={"output": torch_attention(**drawn)})
