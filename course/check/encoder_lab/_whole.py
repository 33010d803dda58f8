"""The whole model of ``models.py``, and the same with a stand-in for one of its parts."""

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import Any

import torch
from torch import nn

from course.check.encoder_lab._attempts import Answers, values
from course.check.encoder_lab._models_file import require_whole
from course.check.encoder_lab._stand_ins import (
    FirstToken,
    Fixed,
    OpenHead,
    StandIn,
    first,
    returns_pair,
    selects_first_token,
    stand_in_class,
)
from course.check.encoder_lab.calls import ATTENTION, CLASSIFICATION, ENCODER, LAYER, MODEL
from course.check.limits import TookTooLong, attempt_limit
from course.check.with_ready_parts import meaning

#: What may have a stand-in, and its class.
PARTS = {
    "attention": "MultiHeadAttention",
    "feed_forward": "FeedForward",
    "embeddings": "Embeddings",
    "layer": "TransformerEncoderLayer",
    "encoder": "TransformerEncoder",
}


def whole_model(models: ModuleType, case: Any) -> Answers:
    """``own/logits`` of the whole model, and ``<part>/logits`` with a stand-in for that part, where these run.

    ``<part>_head/logits`` have a stand-in for the classification head as well. ``problem``: what the model made of the
    student's own parts stopped with. Raises NotRead where Python could not import the file.
    """
    require_whole(models)
    found: Answers = {}
    for part in ("own", *PARTS) if case.config.stand_ins else ("own",):
        for head in ("", "_head") if case.config.stand_ins else ("",):
            try:
                with torch.no_grad(), attempt_limit():
                    found[f"{part}{head}/logits"] = _run(models, case, part, bool(head))
            except Exception as error:
                if part + head == "own":
                    found["problem"] = f"{type(error).__name__}: {error}"[:300]
                    if isinstance(error, TookTooLong):
                        return found  # what never ends has no name, and with a stand-in it would not count
    return found


def _run(models: ModuleType, case: Any, part: str, head: bool) -> torch.Tensor:
    sizes = case.config
    left_out = [kind for kind in (PARTS.get(part), head and "ClassificationHead") if kind]
    blank, _ = stand_in_class((), [nn.Identity()])  # a class that has a stand-in need not even begin to work
    with meaning(vars(models), dict.fromkeys(left_out, blank)):
        model = models.TransformerForSequenceClassification(*values(sizes, MODEL))
    without = _without(part, sizes.num_hidden_layers)
    if head:
        without = (*without, "classifier.")
        selects = _selects(models, sizes)
        model.classifier = (FirstToken if selects else OpenHead)(case.head_matrix, case.head_shift)
    _put_in(models, model, case, part)
    logits = first(case.load(model, without)(case.input_ids))
    if not isinstance(logits, torch.Tensor):
        raise TypeError(f"the model must give a tensor, but gave {type(logits).__name__}")
    return logits


def _without(part: str, layers: int) -> tuple[str, ...]:
    """How the names of weights begin that have no place where this part has a stand-in."""
    if part in ("attention", "feed_forward"):
        return tuple(f"transformer_encoder.layers.{i}.{part}." for i in range(layers))
    below = {"embeddings": ("embeddings.",), "layer": ("layers.",), "encoder": ("",)}
    return tuple(f"transformer_encoder.{name}" for name in below.get(part, ()))


def _put_in(models: ModuleType, model: Any, case: Any, part: str) -> None:
    """Put the stand-in for ``part`` into the model; it answers with a pair where the student's own part does."""
    sizes, encoded = case.config, case.encoded
    if part == "encoder":
        pair = returns_pair(lambda: models.TransformerEncoder(*values(sizes, ENCODER)), case.input_ids)
        model.transformer_encoder = Fixed(encoded, pair)
    elif part == "embeddings":
        model.transformer_encoder.embeddings = Fixed(encoded)
    elif part == "layer":
        pair = returns_pair(lambda: models.TransformerEncoderLayer(*values(sizes, LAYER)), encoded)
        model.transformer_encoder.layers = nn.ModuleList(_stand_ins(case, pair))
    elif part == "attention":
        pair = returns_pair(lambda: models.MultiHeadAttention(*values(sizes, ATTENTION)), encoded)
        for layer, stand_in in zip(model.transformer_encoder.layers, _stand_ins(case, pair), strict=True):
            layer.attention = stand_in
    elif part == "feed_forward":
        for layer, stand_in in zip(model.transformer_encoder.layers, _stand_ins(case, False), strict=True):
            layer.feed_forward = stand_in


def _stand_ins(case: Any, pair: bool) -> list[StandIn]:
    return [StandIn(matrix, shift, pair) for matrix, shift in zip(case.matrices, case.shifts, strict=True)]


def _selects(models: ModuleType, sizes: Any) -> bool:
    with contextlib.suppress(Exception):
        return selects_first_token(models.ClassificationHead(*values(sizes, CLASSIFICATION)), sizes.d_model)
    return False
