"""The encoder lab's classifier to train: the student's own from ``models.py``, else a ready-made one."""

from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from course import colab
from course.parts import refusal

FILE = "models.py"
MODEL = "TransformerForSequenceClassification"

#: The classes of ``models.py`` with their visible checks, the parts before what is made of them.
CHECKS = {
    "AttentionHead": ("head_attention", "attention_head"),
    "MultiHeadAttention": ("multi_head_init", "multi_head_attention"),
    "FeedForward": ("feed_forward",),
    "Embeddings": ("embeddings",),
    "TransformerEncoderLayer": ("encoder_layer",),
    "TransformerEncoder": ("encoder",),
    "ClassificationHead": ("classification_head",),
    MODEL: ("classifier", "whole_model"),
}


class ReadySequenceClassifier(nn.Module):
    """A small DistilBERT of ``transformers``, untrained: ids (B, T) -> logits (B, num_classes).

    The arguments are those of the notebook's class. It differs from it in the norms, which come after the additions.
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
        from transformers import DistilBertConfig, DistilBertForSequenceClassification

        super().__init__()
        make: Any = DistilBertConfig  # its fields are declared in a way that hides them from type checkers
        self.inner = DistilBertForSequenceClassification(
            make(vocab_size=vocab_size, max_position_embeddings=max_position_embeddings, dim=d_model,
                 n_heads=num_attention_heads, hidden_dim=intermediate_size, n_layers=num_hidden_layers,
                 num_labels=num_classes, seq_classif_dropout=dropout_prob, attn_implementation="eager")
        )  # fmt: skip

    def forward(self, input_ids: Tensor) -> Tensor:
        logits: Tensor = self.inner(input_ids).logits
        return logits

    @torch.no_grad()
    def attention_weights(self, input_ids: Tensor) -> Tensor:
        """``input_ids`` (1, tokens) -> (layers, heads, tokens, tokens), without dropout"""
        return torch.cat(self.eval().inner(input_ids, output_attentions=True).attentions)


def own_or_ready(check: Any) -> Any:
    """The student's classifier where all classes of ``models.py`` pass their checks, else the ready-made one.

    check: the visible checks, ``course.check.encoder_lab``. Prints which of the two it is, and why.
    """
    why = _what_is_wrong(check)
    if why:
        print(f"The ready-made model of transformers, because {why}")
        return ReadySequenceClassifier
    print(f"Your own model, from {FILE}.")
    return check.load(MODEL)


def _what_is_wrong(check: Any) -> str:
    """The first class that does not pass, in a sentence; empty where all do."""
    if not Path(FILE).exists():
        return f"{FILE} is not in this folder.{colab.hint(FILE)}"
    for name, checks in CHECKS.items():
        for one in checks:
            if message := refusal(partial(_check, check, one, name)):
                return f"{name} does not pass its check yet ({message})."
    return ""


def _check(check: Any, exercise: str, name: str) -> None:
    getattr(check, exercise)(check.load(name))
