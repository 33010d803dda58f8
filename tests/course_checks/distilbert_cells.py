"""Classes and functions of the DistilBERT assignment as students write them, with places where they go wrong."""

import math
from typing import Any

import matplotlib.pyplot as plt
import torch
from torch import nn

EMBEDDINGS = """
class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.dim, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.dim)
        self.LayerNorm = nn.LayerNorm(config.dim, eps=config.eps)

    def position_ids(self, input_ids):
        return POSITIONS

    def merge(self, words, positions):
        MERGE

    def forward(self, input_ids):
        words = self.word_embeddings(input_ids)
        positions = self.position_embeddings(self.position_ids(input_ids))
        return RESULT
"""
EMBEDDINGS_DEFAULTS = {
    "POSITIONS": "torch.arange(input_ids.shape[1])",
    "MERGE": "return words + positions",
    "RESULT": "self.LayerNorm(self.merge(words, positions))",
}

BLOCK = """
class AttentionBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        INIT
        self.out_lin = nn.Linear(config.dim, config.dim)
        self.sa_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)
        self.lin1 = nn.Linear(config.dim, config.hidden_dim)
        self.lin2 = nn.Linear(config.hidden_dim, config.dim)
        self.output_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)

    def attention_scores(self, q, k):
        return SCORES

    def attention_weights(self, scores):
        return WEIGHTS

    def attention_context(self, weights, v):
        return CONTEXT

    def forward(self, hidden_states):
        bs, heads, size = hidden_states.shape[0], self.config.n_heads, self.config.attention_head_size
        q, k, v = (SPLIT(layer(hidden_states)) for layer in (self.q_lin, self.k_lin, self.v_lin))
        q = q / math.sqrt(size)
        STEPS
        context = MERGED
        sa_output = self.sa_layer_norm(self.out_lin(context) + SKIP_ONE)
        x = self.lin2(nn.functional.gelu(self.lin1(sa_output)))
        return self.output_layer_norm(x + SKIP_TWO), weights
"""
INIT = "; ".join(f"self.{name}_lin = nn.Linear(config.dim, config.dim)" for name in "qkv")
PARTS = {"SCORES": "q @ k.mT", "WEIGHTS": "scores.softmax(-1)", "CONTEXT": "weights @ v"}
STEPS = "weights = self.attention_weights(self.attention_scores(q, k)); context = self.attention_context(weights, v)"
BLOCK_DEFAULTS = {
    "INIT": INIT,
    "STEPS": STEPS,
    "SPLIT": "(lambda x: x.view(bs, -1, heads, size).transpose(1, 2))",
    "MERGED": "context.transpose(1, 2).reshape(bs, -1, heads * size)",
    "SKIP_ONE": "hidden_states",
    "SKIP_TWO": "sa_output",
}

MODEL = """
class DistilBertClassifier(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.pre_classifier = nn.Linear(config.dim, config.dim)
        self.classifier = nn.Linear(config.dim, config.n_classes)
        self.attention_probs = KEPT
        LIST

    def encode(self, hidden_states):
        LOOP
        return hidden_states

    def classify(self, pooled_output):
        HEAD

    def forward(self, input_ids):
        return self.classify(self.encode(self.embeddings(input_ids))POOLED)
"""
LIST = "self.attention_layers = nn.ModuleList([AttentionBlock(config) for _ in range(config.n_layers)])"
LOOP = """for i, layer in enumerate(self.attention_layers):
            hidden_states, self.attention_probs[i] = layer(hidden_states)"""
HEAD = "return self.classifier(torch.relu(self.pre_classifier(pooled_output)))"
MODEL_DEFAULTS = {"KEPT": "{}", "LIST": LIST, "LOOP": LOOP, "HEAD": HEAD, "POOLED": "[:, 0]"}


def _define(name: str, text: str, changes: dict[str, str], **known: Any) -> Any:
    for place, code in changes.items():
        assert place in text
        text = text.replace(place, code)
    space: dict[str, Any] = {"torch": torch, "nn": nn, "math": math, "F": nn.functional, "plt": plt, **known}
    exec(compile(text, "<cell>", "exec"), space)
    return space[name]


def embeddings(**changes: str) -> Any:
    return _define("Embeddings", EMBEDDINGS, EMBEDDINGS_DEFAULTS | changes)


def attention_block(**changes: str) -> Any:
    """With capital places in place of the defaults, say ``SCORES="q @ k.mT"``."""
    return _define("AttentionBlock", BLOCK, BLOCK_DEFAULTS | PARTS | changes)


def block_in_one_forward(steps: str, **changes: str) -> Any:
    """Without methods, as others wrote it for the same sheet. steps: what gives ``weights`` and ``context``."""
    head, _, rest = BLOCK.partition("    def attention_scores")
    _, forward, rest = rest.partition("    def forward")
    return _define("AttentionBlock", head + forward + rest, BLOCK_DEFAULTS | {"STEPS": steps} | changes)


def classifier_model(**changes: str) -> Any:
    known = {"Embeddings": embeddings(), "AttentionBlock": attention_block()}
    return _define("DistilBertClassifier", MODEL, MODEL_DEFAULTS | changes, **known)


def function(name: str, body: str, arguments: str) -> Any:
    lines = "\n    ".join(body.strip().split("\n"))
    return _define(name, f"def {name}({arguments}):\n    {lines}\n", {})
