"""Notebook 1: ``TransformerEncoder``."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import CheckFailed, close, fail, passed, running, same_shape
from course.check.encoder_lab._building import ENCODER_SIZES, IDS, made_of, with_own_parts
from course.check.encoder_lab._hand_over import EMBEDDINGS, LAYER
from course.check.encoder_lab._loading import module_of
from course.check.encoder_lab._stand_ins import (
    Fixed,
    ReachedInto,
    StandIn,
    first,
    forms,
    like,
    returns_pair,
    stand_in_class,
)
from course.check.modules import part, undisturbed


@undisturbed
def encoder(kind: Any) -> None:
    """The embeddings, then layer after layer."""
    name = "encoder"
    models = module_of(kind)
    embedded = torch.zeros(2, 3, 6)
    # layer number n doubles what comes and adds n: the order of the layers can be read off the output
    parts = [StandIn(2 * torch.eye(6), float(number)) for number in range(1, 31)]
    embeddings_class, embedding_calls = stand_in_class(EMBEDDINGS, [Fixed(embedded)])
    layer_class, layer_calls = stand_in_class(LAYER, parts)
    pair = forms(returns_pair(lambda: models.TransformerEncoderLayer(6, 3, 10), embedded))[0]
    for stand_in in parts:
        stand_in.pair = pair
    module = made_of(name, kind, ENCODER_SIZES, Embeddings=embeddings_class, TransformerEncoderLayer=layer_class)
    part(name, module, "embeddings")
    layers = part(name, module, "layers")
    if not hasattr(layers, "__len__") or len(layers) != 4:
        count = len(layers) if hasattr(layers, "__len__") else "a single layer, no list"
        fail(name, "num_hidden_layers=4 makes a list of 4 layers.", f"Yours holds {count}.")
    known = {id(inner) for inner in module.modules()}
    if not all(id(layer) in known for layer in layers):
        fail(
            name,
            "the model must know of its layers, or their parameters are never trained.",
            "Yours stand in a plain Python list.",
            "nn.ModuleList is a list that registers what it holds.",
        )
    if len({id(layer) for layer in layers}) != 4:
        fail(name, "each layer has parameters of its own.", "Yours are one and the same object.")
    for which, calls, names, want in (
        ("Embeddings", embedding_calls, EMBEDDINGS, [11, 8, 6]),
        ("TransformerEncoderLayer", layer_calls, LAYER, [6, 3, 10]),
    ):
        came = [[call.get(key) for key in names] for call in calls]
        if came and came[0] != want:
            fail(
                name,
                f"TransformerEncoder{ENCODER_SIZES} makes its {which} with {want} = {', '.join(names)}.",
                f"Yours passes {came[0]}.",
            )
    _put_in(module, Fixed(embedded), parts)
    try:
        with running(name, "the encoder on ids of shape (2, 3)", "What one layer gives, the next one takes."):
            output = first(module(IDS))
    except CheckFailed as failed:
        if not isinstance(failed.__cause__, ReachedInto):
            raise
        return with_own_parts(name, kind, ENCODER_SIZES, IDS, (2, 3, 6))
    same_shape(name, "the output", output, (2, 3, 6), "(batch, tokens, d_model)")
    # 0 -> 1 -> 4 -> 11 -> 26
    if not close(output, torch.full((2, 3, 6), 26.0)):
        known_wrong = {
            4.0: "only the last layer's work is left: every layer was fed the embeddings",
            11.0: "the last layer is missing",
            49.0: "the layers run in reverse order",
            0.0: "the embeddings came through unchanged",
            1.0: "only the first layer ran",
            18.0: "the first layer is missing",
        }
        value = float(output[0, 0, 0])
        fail(
            name,
            "each layer works on what the one before it gave.",
            f"Yours do not: {known_wrong.get(value, 'the layers do not run once each, in order')}.",
        )
    passed(name, "4 layers, each its own", "in order", "shape")


def _put_in(module: Any, embeddings: Fixed, layers: list[StandIn]) -> None:
    """The stand-ins in their places, where copies of them or the student's own parts stand."""
    if not isinstance(module.embeddings, Fixed):
        module.embeddings = embeddings
    if all(isinstance(layer, StandIn) for layer in module.layers):
        for number, layer in enumerate(module.layers, start=1):
            layer.shift = float(number)
    else:
        module.layers = like(module.layers, layers[: len(module.layers)])
