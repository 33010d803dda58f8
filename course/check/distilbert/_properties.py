"""What an answer lacks that is wrong in no known way, in words that teach."""

from typing import Any

import torch
from torch import nn

from course.check.base import fail
from course.check.distilbert._small import small_config
from course.check.modules import part


def encoder_list(student_class: Any) -> None:
    encoder = part("encoder_list", student_class(small_config()), "attention_layers")
    if not isinstance(encoder, nn.ModuleList | nn.Sequential | list | tuple):
        came, look = f"Yours is a {type(encoder).__name__}.", "One block for each layer, in a list that torch knows."
        fail("encoder_list", "attention_layers must be a list of blocks.", came, look)


def padding_mask(function: Any) -> None:
    scores, mask = torch.randn(3, 2, 5, 5), torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [0, 1, 1, 1, 1]])
    try:
        weights = torch.as_tensor(function(scores, mask))
    except RuntimeError as error:
        expected = "the mask is (batch, keys), the scores are (batch, heads, queries, keys)."
        fail("padding_mask", expected, f"Yours stopped with RuntimeError: {error}", "Which axes does the mask lack?")
    if bool((weights < 0).any()):
        look = "Is the softmax the last step?"
        fail("padding_mask", "a weight is never negative.", f"One of yours is {float(weights.min()):.2g}.", look)
    sums = weights.sum(-1)
    if not torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        look = "Mask before the softmax, not after it, and let the softmax run over the last axis."
        came = f"One row of yours sums to {float(sums.min()):.2g}."
        fail("padding_mask", "each query's weights still sum to 1 over the keys.", came, look)


def figure(function: Any) -> None:
    if function(torch.full((3, 2, 2), 0.5), ["[CLS]", "[SEP]"]) is None:
        look = "return figure, as the last line."
        fail("figure", "plot_attention returns a matplotlib Figure.", "Yours returns nothing.", look)
