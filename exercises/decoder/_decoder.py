"""Stored weights of decoders, drawn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Array = np.ndarray


def draw_model(generator: np.random.Generator, config: Mapping[str, int]) -> dict[str, Array]:
    dim = config["dim"]
    weights = draw_norm(generator, dim, "final_norm")
    for name, rows in (("token_embedding", config["vocabulary"]), ("position_embedding", config["context"])):
        weights[f"{name}.weight"] = generator.normal(0, 0.7, (rows, dim)).astype(np.float32)
    for number in range(config["layers"]):
        weights |= draw_block(generator, dim, f"blocks.{number}.")
    return weights


def draw_block(generator: np.random.Generator, dim: int, prefix: str = "") -> dict[str, Array]:
    """Weights of a block, of a size that makes every part matter."""
    shapes = {"to_qkv": (3 * dim, dim), "out": (dim, dim), "mlp.0": (4 * dim, dim), "mlp.2": (dim, 4 * dim)}
    drawn: dict[str, Array] = {}
    for name, shape in shapes.items():
        drawn[f"{name}.weight"] = generator.normal(0, 1.3 / shape[1] ** 0.5, shape)
        drawn[f"{name}.bias"] = generator.normal(0, 0.3, shape[0])
    drawn |= draw_norm(generator, dim, "norm_1") | draw_norm(generator, dim, "norm_2")
    return {prefix + name: value.astype(np.float32) for name, value in drawn.items()}


def draw_norm(generator: np.random.Generator, dim: int, name: str) -> dict[str, Array]:
    scale, shift = generator.normal(1, 0.4, dim), generator.normal(0, 0.4, dim)
    return {f"{name}.weight": scale.astype(np.float32), f"{name}.bias": shift.astype(np.float32)}
