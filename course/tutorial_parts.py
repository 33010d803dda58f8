"""Ready-made parts for the transformer tutorial's later notebooks, made of torch's own modules.

They take the place of a part that a student has not finished yet (see ``course.parts.earlier``), with the same
arguments and shapes. Inside they are built differently from what the notebooks ask for.
"""

import torch
from torch import Tensor, nn


class ReadySelfAttention(nn.Module):
    """``x`` (b, t, k), ``mask`` (b, t) true for a real token -> (b, t, k)"""

    def __init__(self, k: int, heads: int = 8, dropout: float = 0.1) -> None:
        super().__init__()
        while k % heads:  # torch's own splits k among the heads
            heads -= 1
        self.inner = nn.MultiheadAttention(k, heads, dropout=dropout, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        attended: Tensor = self.inner(x, x, x, key_padding_mask=None if mask is None else ~mask, need_weights=False)[0]
        return attended


class ReadyTransformerBlock(nn.Module):
    """``x`` (b, t, k), ``mask`` (b, t) true for a real token -> (b, t, k)"""

    def __init__(self, k: int, heads: int) -> None:
        super().__init__()
        while k % heads:
            heads -= 1
        self.inner = nn.TransformerEncoderLayer(k, heads, dim_feedforward=2 * k, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        out: Tensor = self.inner(x, src_key_padding_mask=None if mask is None else ~mask)
        return out


class ReadyPositions(nn.Module):
    """Learned positions, as BERT has them: ``x`` (b, t, emb_size) -> the same shape"""

    def __init__(self, emb_size: int, dropout: float = 0.1, max_len: int = 512) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.table = nn.Embedding(max_len, emb_size)

    def forward(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1], device=x.device)
        placed: Tensor = self.dropout(x + self.table(places))
        return placed


def ready_mean_pooling(hidden_states: Tensor, mask: Tensor) -> Tensor:
    """``hidden_states`` (b, t, k), ``mask`` (b, t) true for a real token -> (b, k)"""
    pooled: Tensor = torch.masked.mean(hidden_states, dim=1, mask=mask.unsqueeze(-1).bool())
    return pooled
