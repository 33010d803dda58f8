"""The oracles of notebook 4: ``transformers``' own Llama modules, with the stored weights, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._attention import Array, Weights


def draw_linear(generator: np.random.Generator, rows: int, columns: int, size: float = 1.4) -> Array:
    return (generator.normal(0, size / columns**0.5, (rows, columns))).astype(np.float32)


def draw_norm(generator: np.random.Generator, dim: int) -> Array:
    return generator.normal(1, 0.3, dim).astype(np.float32)


def attention_weights(
    generator: np.random.Generator, dim: int, heads: int, kv_heads: int, prefix: str = ""
) -> dict[str, Array]:
    size = dim // heads
    return {
        f"{prefix}q_proj.weight": draw_linear(generator, heads * size, dim),
        f"{prefix}k_proj.weight": draw_linear(generator, kv_heads * size, dim),
        f"{prefix}v_proj.weight": draw_linear(generator, kv_heads * size, dim),
        f"{prefix}o_proj.weight": draw_linear(generator, dim, heads * size),
    }


def network_weights(generator: np.random.Generator, dim: int, hidden: int, prefix: str = "") -> dict[str, Array]:
    return {
        f"{prefix}gate_proj.weight": draw_linear(generator, hidden, dim),
        f"{prefix}up_proj.weight": draw_linear(generator, hidden, dim),
        f"{prefix}down_proj.weight": draw_linear(generator, dim, hidden),
    }


def loaded(module: Any, weights: Weights) -> Any:
    """The module with these weights, in eval mode and double precision."""
    import torch

    module.load_state_dict({name: torch.from_numpy(weight.copy()) for name, weight in weights.items()})
    return module.double().eval()


def tensor(array: Array) -> Any:
    import torch

    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float64))
