"""torch's own multi-head attention, for expected answers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

Array = np.ndarray


def torch_multi_head(x: Array, weights: Mapping[str, Array], heads: int) -> Array:
    """torch's own multi-head attention in float64, no bias in front of the heads: -> (batch, tokens, d_model)"""
    import torch
    from torch import nn

    attention = nn.MultiheadAttention(x.shape[-1], heads, batch_first=True).double().eval()
    stacked = [np.concatenate([weights[f"heads.{i}.w{letter}.weight"] for i in range(heads)]) for letter in "qkv"]
    state = {
        "in_proj_weight": np.concatenate(stacked),
        "in_proj_bias": np.zeros(3 * x.shape[-1]),
        "out_proj.weight": weights["output_linear.weight"],
        "out_proj.bias": weights["output_linear.bias"],
    }
    attention.load_state_dict({name: torch.from_numpy(array.astype(np.float64)) for name, array in state.items()})
    tensor = torch.from_numpy(x.astype(np.float64))
    with torch.no_grad():
        return attention(tensor, tensor, tensor)[0].numpy()
