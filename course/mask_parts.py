"""The classifier with a padding mask: a model's own layers, and between them a function that makes masked weights."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class MaskedModel(nn.Module):
    """``input_ids``, ``attention_mask`` (batch, tokens) -> logits (batch, n_classes)

    model: has the layers of the DistilBERT notebooks under their names.
    weights_of: scores (batch, heads, queries, keys) and mask (batch, keys) -> attention weights
    """

    def __init__(self, model: Any, weights_of: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.model, self.weights_of = model, weights_of

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        x = self.model.embeddings(input_ids)
        for layers in self.model.attention_layers:
            x = self._block(layers, x, attention_mask)
        logits: Tensor = self.model.classifier(F.relu(self.model.pre_classifier(x[:, 0])))
        return logits

    def _block(self, layers: Any, x: Tensor, attention_mask: Tensor) -> Tensor:
        heads = layers.config.n_heads
        query, key, value = (part(x).unflatten(-1, (heads, -1)) for part in (layers.q_lin, layers.k_lin, layers.v_lin))
        products = torch.einsum("bqhd,bkhd->bhqk", query, key)
        weights = self.weights_of(products / query.shape[-1] ** 0.5, attention_mask)
        mixed = torch.einsum("bhqk,bkhd->bqhd", weights, value).flatten(-2)
        x = layers.sa_layer_norm(x + layers.out_lin(mixed))
        fed: Tensor = layers.output_layer_norm(x + layers.lin2(F.gelu(layers.lin1(x))))
        return fed


def with_mask(model: Any, weights_of: Callable[[Tensor, Tensor], Tensor]) -> MaskedModel:
    """``model`` with ``weights_of`` in place of the softmax in every block. The layers and their weights are shared."""
    return MaskedModel(model, weights_of)
