"""What all references of the attention block share: weights, cases, and ``transformers``' own block as the oracle."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Case
from autograder.oracles.distilbert_sizes import config, hf_config

Array = np.ndarray


def block_weights(generator: np.random.Generator, dim: int, hidden_dim: int, bias: float = 0.3) -> dict[str, Array]:
    """Weights whose scores come out of order 1: large enough that every mistake shows."""
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


def oracle(hidden_states: Array, weights: Mapping[str, Array], sizes: Mapping[str, object]) -> tuple[Array, Array]:
    """``transformers``' own block in float64: -> output (batch, tokens, dim), weights (batch, heads, tokens, tokens)"""
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
    with torch.no_grad():
        return block(x).numpy(), block.attention(x)[1].numpy()


def block_case(
    generator: np.random.Generator,
    batch: int,
    tokens: int,
    n_heads: int,
    head_size: int,
    hidden_dim: int,
    size: float = 1.0,
    bias: float = 0.3,
) -> Case:
    sizes = config(n_heads, head_size, hidden_dim)
    dim = n_heads * head_size
    weights = block_weights(generator, dim, hidden_dim, bias)
    hidden_states = (size * generator.normal(0, 1, (batch, tokens, dim))).astype(np.float32)
    output, attention_weights = oracle(hidden_states, weights, sizes)
    return Case(sizes, {"hidden_states": hidden_states}, weights, {}, {"output": output, "weights": attention_weights})


def ordinary(generator: np.random.Generator) -> list[Case]:
    return [block_case(generator, 2, 5, 3, 4, 17), block_case(generator, 3, 7, 4, 2, 11)]


def low_variance(generator: np.random.Generator) -> Case:
    # shows a LayerNorm whose eps is not the config's: invisible on any other input
    return block_case(generator, 2, 5, 3, 4, 17, size=1e-3, bias=1e-4)


def huge(generator: np.random.Generator) -> Case:
    # shows an exponential that overflows: scores of several hundred
    return block_case(generator, 2, 5, 3, 4, 17, size=50.0)
