"""Ready-made methods of classes, for whatever else of a class is looked at; built otherwise than what is asked for."""

from typing import Any

import torch
from torch import Tensor, nn

from course.tutorial_parts import ReadyPositions, ReadyTransformerBlock, ready_mean_pooling


class ReadySteps:
    """The steps of ``DotProductAttention``, but for ``hide``."""

    layers = ()

    def calculate_score(self, queries: Tensor, keys: Tensor) -> Tensor:
        return torch.baddbmm(torch.zeros(()), queries, keys.mT, beta=0, alpha=keys.shape[-1] ** -0.5)

    def mix(self, score: Tensor, values: Tensor) -> Tensor:
        return torch.einsum("bqm,bmk->bqk", score.log_softmax(-1).exp(), values)

    def fold(self, x: Tensor) -> Tensor:
        return torch.stack(x.unbind(2), dim=1).flatten(0, 1)

    def unfold(self, out: Tensor, h: int) -> Tensor:
        return torch.cat(out.unflatten(0, (-1, h)).unbind(1), dim=-1)


class ReadyTransformer(nn.Module):
    """The classifier but for ``forward``."""

    layers = ("pos_enc", "token_embedding", "transformer_blocks", "classification_head")

    def __init__(
        self, k: int, heads: int, depth: int, seq_length: int, num_tokens: int, num_classes: int, **others: Any
    ) -> None:
        super().__init__()
        self.pos_enc, self.token_embedding = ReadyPositions(k, max_len=seq_length), nn.Embedding(num_tokens, k)
        self.transformer_blocks = nn.Sequential(*(ReadyTransformerBlock(k, heads) for _ in range(depth)))
        self.classification_head = nn.Linear(in_features=k, out_features=num_classes)

    def embed(self, x: Tensor) -> Tensor:
        placed: Tensor = self.pos_enc(self.token_embedding.weight[x] * self.token_embedding.embedding_dim**0.5)
        return placed

    def encode(self, x: Tensor, mask: Tensor) -> Tensor:
        for number in range(len(self.transformer_blocks)):
            x = self.transformer_blocks[number](x, mask)
        return ready_mean_pooling(x, mask)

    def classify(self, sequence_avg: Tensor) -> Tensor:
        logits: Tensor = self.classification_head(sequence_avg)
        return logits - logits.logsumexp(-1, keepdim=True)
