"""Notebook 1, ``TransformerEncoder``, ``ClassificationHead`` and ``TransformerForSequenceClassification``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import close, fail, passed, running, same_shape
from course.check.distilbert.small import part, undisturbed
from course.check.encoder_lab.building import make
from course.check.encoder_lab.hand_over import CLASSIFICATION, EMBEDDINGS, ENCODER, LAYER
from course.check.encoder_lab.loading import module_of
from course.check.encoder_lab.stand_ins import (
    FirstToken,
    Fixed,
    StandIn,
    first,
    forms,
    replaced,
    returns_pair,
    selects_first_token,
    stand_in_class,
)

SIZES = (11, 8, 6, 3, 10, 4)
IDS = torch.tensor([[3, 7, 1], [2, 5, 4]])


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
    with replaced(models, Embeddings=embeddings_class, TransformerEncoderLayer=layer_class):
        module = make(name, kind, *SIZES)
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
                f"TransformerEncoder{SIZES} makes its {which} with {want} = {', '.join(names)}.",
                f"Yours passes {came[0]}.",
            )
    with running(name, "the encoder on ids of shape (2, 3)", "What one layer gives, the next one takes."):
        output = first(module(IDS))
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


@undisturbed
def classification_head(kind: Any) -> None:
    """Dropout, then a linear layer."""
    name = "classification_head"
    head = make(name, kind, 6, 4, 0.5)
    linear = part(name, head, "linear")
    if tuple(getattr(linear, "weight", torch.zeros(0)).shape) != (4, 6):
        fail(name, "linear makes num_classes = 4 numbers out of d_model = 6.", f"Yours is {linear}.")
    dropout = part(name, head, "dropout")
    if getattr(dropout, "p", None) != 0.5:
        fail(name, "dropout drops the share dropout_prob = 0.5.", f"Yours is {dropout}.")
    wants_sentences = selects_first_token(head, 6)
    x = torch.randn(5, 3, 6) if wants_sentences else torch.randn(5, 6)
    with running(name, f"the head on {tuple(x.shape)}"):
        logits = first(head(x))
    same_shape(name, "the logits", logits, (5, 4), "(batch, classes)")
    if close(logits.exp().sum(-1), torch.ones(5)) or close(logits.sum(-1), torch.ones(5)):
        fail(
            name,
            "the head returns logits: any numbers.",
            "Yours have been through a softmax.",
            "Whoever wants probabilities takes it later.",
        )
    _nothing_else(name, head, x, x[:, 0] if wants_sentences else x)
    linear.weight.zero_()
    linear.bias.fill_(3.0)
    if not close(first(head(x)), torch.full((5, 4), 3.0)):
        fail(name, "the linear layer comes last, and nothing behind it.", "In yours something follows.")
    head.train()
    if not close(first(head(x)), torch.full((5, 4), 3.0)):
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
    head.eval()


@undisturbed
def classifier(kind: Any) -> None:
    """The encoder, the first token, the head."""
    name = "classifier"
    models = module_of(kind)
    encoded = torch.tensor([-4.0, -1.0, -3.0]).view(1, 3, 1).expand(2, 3, 6) + torch.tensor([0.0, 100.0]).view(2, 1, 1)
    own = models.__dict__.get("ClassificationHead")
    head = (FirstToken if own is not None and _selects(own) else StandIn)(torch.ones(6, 5), 0.0)
    whole = Fixed(encoded, forms(returns_pair(lambda: models.TransformerEncoder(*SIZES), IDS))[0])
    encoder_class, encoder_calls = stand_in_class(ENCODER, [whole])
    head_class, head_calls = stand_in_class(CLASSIFICATION, [head])
    with replaced(models, TransformerEncoder=encoder_class, ClassificationHead=head_class):
        model = make(name, kind, *SIZES, 5, 0.25)
    part(name, model, "transformer_encoder")
    part(name, model, "classifier")
    for which, calls, names, want in (
        ("TransformerEncoder", encoder_calls, ENCODER, list(SIZES)),
        ("ClassificationHead", head_calls, CLASSIFICATION, [6, 5, 0.25]),
    ):
        came = [[call.get(key) for key in names] for call in calls]
        if came and came[0] != want:
            fail(name, f"the model makes its {which} with {want} = {', '.join(names)}.", f"Yours passes {came[0]}.")
    with running(name, "the model on ids of shape (2, 3)"):
        logits = first(model(IDS))
    same_shape(
        name, "the logits", logits, (2, 5), "(batch, classes)", "One vector stands for the whole sentence: which one?"
    )
    if not close(logits, torch.tensor([[-24.0], [576.0]]).expand(2, 5)):
        value = float(logits[0, 0])
        words = {
            -16.0: "the average of all tokens",
            -18.0: "the last token",
            -48.0: "the sum of all tokens",
            -6.0: "the second token, or the largest numbers",
            0.0: "something that an activation has changed",
        }
        fail(
            name,
            "the first token, [CLS], goes to the classification head.",
            f"In yours it is {words.get(value, 'something else')}.",
        )
    passed(name, "the parts get their sizes", "[CLS] goes to the head", "one row of logits a sentence")


def _selects(own: Any) -> bool:
    try:
        return selects_first_token(own(6, 5, 0.1), 6)
    except Exception:
        return False
