"""A Transformer encoder, from one attention head to a sentence classifier.

You write this file, class by class; ``1_attention.ipynb`` and ``2_encoder.ipynb`` beside it say when and how, and check each class.
Shapes: B sentences in a batch, T tokens in each. Keep the names of classes, arguments and attributes: the checks
set your weights by name. Hand the file in together with the notebooks.
"""

from math import sqrt

import torch
from torch import Tensor, nn


class AttentionHead(nn.Module):
    """One head: every token looks at every token, and takes a mix of what they offer.

    d_model: length of a token's vector
    d_k, d_q, d_v: lengths of its key, its query and its value (a query and a key are as long as each other)
    """

    def __init__(self, d_model: int, d_k: int, d_q: int, d_v: int) -> None:
        super().__init__()
        # wq, wk, wv: three linear layers without bias, from a token's vector to its query, key and value
        ### BEGIN SOLUTION
        self.wq = nn.Linear(d_model, d_q, bias=False)
        self.wk = nn.Linear(d_model, d_k, bias=False)
        self.wv = nn.Linear(d_model, d_v, bias=False)
        ### END SOLUTION

    def scaled_dot_product_attention(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """q (B, n, d_q), k (B, m, d_k), v (B, m, d_v) -> output (B, n, d_v), weights (B, n, m)"""
        # scores, their softmax over the keys, and the values mixed by these weights
        ### BEGIN SOLUTION
        scores = q @ k.transpose(-2, -1) / sqrt(k.size(-1))  # (B, n, m)
        weights = scores.softmax(dim=-1)  # (B, n, m), each row sums to 1
        return weights @ v, weights  # (B, n, d_v), (B, n, m)
        ### END SOLUTION

    def forward(self, hidden_states: Tensor) -> Tensor:
        """hidden_states (B, T, d_model) -> output (B, T, d_v)"""
        # first project, then attend; the weights are not handed on
        ### BEGIN SOLUTION
        q, k, v = self.wq(hidden_states), self.wk(hidden_states), self.wv(hidden_states)
        output, _ = self.scaled_dot_product_attention(q, k, v)
        return output  # (B, T, d_v)
        ### END SOLUTION


class MultiHeadAttention(nn.Module):
    """Several heads side by side, each with parameters of its own; a linear layer mixes what they found.

    d_model: length of a token's vector
    num_attention_heads: how many heads; every one works on d_model / num_attention_heads numbers

    Raises ValueError where d_model cannot be split into that many equal parts.
    """

    def __init__(self, d_model: int, num_attention_heads: int) -> None:
        super().__init__()
        # heads: an nn.ModuleList of AttentionHead; output_linear: d_model -> d_model
        # before that: an error whose message explains what does not fit
        ### BEGIN SOLUTION
        if d_model % num_attention_heads:
            raise ValueError(
                f"d_model must be a multiple of num_attention_heads, for every head gets an equal part; "
                f"{d_model} cannot be split into {num_attention_heads} parts."
            )
        size = d_model // num_attention_heads
        self.heads = nn.ModuleList(AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads))
        self.output_linear = nn.Linear(d_model, d_model)
        ### END SOLUTION

    def forward(self, hidden_states: Tensor) -> Tensor:
        """hidden_states (B, T, d_model) -> (B, T, d_model)"""
        # what the heads give, laid end to end, through output_linear
        ### BEGIN SOLUTION
        found = torch.cat([head(hidden_states) for head in self.heads], dim=-1)  # (B, T, d_model)
        return self.output_linear(found)  # (B, T, d_model)
        ### END SOLUTION


class FeedForward(nn.Module):
    """Two linear layers with a GELU between them, for each token by itself.

    d_model: length of a token's vector
    intermediate_size: width of the layer in the middle
    """

    def __init__(self, d_model: int, intermediate_size: int) -> None:
        super().__init__()
        # linear_1, gelu (the exact one), linear_2
        ### BEGIN SOLUTION
        self.linear_1 = nn.Linear(d_model, intermediate_size)
        self.gelu = nn.GELU()
        self.linear_2 = nn.Linear(intermediate_size, d_model)
        self.dropout = nn.Dropout(0.1)
        ### END SOLUTION

    def forward(self, hidden_states: Tensor) -> Tensor:
        """hidden_states (B, T, d_model) -> (B, T, d_model)"""
        ### BEGIN SOLUTION
        wide = self.gelu(self.linear_1(hidden_states))  # (B, T, intermediate_size)
        return self.dropout(self.linear_2(wide))  # (B, T, d_model)
        ### END SOLUTION


class Embeddings(nn.Module):
    """A token's vector: which word it is plus where it stands, normalised.

    vocab_size: number of different tokens
    max_position_embeddings: longest sentence, in tokens
    d_model: length of a token's vector
    """

    def __init__(self, vocab_size: int, max_position_embeddings: int, d_model: int) -> None:
        super().__init__()
        # token_embeddings, position_embeddings: two tables; layer_norm with eps=1e-12, as in BERT; a dropout
        ### BEGIN SOLUTION
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
        ### END SOLUTION

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids (B, T) -> (B, T, d_model)"""
        # word vectors plus position vectors, then layer_norm, then the dropout
        ### BEGIN SOLUTION
        positions = torch.arange(input_ids.size(1), device=input_ids.device)  # (T,)
        summed = self.token_embeddings(input_ids) + self.position_embeddings(positions)  # (B, T, d_model)
        return self.dropout(self.layer_norm(summed))  # (B, T, d_model)
        ### END SOLUTION


class TransformerEncoderLayer(nn.Module):
    """Attention, then feed-forward, each after its own layer norm (pre-LN) and with a skip around it.

    d_model: length of a token's vector
    num_attention_heads: heads of the attention
    intermediate_size: width of the feed-forward network
    """

    def __init__(self, d_model: int, num_attention_heads: int, intermediate_size: int) -> None:
        super().__init__()
        # layer_norm_1, attention, layer_norm_2, feed_forward
        ### BEGIN SOLUTION
        self.layer_norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_attention_heads)
        self.layer_norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, intermediate_size)
        ### END SOLUTION

    def forward(self, hidden_states: Tensor) -> Tensor:
        """hidden_states (B, T, d_model) -> (B, T, d_model)"""
        # normalise, attend, add; normalise, feed forward, add
        ### BEGIN SOLUTION
        attended = hidden_states + self.attention(self.layer_norm_1(hidden_states))  # (B, T, d_model)
        return attended + self.feed_forward(self.layer_norm_2(attended))  # (B, T, d_model)
        ### END SOLUTION


class TransformerEncoder(nn.Module):
    """The embeddings and a stack of layers: from token ids to one vector per token that knows its neighbours.

    Arguments as in Embeddings and TransformerEncoderLayer; num_hidden_layers: how many layers.
    """

    def __init__(
        self,
        vocab_size: int,
        max_position_embeddings: int,
        d_model: int,
        num_attention_heads: int,
        intermediate_size: int,
        num_hidden_layers: int,
    ) -> None:
        super().__init__()
        # embeddings; layers: an nn.ModuleList of TransformerEncoderLayer
        ### BEGIN SOLUTION
        self.embeddings = Embeddings(vocab_size, max_position_embeddings, d_model)
        self.layers = nn.ModuleList(
            TransformerEncoderLayer(d_model, num_attention_heads, intermediate_size) for _ in range(num_hidden_layers)
        )
        ### END SOLUTION

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids (B, T) -> (B, T, d_model)"""
        # what one layer gives, the next one takes
        ### BEGIN SOLUTION
        hidden_states = self.embeddings(input_ids)  # (B, T, d_model)
        for layer in self.layers:
            hidden_states = layer(hidden_states)  # (B, T, d_model)
        return hidden_states
        ### END SOLUTION


class ClassificationHead(nn.Module):
    """From one vector per sentence to one number per class (logits: no softmax).

    d_model: length of the vector
    num_classes: number of classes
    dropout_prob: share of the vector's numbers that are dropped in training
    """

    def __init__(self, d_model: int, num_classes: int, dropout_prob: float) -> None:
        super().__init__()
        # dropout, linear
        ### BEGIN SOLUTION
        self.dropout = nn.Dropout(dropout_prob)
        self.linear = nn.Linear(d_model, num_classes)
        ### END SOLUTION

    def forward(self, pooled: Tensor) -> Tensor:
        """pooled (B, d_model) -> logits (B, num_classes)"""
        ### BEGIN SOLUTION
        return self.linear(self.dropout(pooled))  # (B, num_classes)
        ### END SOLUTION


class TransformerForSequenceClassification(nn.Module):
    """The whole model: encoder, the vector of the first token, classification head.

    Arguments as in TransformerEncoder, then those of ClassificationHead.
    """

    def __init__(
        self,
        vocab_size: int,
        max_position_embeddings: int,
        d_model: int,
        num_attention_heads: int,
        intermediate_size: int,
        num_hidden_layers: int,
        num_classes: int,
        dropout_prob: float,
    ) -> None:
        super().__init__()
        # transformer_encoder, classifier
        ### BEGIN SOLUTION
        self.transformer_encoder = TransformerEncoder(
            vocab_size, max_position_embeddings, d_model, num_attention_heads, intermediate_size, num_hidden_layers
        )
        self.classifier = ClassificationHead(d_model, num_classes, dropout_prob)
        ### END SOLUTION

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids (B, T) -> logits (B, num_classes)"""
        # the vector of the first token, [CLS], stands for the sentence
        ### BEGIN SOLUTION
        pooled = self.transformer_encoder(input_ids)[:, 0]  # (B, d_model)
        return self.classifier(pooled)  # (B, num_classes)
        ### END SOLUTION
