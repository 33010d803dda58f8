"""Cases of the attention block: drawn weights and inputs; expected answers from the block of ``transformers``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from autograder.exercise import Case

from ._sizes import config, hf_config

Array = np.ndarray


def block_weights(generator: np.random.Generator, dim: int, hidden_dim: int, bias: float = 0.3) -> dict[str, Array]:
    """Weights that give scores of order 1: large enough that every mistake shows."""
    weights: dict[str, Array] = {}
    for name, rows, columns in [
        ("q_lin", dim, dim),
        ("k_lin", dim, dim),
        ("v_lin", dim, dim),
        ("out_lin", dim, dim),
        ("lin1", hidden_dim, dim),
        ("lin2", dim, hidden_dim),
    ]:
        weights[f"{name}.weight"] = generator.normal(0, 1.6 / columns**0.5, (rows, columns)).astype(np.float32)
        weights[f"{name}.bias"] = generator.normal(0, bias, rows).astype(np.float32)
    for name in ("sa_layer_norm", "output_layer_norm"):
        weights[f"{name}.weight"] = generator.normal(1, 0.2, dim).astype(np.float32)
        weights[f"{name}.bias"] = generator.normal(0, 0.2, dim).astype(np.float32)
    return weights


def transformers_block(
    hidden_states: Array, weights: Mapping[str, Array], sizes: Mapping[str, object]
) -> dict[str, Array]:
    """In float64: -> output and context (batch, tokens, dim), weights (batch, heads, tokens, tokens)"""
    import torch
    from transformers.models.distilbert.modeling_distilbert import TransformerBlock

    block = TransformerBlock(hf_config(sizes)).double().eval()
    place = {
        "q_lin": "attention.",
        "k_lin": "attention.",
        "v_lin": "attention.",
        "out_lin": "attention.",
        "lin1": "ffn.",
        "lin2": "ffn.",
    }
    block.load_state_dict(
        {
            place.get(name.split(".")[0], "") + name: torch.from_numpy(w.astype(np.float64))
            for name, w in weights.items()
        }
    )
    x = torch.from_numpy(hidden_states.astype(np.float64))
    context: list[Array] = []
    block.attention.out_lin.register_forward_pre_hook(lambda _, given: context.append(given[0].numpy()))
    with torch.no_grad():
        return {"output": block(x).numpy(), "weights": block.attention(x)[1].numpy(), "context": context[0]}


def _case(
    generator: np.random.Generator,
    batch: int,
    tokens: int,
    n_heads: int,
    head_size: int,
    hidden_dim: int,
    size: float = 1.0,
    bias: float = 0.3,
    inner: float = 1.0,
) -> Case:
    sizes = config(n_heads, head_size, hidden_dim)
    dim = n_heads * head_size
    weights = block_weights(generator, dim, hidden_dim, bias)
    for part in ("weight", "bias"):
        weights[f"sa_layer_norm.{part}"] *= np.float32(inner)
    hidden_states = (size * generator.normal(0, 1, (batch, tokens, dim))).astype(np.float32)
    expected = transformers_block(hidden_states, weights, sizes)
    return Case(sizes, {"hidden_states": hidden_states}, weights, {}, expected)


def expecting(cases: Iterable[Case], *names: str) -> list[Case]:
    """The cases, of whose expected answers only these are left."""
    return [replace(case, expected={name: case.expected[name] for name in names}) for case in cases]


def ordinary_cases(generator: np.random.Generator) -> list[Case]:
    return [_case(generator, 2, 5, 3, 4, 17), _case(generator, 1, 7, 4, 2, 11)]


def low_variance_case(generator: np.random.Generator) -> Case:
    """It shows a first LayerNorm whose eps is not the config's."""
    return _case(generator, 2, 5, 3, 4, 17, size=1e-3, bias=1e-4)


def low_inner_variance_case(generator: np.random.Generator) -> Case:
    """The same for the second LayerNorm: what the first one gives is small."""
    return _case(generator, 3, 4, 2, 3, 11, bias=1e-4, inner=1e-3)


def sizes(n_heads: int, size: int) -> dict[str, object]:
    """The config of a method's case: it fits the shapes, for whoever asks self.config."""
    return config(n_heads, size, 9)


def heads(generator: np.random.Generator, *shape: int) -> Array:
    """Queries, keys or values: (batch, heads, tokens, dim_per_head)"""
    return generator.normal(0, 1, shape).astype(np.float32)


def softmax(scores: Array) -> Array:
    exponentials = np.exp(scores.astype(np.float64) - scores.max(-1, keepdims=True))
    summed: Array = exponentials / exponentials.sum(-1, keepdims=True)
    return summed
