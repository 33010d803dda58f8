"""Ready-made parts of a modern block for the decoder's notebook 4: ``transformers``' own Llama modules.

They have the arguments and shapes that the notebook asks for, and the names of Llama's weights.
"""

import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaMLP, LlamaRMSNorm, apply_rotary_pos_emb


class ReadyRMSNorm(LlamaRMSNorm):
    """``x`` (..., dim) -> the same shape"""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        super().__init__(dim, eps)

    def forward(self, x: Tensor) -> Tensor:
        normalised: Tensor = super().forward(x)
        return normalised


def llama_config(dim: int, heads: int, kv_heads: int, hidden: int = 8, eps: float = 1e-6) -> LlamaConfig:
    """transformers' configuration of one block, attention in plain PyTorch, so that its weights can be seen."""
    return LlamaConfig(  # type: ignore[call-arg]
        hidden_size=dim,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=dim // heads,
        intermediate_size=hidden,
        rms_norm_eps=eps,
        attn_implementation="eager",
    )


def causal_mask(tokens: int) -> Tensor:
    """What transformers adds to the scores: 0 for a key that may be seen, minus infinity for a later one."""
    return torch.full((1, 1, tokens, tokens), float("-inf")).triu(1)


def ready_rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """``x`` (batch, heads, tokens, head_size), ``cos`` and ``sin`` (tokens, head_size) -> x with each pair turned"""
    turned: Tensor = apply_rotary_pos_emb(x, x, cos[None], sin[None])[0]
    return turned


class ReadySwiGLU(LlamaMLP):
    """``x`` (..., dim) -> (..., dim)"""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__(llama_config(dim, 1, 1, hidden))

    def forward(self, x: Tensor) -> Tensor:
        projected: Tensor = super().forward(x)
        return projected


class ReadyAttention(LlamaAttention):
    """``x`` (batch, tokens, dim), ``cos`` and ``sin`` (tokens, head_size) -> (batch, tokens, dim)"""

    def __init__(self, dim: int, heads: int, kv_heads: int) -> None:
        super().__init__(llama_config(dim, heads, kv_heads), layer_idx=0)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:  # type: ignore[override]
        attended: Tensor = super().forward(x, (cos[None], sin[None]), causal_mask(x.shape[1]).to(x))[0]
        return attended
