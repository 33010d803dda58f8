"""A small ``Transformer``, and one whose positions and blocks are stand-ins."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from course.check.base import finite, running, same_shape
from course.check.transformer_tutorial._calls import make
from course.check.transformer_tutorial._stand_ins import Fixed, replace_part

K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES = 6, 2, 3, 9, 11, 4


def small_model(name: str, kind: Any) -> Any:
    return make(name, kind, K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES).eval()


def bare_model(name: str, kind: Any) -> tuple[Any, list[Fixed]]:
    """A model whose positions add nothing and whose blocks add 1, 10 and 100."""
    model = small_model(name, kind)
    blocks = [Fixed(lambda x, *_, step=10.0**number, **__: x + step) for number in range(DEPTH)]
    replace_part(name, model, "pos_enc", Fixed(lambda x: x))
    replace_part(name, model, "transformer_blocks", nn.Sequential(*blocks))
    return model, blocks


def run(name: str, model: Any, ids: Tensor) -> Tensor:
    with running(name, f"ids of shape (b, t) = {tuple(ids.shape)}", "Print the shape after every step."):
        out = model(ids)
    same_shape(
        name, "the output", out, (len(ids), CLASSES), "(b, classes)", "One vector per sentence must reach the head."
    )
    finite(name, "the output", out)
    result: Tensor = out
    return result
