"""A student's answers to encoder_lab: cell id -> code, and models.py. Written from the released files alone.

Its author had seen some of the source before.
"""

ATTENTION = {
    "attention_scores_answer": """
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
""",
    "attention_weights_answer": """
def attention_weights(scores):
    return scores.softmax(dim=2)
""",
    "scaled_dot_product_attention_answer": """
def scaled_dot_product_attention(query, key, value):
    return attention_weights(attention_scores(query, key)) @ value
""",
    "causal_mask_answer": """
def causal_mask(n):
    return torch.ones(1, n, n).tril()
""",
    "masked_attention_answer": """
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return attention_weights(scores) @ value
""",
    "decoder_parts_answer": 'decoder_parts = ["cross", "both", "masked", "masked", "neither"]',
    "multi_query_answer": """
class MultiQueryAttention(nn.Module):
    def __init__(self, d_model, num_attention_heads):
        super().__init__()
        self.num_attention_heads = num_attention_heads
        size = d_model // num_attention_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, size, bias=False)
        self.wv = nn.Linear(d_model, size, bias=False)
        self.output_linear = nn.Linear(d_model, d_model)

    def forward(self, hidden_states):
        key, value = self.wk(hidden_states), self.wv(hidden_states)
        outputs = []
        for query in self.wq(hidden_states).chunk(self.num_attention_heads, dim=-1):
            outputs.append(scaled_dot_product_attention(query, key, value))
        return self.output_linear(torch.cat(outputs, dim=-1))
""",
}

ENCODER = {
    "position_kinds_answer": 'position_kinds = ["learned", "sinusoidal", "relative", "learned"]',
    "by_hand_answer": """
def layer_norm(x, gamma, beta, eps=1e-12):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)
    return gamma * centred / (variance + eps).sqrt() + beta


def gelu(x):
    return x * (1 + torch.erf(x / 2**0.5)) / 2
""",
}

LOOKING = {
    "sentence_b_start_answer": """
def sentence_b_start(token_type_ids):
    return token_type_ids[0].tolist().index(1)
""",
    "separator_share_answer": """
def separator_share(attention, tokens):
    separators = [i for i, token in enumerate(tokens) if token == "[SEP]"]
    return attention[:, :, separators].sum(dim=2).mean(dim=1)
""",
    "separator_heads_answer": """
separator_heads = []
for layer in attentions:
    separator_heads.append(int(separator_share(layer, tokens).argmax()))
""",
    "previous_token_answer": """
def previous_token(attentions):
    queries = torch.arange(1, attentions.shape[-1])
    return attentions[:, :, queries, queries - 1].mean(dim=-1)
""",
    "products_answer": """
def products(query, keys):
    return keys * query / len(query) ** 0.5
""",
    "moved_answer": """
def moved(original, shuffled, order):
    return (original[:, order] - shuffled).norm(dim=-1).mean(dim=-1)
""",
    "readings_answer": """
def shares(weights):
    twice = [(i, j) for i, a in enumerate(tokens) for j, b in enumerate(tokens) if a == b and i != j and a[0] != "["]
    return {
        "previous": weights.diagonal(-1).mean(),
        "next": weights.diagonal(1).mean(),
        "same word": torch.stack([weights[i, j] for i, j in twice]).mean(),
        "separator": weights[:, [i for i, token in enumerate(tokens) if token == "[SEP]"]].sum(dim=1).mean(),
    }


readings = []
for layer, head in four:
    found = shares(attentions[layer, head])
    readings.append(max(found, key=found.get))
for layer, head in ((1, 1), (0, 2)):
    pattern = readings[four.index((layer, head))]
    readings.append("kept" if shares(without[layer, head])[pattern] > 0.3 else "lost")
""",
    "attention_rollout_answer": """
def attention_rollout(attentions):
    rolled = torch.eye(attentions.shape[-1], dtype=attentions.dtype)
    for layer in attentions:
        rolled = (layer.mean(dim=0) / 2 + torch.eye(len(rolled), dtype=rolled.dtype) / 2) @ rolled
    return rolled
""",
}

MODELS = """
from math import sqrt

import torch
from torch import nn


class AttentionHead(nn.Module):
    def __init__(self, d_model, d_k, d_q, d_v):
        super().__init__()
        self.wq = nn.Linear(d_model, d_q, bias=False)
        self.wk = nn.Linear(d_model, d_k, bias=False)
        self.wv = nn.Linear(d_model, d_v, bias=False)

    def scaled_dot_product_attention(self, q, k, v):
        scores = q @ k.transpose(-2, -1) / sqrt(k.shape[-1])
        weights = scores.softmax(dim=-1)
        return weights @ v, weights

    def forward(self, hidden_states):
        q, k, v = self.wq(hidden_states), self.wk(hidden_states), self.wv(hidden_states)
        output, _ = self.scaled_dot_product_attention(q, k, v)
        return output


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_attention_heads):
        super().__init__()
        if d_model % num_attention_heads:
            raise ValueError(f"{d_model} numbers cannot be split among {num_attention_heads} heads")
        size = d_model // num_attention_heads
        self.heads = nn.ModuleList([AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads)])
        self.output_linear = nn.Linear(d_model, d_model)

    def forward(self, hidden_states):
        return self.output_linear(torch.cat([head(hidden_states) for head in self.heads], dim=-1))


class FeedForward(nn.Module):
    def __init__(self, d_model, intermediate_size):
        super().__init__()
        self.linear_1 = nn.Linear(d_model, intermediate_size)
        self.gelu = nn.GELU()
        self.linear_2 = nn.Linear(intermediate_size, d_model)

    def forward(self, hidden_states):
        return self.linear_2(self.gelu(self.linear_1(hidden_states)))


class Embeddings(nn.Module):
    def __init__(self, vocab_size, max_position_embeddings, d_model):
        super().__init__()
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids):
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        both = self.token_embeddings(input_ids) + self.position_embeddings(positions)
        return self.dropout(self.layer_norm(both))


class TransformerEncoderLayer(nn.Module):
    def __init__(self, d_model, num_attention_heads, intermediate_size):
        super().__init__()
        self.layer_norm_1 = nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_attention_heads)
        self.layer_norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, intermediate_size)

    def forward(self, hidden_states):
        attended = hidden_states + self.attention(self.layer_norm_1(hidden_states))
        return attended + self.feed_forward(self.layer_norm_2(attended))


class TransformerEncoder(nn.Module):
    def __init__(
        self, vocab_size, max_position_embeddings, d_model, num_attention_heads, intermediate_size, num_hidden_layers
    ):
        super().__init__()
        self.embeddings = Embeddings(vocab_size, max_position_embeddings, d_model)
        self.layers = nn.ModuleList(
            [TransformerEncoderLayer(d_model, num_attention_heads, intermediate_size) for _ in range(num_hidden_layers)]
        )

    def forward(self, input_ids):
        hidden_states = self.embeddings(input_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        return hidden_states


class ClassificationHead(nn.Module):
    def __init__(self, d_model, num_classes, dropout_prob):
        super().__init__()
        self.dropout = nn.Dropout(dropout_prob)
        self.linear = nn.Linear(d_model, num_classes)

    def forward(self, pooled):
        return self.linear(self.dropout(pooled))


class TransformerForSequenceClassification(nn.Module):
    def __init__(
        self, vocab_size, max_position_embeddings, d_model, num_attention_heads, intermediate_size, num_hidden_layers,
        num_classes, dropout_prob,
    ):  # fmt: skip
        super().__init__()
        self.transformer_encoder = TransformerEncoder(
            vocab_size, max_position_embeddings, d_model, num_attention_heads, intermediate_size, num_hidden_layers
        )
        self.classifier = ClassificationHead(d_model, num_classes, dropout_prob)

    def forward(self, input_ids):
        return self.classifier(self.transformer_encoder(input_ids)[:, 0])
"""

ANSWERS = {"1_attention": ATTENTION, "2_encoder": ENCODER, "3_attention_visualization": LOOKING}
FILES = {"models.py": MODELS.encode()}
