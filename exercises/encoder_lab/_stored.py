"""The attentions that notebook 2 shows: of a pair of sentences, with and without positions."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from safetensors.numpy import load

Array = np.ndarray
#: The tokens of "time flies like an arrow" and "fruit flies like a banana", as the stored attentions have them.
TOKENS = ["[CLS]", "time", "flies", "like", "an", "arrow", "[SEP]", "fruit", "flies", "like", "a", "banana", "[SEP]"]


def stored(name: str) -> Array:
    """A tensor of ``course/data/encoder_lab/attentions.safetensors``, say attentions (layers, heads, tokens, tokens)"""
    data = (files("course") / "data" / "encoder_lab" / "attentions.safetensors").read_bytes()
    return load(data)[name].astype(np.float64)
