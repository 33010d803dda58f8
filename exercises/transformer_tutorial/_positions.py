"""Sinusoidal positions."""

from __future__ import annotations

from functools import cache

import numpy as np

Array = np.ndarray


@cache
def transformers_table(max_len: int, emb_size: int) -> Array:
    """The sinusoids that ``transformers`` makes for DistilBERT: (max_len, emb_size)"""
    import torch
    from transformers.models.distilbert.modeling_distilbert import create_sinusoidal_embeddings

    table = torch.zeros(max_len, emb_size)
    create_sinusoidal_embeddings(max_len, emb_size, table)
    return table.numpy()
