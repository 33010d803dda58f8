"""The stretch goal of notebook 2: a layer norm and a GELU without PyTorch's own. Ungraded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.modules import undisturbed
from course.check.stretch import begun

NAME = "by_hand"


@undisturbed
def by_hand(layer_norm: Callable[..., Any], gelu: Callable[[Tensor], Any]) -> None:
    """Both are compared with PyTorch's; what went wrong in the usual ways is named."""
    x, gamma, beta = 3 * torch.randn(2, 5, 12) + 1, torch.randn(12), torch.randn(12)
    if not begun(NAME, layer_norm, x.clone(), gamma, beta) or not begun(NAME, gelu, x.clone()):
        return
    with running(NAME, "vectors of shape (2, 5, 12)", "layer_norm takes x, gamma and beta; eps has a default."):
        normed, curved = layer_norm(x.clone(), gamma, beta), gelu(x.clone())
    same_shape(NAME, "layer_norm's result", normed, (2, 5, 12), "(batch, tokens, dim)", "It keeps the shape of x.")
    same_shape(NAME, "gelu's result", curved, (2, 5, 12), "(batch, tokens, dim)", "It keeps the shape of x.")
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
        fail(NAME, "layer_norm gives what nn.LayerNorm gives.", f"In yours {came}." if came else "Yours differs.",
             "Mean and variance run over the last axis of x, token by token.")  # fmt: skip
    if not close(curved, F.gelu(x), atol=1e-5):
        approximate = close(curved, F.gelu(x, approximate="tanh"), atol=1e-5)
        came = "Yours is the approximation by tanh." if approximate else "Yours differs."
        fail(NAME, "gelu gives what nn.GELU gives.", came, "x / 2, times 1 + erf of x divided by the root of 2.")
    passed(NAME, "layer_norm as nn.LayerNorm", "gelu as nn.GELU")
