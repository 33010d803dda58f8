"""Sinusoidal positions: the table of ``transformers``, and one in NumPy that can be made wrong in the known ways."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray


def transformers_table(max_len: int, emb_size: int) -> Array:
    """The sinusoids that ``transformers`` makes for DistilBERT: (max_len, emb_size)"""
    import torch
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

    table = torch.zeros(max_len, emb_size)
    create_sinusoidal_embeddings(max_len, emb_size, table)
    return table.numpy()


def table(
    max_len: int,
    emb_size: int,
    first: int = 0,
    base: float = 10000.0,
    step: float = 2.0,
    sign: int = -1,
    order: str = "interleaved",
    waves: tuple[Callable[[Array], Array], ...] = (np.sin, np.cos),
) -> Array:
    """(max_len, emb_size) in float64; the defaults are right, and each argument is a way to get it wrong."""
    positions = np.arange(first, first + max_len, dtype=np.float64)[:, None]
    pairs = np.arange(emb_size // 2)[None]
    angles = positions * base ** (sign * step * pairs / emb_size)
    even, odd = (wave(angles) for wave in waves)
    if order == "halves":
        return np.concatenate([even, odd], axis=1)
    return np.stack([even, odd], axis=2).reshape(max_len, emb_size)
