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
        # YOUR CODE HERE
        raise NotImplementedError()

    def scaled_dot_product_attention(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """q (B, n, d_q), k (B, m, d_k), v (B, m, d_v) -> output (B, n, d_v), weights (B, n, m)"""
        # scores, their softmax over the keys, and the values mixed by these weights
        # YOUR CODE HERE
        raise NotImplementedError()

    def forward(self, hidden_states: Tensor) -> Tensor:
        """hidden_states (B, T, d_model) -> output (B, T, d_v)"""
        # first project, then attend; the weights are not handed on
        # YOUR CODE HERE
        raise NotImplementedError()


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
        # YOUR CODE HERE
        raise NotImplementedError()

    def forward(self, hidden_states: Tensor) -> Tensor:
        """hidden_states (B, T, d_model) -> (B, T, d_model)"""
        # what the heads give, laid end to end, through output_linear
        # YOUR CODE HERE
        raise NotImplementedError()


class FeedForward(nn.Module):
    """Two linear layers with a GELU between them, for each token by itself.

    d_model: length of a token's vector
    intermediate_size: width of the layer in the middle
    """

    def __init__(self, d_model: int, intermediate_size: int) -> None:
        super().__init__()
        # linear_1, gelu (the exact one), linear_2
        # YOUR CODE HERE
        raise NotImplementedError()

    def forward(self, hidden_states: Tensor) -> Tensor:
        """hidden_states (B, T, d_model) -> (B, T, d_model)"""
        # YOUR CODE HERE
        raise NotImplementedError()


class Embeddings(nn.Module):
    """A token's vector: which word it is plus where it stands, normalised.

    vocab_size: number of different tokens
    max_position_embeddings: longest sentence, in tokens
    d_model: length of a token's vector
    """

    def __init__(self, vocab_size: int, max_position_embeddings: int, d_model: int) -> None:
        super().__init__()
        # token_embeddings, position_embeddings: two tables; layer_norm with eps=1e-12, as in BERT; a dropout
        # YOUR CODE HERE
        raise NotImplementedError()

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids (B, T) -> (B, T, d_model)"""
        # word vectors plus position vectors, then layer_norm, then the dropout
        # YOUR CODE HERE
        raise NotImplementedError()


class TransformerEncoderLayer(nn.Module):
    """Attention, then feed-forward, each after its own layer norm (pre-LN) and with a skip around it.

    d_model: length of a token's vector
    num_attention_heads: heads of the attention
    intermediate_size: width of the feed-forward network
    """

    def __init__(self, d_model: int, num_attention_heads: int, intermediate_size: int) -> None:
        super().__init__()
        # layer_norm_1, attention, layer_norm_2, feed_forward
        # YOUR CODE HERE
        raise NotImplementedError()

    def forward(self, hidden_states: Tensor) -> Tensor:
        """hidden_states (B, T, d_model) -> (B, T, d_model)"""
        # normalise, attend, add; normalise, feed forward, add
        # YOUR CODE HERE
        raise NotImplementedError()


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
        # YOUR CODE HERE
        raise NotImplementedError()

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids (B, T) -> (B, T, d_model)"""
        # what one layer gives, the next one takes
        # YOUR CODE HERE
        raise NotImplementedError()


class ClassificationHead(nn.Module):
    """From one vector per sentence to one number per class (logits: no softmax).

    d_model: length of the vector
    num_classes: number of classes
    dropout_prob: share of the vector's numbers that are dropped in training
    """

    def __init__(self, d_model: int, num_classes: int, dropout_prob: float) -> None:
        super().__init__()
        # dropout, linear
        # YOUR CODE HERE
        raise NotImplementedError()

    def forward(self, pooled: Tensor) -> Tensor:
        """pooled (B, d_model) -> logits (B, num_classes)"""
        # YOUR CODE HERE
        raise NotImplementedError()


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
        # YOUR CODE HERE
        raise NotImplementedError()

    def forward(self, input_ids: Tensor) -> Tensor:
        """input_ids (B, T) -> logits (B, num_classes)"""
        # the vector of the first token, [CLS], stands for the sentence
        # YOUR CODE HERE
        raise NotImplementedError()
