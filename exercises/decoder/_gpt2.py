"""The right answers: GPT-2's own modules of ``transformers``, in float64, with the stored weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray
Weights = Mapping[str, Array]
#: the course's name of a layer -> GPT-2's; the weights of GPT-2's linear layers are transposed
BLOCK = {
    "norm_1": "ln_1", "to_qkv": "attn.c_attn", "out": "attn.c_proj",
    "norm_2": "ln_2", "mlp.0": "mlp.c_fc", "mlp.2": "mlp.c_proj",
}  # fmt: skip
NORMS = ("ln_1", "ln_2")


def block_output(weights: Weights, x: Array, heads: int) -> Array:
    """x (batch, tokens, dim) -> what GPT-2's first block makes of it"""
    import torch

    seen: list[Any] = []
    named = {f"blocks.0.{name}": value for name, value in weights.items()}
    model = _model(named, x.shape[2], heads, layers=1, vocabulary=2, context=x.shape[1])
    model.h[0].register_forward_hook(lambda _, given, result: seen.append(result))
    with torch.no_grad():
        model(inputs_embeds=torch.from_numpy(x.astype(np.float64)))  # its positions are 0
    result = seen[0][0] if isinstance(seen[0], tuple) else seen[0]
    return np.asarray(result)


def model_logits(weights: Weights, ids: Array, config: Mapping[str, int]) -> Array:
    """ids (batch, tokens) -> logits (batch, tokens, vocabulary), by the embedding's own vectors"""
    import torch

    sizes = (config["dim"], config["heads"], config["layers"], config["vocabulary"], config["context"])
    model = _model(weights, *sizes)
    with torch.no_grad():
        hidden = model(torch.from_numpy(ids)).last_hidden_state
        return np.asarray(hidden @ model.wte.weight.T)


def cached_logits(
    weights: Weights, ids: Array, config: Mapping[str, int], pieces: Sequence[int]
) -> tuple[Array, Array]:
    """The same, read in pieces with transformers' own cache; and its keys (layers, batch, heads, tokens, head_size)"""
    import torch
    from transformers import DynamicCache

    sizes = (config["dim"], config["heads"], config["layers"], config["vocabulary"], config["context"])
    model, cache, found = _model(weights, *sizes), DynamicCache(), []
    with torch.no_grad():
        for piece in torch.from_numpy(ids).split(list(pieces), dim=1):
            hidden = model(piece, past_key_values=cache, use_cache=True).last_hidden_state
            found.append(np.asarray(hidden @ model.wte.weight.T))
    return np.concatenate(found, axis=1), np.stack([np.asarray(layer.keys) for layer in cache.layers])


def _model(weights: Weights, dim: int, heads: int, layers: int, vocabulary: int, context: int) -> Any:
    import torch
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(
        vocab_size=vocabulary, n_positions=context, n_embd=dim, n_layer=layers, n_head=heads,
        bos_token_id=None, eos_token_id=None, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        attn_implementation="eager",
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        model = GPT2Model(config).double().eval()
    state = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
    for name, value in weights.items():
        theirs = _gpt2_name(name)
        tensor = torch.from_numpy(np.asarray(value, dtype=np.float64))
        state[theirs] = tensor.T if ".c_" in theirs and tensor.ndim == 2 else tensor
    model.load_state_dict(state)
    return model


def _gpt2_name(name: str) -> str:
    first, _, rest = name.partition(".")
    if first != "blocks":
        return {"token_embedding": "wte", "position_embedding": "wpe", "final_norm": "ln_f"}[first] + f".{rest}"
    number, _, rest = rest.partition(".")
    layer, _, part = rest.rpartition(".")
    return f"h.{number}.{BLOCK[layer]}.{part}"
