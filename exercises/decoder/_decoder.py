"""A decoder in float64 NumPy with knobs, to say what people compute who make a certain mistake; and stored weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .._attention import gelu, layer_norm, linear, softmax

Array = np.ndarray
Weights = Mapping[str, Array]
EPS = 1e-5


@dataclass(frozen=True)
class AttentionVariant:
    """How masked attention is computed; the defaults are right.

    visible: tokens -> True where a query sees a key; hidden: what a hidden score becomes
    """

    visible: Callable[[int], Array] = lambda n: np.tri(n, dtype=bool)
    hidden: float = -np.inf
    scale: Callable[[int, int], float] = lambda n, d: d**0.5
    axis: int = -1
    late: bool = False
    weigh: bool = True
    transposed: bool = False


@dataclass(frozen=True)
class BlockVariant:
    """How a block is put together; the defaults are right. order: of query, key and value in ``to_qkv``"""

    norm_1: str = "before"
    norm_2: str = "before"
    skip_1: bool = True
    skip_2: bool = True
    order: tuple[int, int, int] = (0, 1, 2)
    out: bool = True
    attention: bool = True
    network: bool = True
    same_norm: bool = False
    side_by_side: bool = False
    split: str = "heads"
    causal: bool = True


def attend(query: Array, key: Array, value: Array, variant: AttentionVariant = AttentionVariant()) -> Array:
    """(batch, heads, tokens, dim_per_head) -> the same shape"""
    query, key, value = (x.astype(np.float64) for x in (query, key, value))
    n, d = query.shape[-2:]
    scores = query @ key.swapaxes(-1, -2) / variant.scale(n, d)
    visible = variant.visible(n)
    with np.errstate(invalid="ignore", over="ignore"):
        if not variant.weigh:
            weights = np.where(visible, scores, 0.0)
        elif variant.late:
            weights = np.where(visible, softmax(scores, variant.axis), 0.0)
        else:
            weights = softmax(np.where(visible, scores, variant.hidden), variant.axis)
        return (weights.swapaxes(-1, -2) if variant.transposed else weights) @ value


def run_block(weights: Weights, x: Array, heads: int, variant: BlockVariant = BlockVariant()) -> Array:
    """x (batch, tokens, dim) -> the same shape"""
    x = x.astype(np.float64)
    first = _sublayer(lambda y: _attention(weights, y, heads, variant), weights, x, "norm_1", variant.norm_1)
    mixed = (x if variant.skip_1 else 0) + first if variant.attention else x
    if variant.attention and variant.norm_1 == "after":
        mixed = layer_norm(mixed, weights, "norm_1", EPS)
    norm = "norm_1" if variant.same_norm else "norm_2"
    fed = x if variant.side_by_side else mixed
    second = _sublayer(lambda y: _network(weights, y), weights, fed, norm, variant.norm_2)
    result = (mixed if variant.skip_2 else 0) + second if variant.network else mixed
    return layer_norm(result, weights, "norm_2", EPS) if variant.norm_2 == "after" else result


def run_model(
    weights: Weights,
    ids: Array,
    config: Mapping[str, int],
    *,
    words: float = 1.0,
    positions: Callable[[Array], Array] = lambda rows: rows,
    blocks: tuple[int, ...] | None = None,
    norm: bool = True,
) -> Array:
    """ids (batch, tokens) -> logits. positions: changes the rows that are added; blocks: which ones work, in order"""
    table = weights["token_embedding.weight"].astype(np.float64)
    rows = weights["position_embedding.weight"].astype(np.float64)[: ids.shape[1]]
    x = words * table[ids] + positions(rows)
    for number in range(config["layers"]) if blocks is None else blocks:
        prefix = f"blocks.{number}."
        own = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
        x = run_block(own, x, config["heads"])
    return (layer_norm(x, weights, "final_norm", EPS) if norm else x) @ table.T


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


def _sublayer(call: Callable[[Array], Array], weights: Weights, x: Array, norm: str, place: str) -> Array:
    return call(layer_norm(x, weights, norm, EPS) if place == "before" else x)


def _attention(weights: Weights, x: Array, heads: int, variant: BlockVariant) -> Array:
    parts = np.split(linear(x, weights, "to_qkv"), 3, -1)
    query, key, value = (_split(parts[place], heads, variant.split) for place in variant.order)
    seen = AttentionVariant() if variant.causal else AttentionVariant(visible=lambda n: np.ones((n, n), dtype=bool))
    mixed = attend(query, key, value, seen)
    merged = mixed.swapaxes(1, 2).reshape(x.shape) if variant.split != "viewed" else mixed.reshape(x.shape)
    return linear(merged, weights, "out") if variant.out else merged


def _split(x: Array, heads: int, how: str) -> Array:
    """(batch, tokens, dim) -> (batch, heads, tokens, dim_per_head)"""
    batch, tokens, dim = x.shape
    if how == "one":
        return x[:, None]
    if how == "viewed":
        return x.reshape(batch, heads, tokens, dim // heads)
    return x.reshape(batch, tokens, heads, dim // heads).swapaxes(1, 2)


def _network(weights: Weights, x: Array) -> Array:
    return linear(gelu(linear(x, weights, "mlp.0"), "tanh"), weights, "mlp.2")
