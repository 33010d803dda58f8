"""Weights for the lab's layers, and what torch's own layers make of them in float64."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Mistake, Patch

from ._arrays import Array, linear_weight, normal

#: torch's default, which the norms of an encoder layer have.
LAYER_EPS = 1e-5
NORMS = ("layer_norm_1", "layer_norm_2")
#: The eps of the embeddings' norm.
EPS = 1e-12

ENCODER = (
    "vocab_size",
    "max_position_embeddings",
    "d_model",
    "num_attention_heads",
    "intermediate_size",
    "num_hidden_layers",
)


def part_mistake(name: str, patch: Patch) -> Mistake:
    """A part that ``__init__`` does not make under its name."""
    message = f"__init__ makes no self.{name}: the whole model cannot run with your own parts."
    return Mistake(f"part-{name}", message, "The comment in __init__ lists the parts and their names.", patch)


def encoder_sizes(*sizes: int) -> dict[str, int]:
    return dict(zip(ENCODER, sizes, strict=True))


def feed_forward_weights(generator: np.random.Generator, d_model: int, wide: int) -> dict[str, Array]:
    return {
        "linear_1.weight": linear_weight(generator, wide, d_model),
        "linear_1.bias": normal(generator, wide, size=0.4),
        "linear_2.weight": linear_weight(generator, d_model, wide),
        "linear_2.bias": normal(generator, d_model, size=0.4),
    }


def layer_weights(generator: np.random.Generator, d_model: int, heads: int, wide: int) -> dict[str, Array]:
    size = d_model // heads
    weights = {
        f"attention.heads.{i}.w{letter}.weight": linear_weight(generator, size, d_model)
        for i in range(heads)
        for letter in "qkv"
    }
    weights |= {
        "attention.output_linear.weight": linear_weight(generator, d_model, d_model),
        "attention.output_linear.bias": normal(generator, d_model, size=0.4),
    }
    weights |= {f"feed_forward.{name}": array for name, array in feed_forward_weights(generator, d_model, wide).items()}
    return weights | norm_weights(generator, d_model, *NORMS)


def norm_weights(generator: np.random.Generator, d_model: int, *names: str) -> dict[str, Array]:
    weights: dict[str, Array] = {}
    for name in names:
        weights |= {
            f"{name}.weight": normal(generator, d_model, size=0.2) + np.float32(1),
            f"{name}.bias": normal(generator, d_model, size=0.2),
        }
    return weights


def torch_attention(query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
    """torch's own function in float64: -> (batch, queries, size of a value)"""
    import torch
    from torch.nn import functional as F

    q, k, v = (torch.from_numpy(x.astype(np.float64)) for x in (query, key, value))
    allowed = None if mask is None else torch.from_numpy(mask != 0)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=allowed).numpy()


def torch_layer(x: Array, weights: Mapping[str, Array], heads: int, prefix: str = "") -> Array:
    """torch's own encoder layer, norm_first: (batch, tokens, d_model) -> the same"""
    import torch
    from torch import nn

    own = {
        name.removeprefix(prefix): weight.astype(np.float64)
        for name, weight in weights.items()
        if name.startswith(prefix)
    }
    d_model, wide = x.shape[-1], len(own["feed_forward.linear_1.bias"])
    layer = (
        nn.TransformerEncoderLayer(
            d_model, heads, wide, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        .double()
        .train()
    )  # train: torch's fused path has other rounding
    stacked = [np.concatenate([own[f"attention.heads.{i}.w{letter}.weight"] for i in range(heads)]) for letter in "qkv"]
    state = {
        "self_attn.in_proj_weight": np.concatenate(stacked),
        "self_attn.in_proj_bias": np.zeros(3 * d_model),
    }
    names = {
        "self_attn.out_proj": "attention.output_linear",
        "linear1": "feed_forward.linear_1",
        "linear2": "feed_forward.linear_2",
        "norm1": "layer_norm_1",
        "norm2": "layer_norm_2",
    }
    state |= {
        f"{theirs}.{kind}": own[f"{ours}.{kind}"] for theirs, ours in names.items() for kind in ("weight", "bias")
    }
    layer.load_state_dict({name: torch.from_numpy(array) for name, array in state.items()})
    with torch.no_grad():
        return layer(torch.from_numpy(x.astype(np.float64))).numpy()


def embedding_weights(
    generator: np.random.Generator, vocabulary: int, positions: int, d_model: int, size: float = 1.0
) -> dict[str, Array]:
    return {
        "token_embeddings.weight": normal(generator, vocabulary, d_model, size=size),
        "position_embeddings.weight": normal(generator, positions, d_model, size=size),
    } | norm_weights(generator, d_model, "layer_norm")


def torch_embedding(ids: Array, weights: Mapping[str, Array], prefix: str = "") -> Array:
    """``torch.nn``'s own tables and norm in float64: (batch, tokens) -> (batch, tokens, d_model)"""
    import torch
    from torch import nn

    tensors = {
        name.removeprefix(prefix): torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()
    }
    words = nn.functional.embedding(torch.from_numpy(ids), tensors["token_embeddings.weight"])
    places = tensors["position_embeddings.weight"][: ids.shape[1]]
    return nn.functional.layer_norm(
        words + places, words.shape[-1:], tensors["layer_norm.weight"], tensors["layer_norm.bias"], EPS
    ).numpy()


def encoder_weights(generator: np.random.Generator, sizes: Mapping[str, int]) -> dict[str, Array]:
    d_model, heads, wide = sizes["d_model"], sizes["num_attention_heads"], sizes["intermediate_size"]
    embedded = embedding_weights(generator, sizes["vocab_size"], sizes["max_position_embeddings"], d_model)
    weights = {f"embeddings.{name}": array for name, array in embedded.items()}
    for i in range(sizes["num_hidden_layers"]):
        weights |= {
            f"layers.{i}.{name}": array for name, array in layer_weights(generator, d_model, heads, wide).items()
        }
    return weights


def torch_encoder(
    ids: Array,
    weights: Mapping[str, Array],
    sizes: Mapping[str, int],
    prefix: str = "",
) -> Array:
    """torch's own layers after torch's own tables: (batch, tokens) -> (batch, tokens, d_model)"""
    own = {name.removeprefix(prefix): array for name, array in weights.items() if name.startswith(prefix)}
    x = torch_embedding(ids, own, "embeddings.")
    for i in range(sizes["num_hidden_layers"]):
        x = torch_layer(x, own, sizes["num_attention_heads"], f"layers.{i}.")
    return x
