"""A small decoder to look into: attention layers only, made of ``transformers``' Llama modules.

Its layers bear Llama's names, so what is written for it works with published models of this family as well.
"""

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRMSNorm, LlamaRotaryEmbedding

from course.modern_parts import causal_mask, llama_config

FILE = Path(__file__).parent / "checkpoints" / "induction" / "model.safetensors"
#: The sizes of the trained model that comes with the course.
SIZES = {"vocabulary": 64, "dim": 64, "heads": 4, "layers": 2}


class AttentionLayer(nn.Module):
    """Norm, attention and skip, without a feed-forward network: (batch, tokens, dim) -> the same shape

    ``self_attn.o_proj`` takes the heads' outputs end to end: (batch, tokens, heads * head_size).
    """

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        config = llama_config(dim, heads, heads)
        self.input_layernorm = LlamaRMSNorm(dim)
        self.self_attn = LlamaAttention(config, layer_idx=0)
        self.rotary = LlamaRotaryEmbedding(config)
        self.weights: Tensor | None = None  # the attention weights of the last call

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.shape[1]
        places = self.rotary(x, torch.arange(tokens, device=x.device)[None])
        attended, self.weights = self.self_attn(self.input_layernorm(x), places, causal_mask(tokens).to(x))
        added: Tensor = x + attended
        return added


class SmallDecoder(nn.Module):
    """Token ids (batch, tokens) -> logits of the next token (batch, tokens, vocabulary)"""

    def __init__(self, vocabulary: int, dim: int, heads: int, layers: int) -> None:
        super().__init__()
        self.heads = heads
        self.embed_tokens = nn.Embedding(vocabulary, dim)
        stack = nn.ModuleList(AttentionLayer(dim, heads) for _ in range(layers))
        self.layers = stack
        self.norm = LlamaRMSNorm(dim)
        self.lm_head = nn.Linear(dim, vocabulary, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.lm_head(self.norm(x))
        return logits

    @torch.no_grad()
    def attentions(self, ids: Tensor) -> Tensor:
        """The attention weights of every layer and head: (layers, batch, heads, queries, keys)"""
        self(ids)
        return torch.stack([layer.weights for layer in self.layers])  # type: ignore[misc]


def trained_decoder() -> SmallDecoder:
    """The model that was trained on repeated random tokens (``tools/train_induction.py``), in eval mode."""
    model = SmallDecoder(**SIZES)
    model.load_state_dict(load_file(FILE))
    return model.eval()


def repeated_tokens(batch: int, period: int, seed: int = 0, vocabulary: int = 64) -> Tensor:
    """Random token ids, and the same ones once more: (batch, 2 * period)"""
    generator = torch.Generator().manual_seed(seed)
    half = torch.randint(vocabulary, (batch, period), generator=generator)
    return torch.cat([half, half], dim=1)
