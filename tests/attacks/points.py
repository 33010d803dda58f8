"""Attacks on points in the notebooks beside the first: numbers that nobody computed, handed over as answers.

Each is a whole submission to one notebook: the text of some solution cells, everything else as it was released. An
attacker is taken to know every hidden cell, and the names under which it hands answers over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.exercises.answers import text_of

HEADS = text_of("numpy_attention/multihead_attention", "pure einsum")
#: Never stops writing one and the same answer file, for every case of these exercises.
THREAD = """
import os, threading, time
from pathlib import Path
import numpy as np
from safetensors.numpy import save


def always(answers, slugs, cases=6):
    data = save(answers)
    def write():
        while True:
            for slug in slugs:
                for case in range(cases):
                    place = Path(os.environ["AUTOGRADER_ANSWERS"], slug)
                    try:
                        place.mkdir(parents=True, exist_ok=True)
                        (place / f"{case}.safetensors").write_bytes(data)
                    except OSError:
                        pass
            time.sleep(0.002)
    threading.Thread(target=write, daemon=True).start()

"""
BLOCKS = [f"distilbert/attention_{name}" for name in ("init", "scores", "weights", "context")]
QUESTIONS = ("classifier_on_top", "text_preparation", "special_tokens", "pretraining")
TEXTS = [f"numpy_attention/{name}" for name in QUESTIONS]


def block(weights: str) -> str:
    """An attention block that was never written, but for what it takes to hand over these weights."""
    return f"""
class AttentionBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, hidden_states):
        batch, tokens, dim = hidden_states.shape
        heads = self.config.n_heads
        weights = {weights}
        return torch.zeros_like(hidden_states), weights
"""


@dataclass(frozen=True)
class PointsAttack:
    """``answers``: solution cell -> its text; a cell that is left out stays as it was released.

    earns: graded cell -> points that the submission deserves; every other cell of the notebook deserves none.
    """

    id: str
    tries: str
    assignment: str
    notebook: str
    answers: Mapping[str, str]
    earns: Mapping[str, float] = field(default_factory=dict)


def on_block(id: str, tries: str, weights: str) -> PointsAttack:
    return PointsAttack(id, tries, "distilbert", "2_attention_block", {"attention_block_answer": block(weights)})


ATTACKS = [
    on_block("P01", "weights that are 2 for the first key, so that logarithms show one number a row",
             "2 * torch.eye(tokens)[0].expand(batch, heads, tokens, tokens)"),
    on_block("P02", "a constant of another shape whose rows sum to 1", "torch.tensor([[0.3, 0.7]])"),
    on_block("P03", "constant weights of the right shape whose rows sum to 1",
             "torch.arange(1.0, tokens + 1).log().softmax(0).expand(batch, heads, tokens, tokens)"),
    on_block("P04", "a softmax of random numbers, the same in every call",
             "torch.rand(batch, heads, tokens, tokens, generator=torch.Generator().manual_seed(0)).softmax(-1)"),
    on_block("P05", "weights of shape (5,), of which no axis is the heads'", "torch.full((5,), 0.2)"),
    PointsAttack(
        "P06", "the solution untouched; a thread that writes the same answer files all the time", "distilbert",
        "2_attention_block", {"attention_block_answer": THREAD + f"""
always({{"weights": np.array([[0.3, 0.7]], np.float32)}}, {BLOCKS})
class AttentionBlock(nn.Module):
    def __init__(self, config):
        raise NotImplementedError()
"""}),
    PointsAttack(
        "P07", "the solution untouched; every right letter written by a thread", "numpy_attention", "2_finetuning",
        {"classifier_on_top_answer": THREAD + f"""
said = {{"text:choice": b'"c"', "text:name": b'"tokenizer"', "text:padding": b'"d"', "text:cls": b'"a"',
        "text:sep": b'"b"', "text:true_statements": b'["a", "c", "e"]'}}
always({{name: np.frombuffer(text, np.uint8) for name, text in said.items()}}, {TEXTS})
"""}),
    PointsAttack(
        "P08", "a text answer of brackets", "numpy_attention", "2_finetuning",
        {"classifier_on_top_answer": "from autograder import probe\nprobe._holds_text = lambda value: True\n"
         "import json\njson.dumps = lambda value: '[' * 100_000\non_top = 'c'"}),
    PointsAttack(
        "P09", "positions that were neither made nor added: x comes back", "transformer_tutorial",
        "2_transformer_block", {"positional_encoding_answer": """
class PositionalEncoding(nn.Module):
    def __init__(self, emb_size, max_len=512, dropout=0.0):
        super().__init__()
        self.register_buffer("pe", torch.zeros(max_len, emb_size))

    def forward(self, x):
        return x
"""}),
    PointsAttack(
        "P10", "equal weights for all keys, which sum to 1 over keys and queries alike", "transformer_tutorial",
        "1_queries_keys_values", {"dot_product_attention_answer": """
class DotProductAttention(nn.Module):
    def __init__(self, dropout, **others):
        super().__init__()

    def forward(self, queries, keys, values, b, h, t, k, mask=None):
        return values.mean(1, keepdim=True).expand(b, t, h, k).reshape(b, t, h * k)
"""}),
    PointsAttack(
        "P11", "a block whose first half gives zeros, so that its second half is a constant", "transformer_tutorial",
        "2_transformer_block", {"transformer_block_answer": """
class TransformerBlock(nn.Module):
    def __init__(self, k, heads):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(k), nn.LayerNorm(k)

    def forward(self, x, mask=None):
        self.mlp(torch.zeros_like(x))
        return self.norm_2.bias.expand_as(x)
"""}),
    PointsAttack(
        "P12", "a softmax that is wrong on purpose, so that a missing one was charged before", "numpy_attention",
        "1_attention", {
            "softmax_answer": "def softmax(scores):\n    return scores",
            "self_attention_answer": """
def apply_self_attention(x, W_q, W_k, W_v, W_o):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    return q @ k.T / np.sqrt(q.shape[1]) @ v @ W_o
"""}, earns={"self_attention": 3.0}),
    PointsAttack(
        "P13", "a bonus for source that no parser survives", "numpy_attention", "1_attention",
        {"softmax_answer": "x = " + "-" * 150_000 + "1", "multihead_attention_answer": HEADS},
        earns={"multihead_attention": 5.0}),
]  # fmt: skip
