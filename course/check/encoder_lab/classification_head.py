"""Notebook 1: ``ClassificationHead``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.encoder_lab._building import make
from course.check.encoder_lab._own import kept_factor
from course.check.encoder_lab._stand_ins import first, selects_first_token
from course.check.modules import part, undisturbed
from course.check.side_effects import check_side_effects


@undisturbed
def classification_head(kind: Any) -> None:
    """Dropout, then a linear layer."""
    name = "classification_head"
    head = make(name, kind, 6, 4, 0.25)
    linear = part(name, head, "linear")
    if tuple(getattr(linear, "weight", torch.zeros(0)).shape) != (4, 6):
        fail(name, "linear makes num_classes = 4 numbers out of d_model = 6.", f"Yours is {linear}.")
    if getattr(linear, "bias", None) is None:
        fail(
            name,
            "linear has a bias, one number for each class.",
            f"Yours is {linear}.",
            "nn.Linear has one by default.",
        )
    dropout = part(name, head, "dropout")
    if getattr(dropout, "p", None) != 0.25:
        fail(name, "dropout drops the share dropout_prob = 0.25.", f"Yours is {dropout}.")
    wants_sentences = selects_first_token(head, 6)
    x = torch.randn(50, 3, 6) if wants_sentences else torch.randn(50, 6)
    with running(name, f"the head on {tuple(x.shape)}"):
        logits = first(head(x))
    same_shape(name, "the logits", logits, (50, 4), "(batch, classes)")
    if close(logits.exp().sum(-1), torch.ones(50)) or close(logits.sum(-1), torch.ones(50)):
        fail(
            name,
            "the head returns logits: any numbers.",
            "Yours have been through a softmax.",
            "Whoever wants probabilities takes it later.",
        )
    _nothing_else(name, head, x, x[:, 0] if wants_sentences else x)
    check_side_effects(name, lambda given: first(head(given)), x)
    linear.weight.zero_()
    linear.bias.fill_(3.0)
    if not close(first(head(x)), torch.full((50, 4), 3.0)):
        fail(name, "the linear layer comes last, and nothing behind it.", "In yours something follows.")
    head.train()
    if not close(first(head(x)), torch.full((50, 4), 3.0)):
        fail(
            name,
            "dropout comes before the linear layer.",
            "In yours it drops logits.",
            "It should make the vector unreliable, not the answer.",
        )
    passed(name, "shape", "dropout before linear", "logits")


def _nothing_else(name: str, head: Any, x: Tensor, vectors: Tensor) -> None:
    """Dropout and a linear layer that picks the first four numbers: these, and in training zeros among them."""
    head.linear.weight.copy_(torch.eye(6)[:4])
    head.linear.bias.zero_()
    if not close(first(head(x)), vectors[:, :4]):
        fail(
            name,
            "where the linear layer picks the vector's first four numbers, these are the logits.",
            "In yours they come out changed.",
            "A dropout and a linear layer, and nothing else: no activation.",
        )
    if not bool((first(head.train()(x)) == 0).any()):
        fail(name, "in training a share of the vector's numbers is dropped.", "In yours none is.", "Is dropout called?")
    factor = kept_factor(head, x)
    if abs(factor - 4 / 3) > 1e-3:
        fail(
            name,
            "in training the share dropout_prob = 0.25 is dropped, and what is left is multiplied by 4/3.",
            f"In yours it is multiplied by {factor:.3g}.",
            "Is it self.dropout that is called? F.dropout has to be told the share.",
        )
    head.eval()
