"""Stretch goals, which bring no points: attention followed through all layers, a layer norm and a GELU by hand."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from course.check.base import as_array, close, fail, passed, running, same_shape
from course.check.modules import undisturbed
from course.check.stretch import begun

NAME = "attention_rollout"
#: What comes out of the text's two layers, and what then went wrong.
MISTAKES = {
    ((0.75, 0.25), (0.5, 0.5)): "The matrices are multiplied the other way round: the last layer stands on the left.",
    ((0.0, 1.0), (0.0, 1.0)): "The skips are missing: half of each token is the token itself.",
    ((2.0, 2.0), (1.0, 3.0)): "The identity was added, but nothing was halved: the rows must sum to 1.",
    ((1.0, 0.0), (0.5, 0.5)): "That is the last layer alone.",
    ((0.5, 0.5), (0.0, 1.0)): "That is the first layer alone.",
    ((0.75, 0.25), (0.25, 0.75)): "That is the average of the layers. They follow each other: multiply.",
    ((0.5, 0.25), (0.5, 0.75)): "That is transposed: rows are tokens of the last layer, columns are input tokens.",
}


@undisturbed
def attention_rollout(
    function: Callable[[Tensor], Any], attentions: Tensor | None = None, tokens: Sequence[str] = ()
) -> None:
    """The product of all layers, heads averaged, half of each the identity."""
    several = torch.randn(3, 2, 5, 5).softmax(-1)
    if not begun(NAME, function, several.clone()):
        return
    _by_hand(function)
    found = _called(function, several)
    if not close(found.sum(1), torch.ones(5)):
        look = "The heads are averaged, not added."
        fail(NAME, "with two heads, each row sums to 1.", f"Yours sum to about {float(found.sum(1).mean()):.3g}.", look)
    if not close(found, _followed(several)):
        look = "First the average of the heads in each layer, then the product of the layers."
        fail(NAME, "three layers with two heads are followed to the input.", "Yours comes to other numbers.", look)
    passed(NAME, "the last layer on the left", "half of each token is itself", "heads averaged")
    if attentions is not None:
        last, rolled = attentions[-1].mean(0).mean(0), _called(function, attentions).mean(0)
        for special in ("[CLS]", "[SEP]"):
            marks = torch.tensor([token == special for token in tokens])
            parts = f"{float(last[marks].sum()):.0%} of the last layer's weights, {float(rolled[marks].sum()):.0%}"
            print(f"  {special} has {parts} of the rollout.")


def _called(function: Callable[[Tensor], Any], attentions: Tensor) -> Tensor:
    size = attentions.shape[-1]
    with running(NAME, f"attentions of shape {tuple(attentions.shape)}", "Print the shape after every step."):
        found = as_array(function(attentions.clone()))
    same_shape(NAME, "the rollout", found, (size, size), "(tokens, tokens)", "No axis for layers or heads is left.")
    return torch.as_tensor(found).to(attentions.dtype)


def _followed(attentions: Tensor) -> Tensor:
    """Half of each layer's input passes the attention by; first layer first."""

    def enter(rows: Tensor, weights: Tensor) -> Tensor:
        return rows.lerp(torch.einsum("hij,jk->ik", weights, rows) / len(weights), 0.5)

    return reduce(enter, attentions, torch.eye(attentions.shape[-1], dtype=attentions.dtype))


def _by_hand(function: Callable[[Tensor], Any]) -> None:
    layers = torch.tensor([[[[0.0, 1], [0, 1]]], [[[1.0, 0], [1, 0]]]])
    found = _called(function, layers)
    if not close(found, [[0.5, 0.5], [0.25, 0.75]]):
        look = next((says for wrong, says in MISTAKES.items() if close(found, wrong)), "")
        came = f"Yours give {[[round(number, 3) for number in row] for row in found.tolist()]}."
        expected = "the example's two layers give [[0.5, 0.5], [0.25, 0.75]]."
        fail(NAME, expected, came, look or "Go through the example in the text step by step.")


@undisturbed
def by_hand(layer_norm: Callable[..., Any], gelu: Callable[[Tensor], Any]) -> None:
    """Both are compared with PyTorch's; what went wrong in the usual ways is named."""
    name = "by_hand"
    x, gamma, beta = 3 * torch.randn(2, 5, 12) + 1, torch.randn(12), torch.randn(12)
    if not begun(name, layer_norm, x.clone(), gamma, beta) or not begun(name, gelu, x.clone()):
        return
    with running(name, "vectors of shape (2, 5, 12)", "layer_norm takes x, gamma and beta; eps has a default."):
        normed, curved = layer_norm(x.clone(), gamma, beta), gelu(x.clone())
    same_shape(name, "layer_norm's result", normed, (2, 5, 12), "(batch, tokens, dim)", "It keeps the shape of x.")
    same_shape(name, "gelu's result", curved, (2, 5, 12), "(batch, tokens, dim)", "It keeps the shape of x.")
    plain = F.layer_norm(x, (12,))
    mistakes = {
        "the variance was divided by n - 1": plain * (11 / 12) ** 0.5 * gamma + beta,
        "the variance was not put under a root": (x - x.mean(-1, keepdim=True)) / x.var(-1, False)[..., None] * gamma
        + beta,
        "gamma and beta are missing": plain,
        "mean and variance run over all tokens of a sentence": F.layer_norm(x, (5, 12)) * gamma + beta,
    }
    if not close(normed, plain * gamma + beta):
        came = next((what for what, numbers in mistakes.items() if close(normed, numbers)), "")
        fail(name, "layer_norm gives what nn.LayerNorm gives.", f"In yours {came}." if came else "Yours differs.",
             "Mean and variance run over the last axis of x, token by token.")  # fmt: skip
    if not close(curved, F.gelu(x), atol=1e-5):
        approximate = close(curved, F.gelu(x, approximate="tanh"), atol=1e-5)
        came = "Yours is the approximation by tanh." if approximate else "Yours differs."
        fail(name, "gelu gives what nn.GELU gives.", came, "x / 2, times 1 + erf of x divided by the root of 2.")
    passed(name, "layer_norm as nn.LayerNorm", "gelu as nn.GELU")
