"""Classes and functions of the DistilBERT assignment as students write them, with places where they go wrong."""

from __future__ import annotations

import linecache
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

    def forward(self, input_ids):
        input_embeds = self.word_embeddings(input_ids)
        seq_length = input_embeds.size(1)
        position_ids = POSITIONS
        position_embeddings = self.position_embeddings(position_ids)
        MERGE
        return RESULT
"""

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

    def forward(self, input_ids):
        hidden_states = self.embeddings(input_ids=input_ids).to(self.config.device)
        encoder_input = hidden_states
        LOOP
        pooled_output = output[:, 0]
        HEAD
        return logits
"""
LIST = "self.attention_layers = nn.ModuleList([AttentionBlock(config) for _ in range(config.n_layers)])"
LOOP = """for i, layer in enumerate(self.attention_layers):
            output, self.attention_probs[i] = layer(encoder_input)
            encoder_input = output"""
HEAD = "logits = self.classifier(torch.relu(self.pre_classifier(pooled_output)))"
MODEL_DEFAULTS = {"KEPT": "{}", "LIST": LIST, "LOOP": LOOP, "HEAD": HEAD}


def _define(name: str, text: str, changes: dict[str, str], **known: Any) -> Any:
    for place, code in changes.items():
        assert place in text
        text = text.replace(place, code)
    space: dict[str, Any] = {"torch": torch, "nn": nn, "math": math, "F": nn.functional, "plt": plt, **known}
    # what stands in for parts of it reads a student's source, as a notebook keeps it
    file = f"<cell {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    return space[name]


def embeddings(
    merge: str = "embeddings = input_embeds + position_embeddings",
    positions: str = "torch.arange(seq_length)",
    result: str = "self.LayerNorm(embeddings)",
) -> Any:
    return _define("Embeddings", EMBEDDINGS, {"MERGE": merge, "POSITIONS": positions, "RESULT": result})


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
