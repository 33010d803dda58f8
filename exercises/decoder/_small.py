"""Small models for notebook 5: how they are drawn, and what they give with edited weights and vectors. No hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.exercise import Case

from .._attention import Array

#: (layer, the residual stream after it) -> the stream that goes on; layer -1 is the embedding
Edit = Callable[[int, Any], Any]


def draw_model(generator: np.random.Generator, sizes: dict[str, int]) -> dict[str, Array]:
    """Weights of a SmallDecoder, large enough that every head matters."""
    from course.small_decoder import SmallDecoder

    weights = {}
    for name, weight in SmallDecoder(**sizes).state_dict().items():
        shape = tuple(weight.shape)
        drawn = (
            generator.normal(1, 0.2, shape) if len(shape) == 1 else generator.normal(0, 1.5 / shape[1] ** 0.5, shape)
        )
        weights[name] = drawn.astype(np.float32)
    return weights


def model_of(case: Case) -> Any:
    """The case's model, in double precision."""
    import torch

    from course.small_decoder import SmallDecoder

    model = SmallDecoder(**case.config["sizes"])
    model.load_state_dict({name: torch.from_numpy(weight.copy()) for name, weight in case.weights.items()})
    return model.double().eval()


def logits_of(model: Any, ids: Array, edit: Edit = lambda layer, x: x) -> Array:
    """(batch, tokens, vocabulary), computed layer by layer, so that each vector can be edited on its way"""
    import torch

    with torch.no_grad():
        x = edit(-1, model.embed_tokens(torch.from_numpy(ids)))
        for number, layer in enumerate(model.layers):
            x = edit(number, layer(x))
        found: Array = model.lm_head(model.norm(x)).numpy()
        return found
