"""Notebook 3, part 3: from the pooled vector to the logits."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check import stand_ins
from course.check.base import close, fail, passed, running, same_shape
from course.check.distilbert._small import build_model, put_linear, repeatable, small_config
from course.check.modules import part, undisturbed

BATCH, TOKENS = 2, 3
IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])


@undisturbed
def classifier(kind: Any) -> None:
    """pre_classifier, ReLU, classifier: raw scores come out.

    Everything before it is replaced by a stand-in. pre_classifier doubles, the classifier picks the first two
    features and takes 1 from the second, so that the answer is known.
    """
    name = "classifier"
    config = small_config(n_layers=2, n_classes=4)
    model = build_model(name, kind, config)
    for layer in ("pre_classifier", "classifier"):
        part(name, model, layer)
    final = torch.full((BATCH, TOKENS, config.dim), 3.0)
    final[:, 0, :2] = torch.tensor([0.5, -1.0])
    put_linear(model, "pre_classifier", 2 * torch.eye(config.dim))
    put_linear(model, "classifier", torch.eye(config.dim)[: config.n_classes], torch.tensor([0.0, -1.0, 0.0, 0.0]))
    with running(name, "a batch of 2 sentences", "pooled_output is (batch, dim): it goes through both layers."):
        logits = stand_ins.run_classifier(model, IDS, final, config.n_layers, config.n_heads)
        again = stand_ins.run_classifier(model, IDS, final, config.n_layers, config.n_heads)
    repeatable(name, logits, again)
    same_shape(
        name,
        "the logits",
        logits,
        (BATCH, config.n_classes),
        "(batch, n_classes)",
        "pooled_output holds one vector for each sentence: does the classifier take that?",
    )
    if not logits.is_floating_point():
        fail(name, "logits are numbers with a point.", f"Yours are {logits.dtype}.", "Nothing is rounded here.")
    _logits(name, logits.float())
    _turned(name, model, final, config)
    passed(name, "pre_classifier, ReLU, classifier, in this order", "raw scores, no probabilities")


def _turned(name: str, model: Any, final: Tensor, config: Any) -> None:
    """With a negative pre_classifier: what the ReLU lets through tells on which side of it the layer stands."""
    put_linear(model, "pre_classifier", -2.2 * torch.eye(config.dim))
    with running(name, "a batch of 2 sentences"):
        logits = stand_ins.run_classifier(model, IDS, final, config.n_layers, config.n_heads)
    if float((logits[:, :2] - torch.tensor([0.0, 1.2])).abs().max()) > 1e-4:
        fail(
            name,
            "with features 0.5 and -1, times -2.2, the first two logits must be 0 and 1.2.",
            f"Yours are {logits[0, 0].item():.5g} and {logits[0, 1].item():.5g}.",
            "First pre_classifier, then ReLU, then classifier; nothing is rounded.",
        )


#: The first two logits of somebody who makes a known mistake; right is (1, -1).
KNOWN = {
    (1.0, -3.0): "the ReLU is missing: a negative number came through.",
    (0.8413, -1.0455): "the activation looks like a GELU.",
    (0.7616, -1.9640): "the activation looks like a tanh.",
    (0.7311, -0.8808): "the activation looks like a sigmoid.",
    (1.0, 0.0): "a ReLU was applied to the logits.",
    (0.5, -1.0): "pre_classifier was left out.",
    (0.5, -2.0): "pre_classifier and ReLU were left out.",
    (6.0, 5.0): "another token than [CLS] was taken.",
}


def _logits(name: str, logits: Tensor) -> None:
    expected = (
        "the first two logits must be 1 and -1 here: features 0.5 and -1, doubled, through the ReLU, minus 0 and 1."
    )
    look = "First pre_classifier, then ReLU, then classifier."
    if close(logits[:, :2], torch.tensor([[1.0, -1.0]] * BATCH), 1e-3):
        return
    sums = logits.sum(-1)
    if close(sums, torch.ones_like(sums), 1e-4) and bool((logits >= 0).all()):
        fail(
            name,
            "logits are raw scores; they need not sum to 1.",
            "Yours are probabilities: a softmax was applied.",
            "Whoever wants probabilities takes the softmax afterwards.",
        )
    if close(logits.exp().sum(-1), torch.ones_like(sums), 1e-4):
        fail(
            name,
            "logits are raw scores.",
            "Yours are log-probabilities: a log-softmax was applied.",
            "Whoever wants probabilities takes the softmax afterwards.",
        )
    first, second = logits[0, 0].item(), logits[0, 1].item()
    came = next(
        (words for (one, two), words in KNOWN.items() if abs(first - one) + abs(second - two) < 2e-3),
        "something else happens on the way.",
    )
    fail(name, expected, f"Yours are {first:.3g} and {second:.3g}: {came}", look)
