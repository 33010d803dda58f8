"""Inputs of the lab's references, and torch's own attention in float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Case

Array = np.ndarray
#: What somebody answers who makes a certain mistake.
Wrong = Callable[[Case], Mapping[str, Array]]


def normal(generator: np.random.Generator, *shape: int, size: float = 1.0) -> Array:
    return (size * generator.normal(0, 1, shape)).astype(np.float32)


def raw_scores(case: Case) -> Array:
    """(batch, queries, keys): dot products, not scaled"""
    query, key = case.inputs["query"].astype(np.float64), case.inputs["key"].astype(np.float64)
    return np.einsum("bnd,bmd->bnm", query, key)


def root(case: Case) -> float:
    return float(np.sqrt(case.inputs["query"].shape[-1]))


def torch_attention(query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
    """torch's own function in float64: -> (batch, queries, size of a value)"""
    import torch
    from torch.nn import functional as F

    q, k, v = (torch.from_numpy(x.astype(np.float64)) for x in (query, key, value))
    allowed = None if mask is None else torch.from_numpy(mask != 0)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed).numpy()


def linear_weight(generator: np.random.Generator, rows: int, columns: int, size: float = 1.4) -> Array:
    return normal(generator, rows, columns, size=size / columns**0.5)


def project(x: Array, weights: Mapping[str, Array], name: str) -> Array:
    y = x.astype(np.float64) @ weights[f"{name}.weight"].astype(np.float64).T
    return y + weights[f"{name}.bias"] if f"{name}.bias" in weights else y


def draw_attention(generator: np.random.Generator, *shape: int) -> Array:
    """(…, queries, keys): weights, each row together 1"""
    return generator.dirichlet(np.full(shape[-1], 0.5), shape[:-1]).astype(np.float32)
