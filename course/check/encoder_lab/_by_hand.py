"""What holds for every attention; and checks by hand: the whole model, and the heads for [SEP]."""

from collections.abc import Callable
from functools import partial
from math import isfinite, log, sqrt
from typing import Any

import torch
from torch import Tensor

from course.check.base import axis_that_sums_to_one, close, fail, finite, passed, running, same_shape
from course.check.called import as_it_stands_or_ready
from course.check.choice_questions import recorded
from course.check.encoder_lab._models_file import FILE, module_of, unread
from course.check.encoder_lab._stand_ins import first
from course.check.modules import make, undisturbed

LOOK_AXES = "Which axis of key must meet the last axis of query? Write both shapes down."
AXES = ("batch", "queries", "keys")
#: Length of the vectors in the test of scale: its root, itself and its square are told apart.
LONG = 16
#: Sizes of a small model, no two of them equal.
SIZES = (11, 8, 6, 3, 10, 4)
IDS = torch.tensor([[3, 7, 1, 9, 2], [2, 5, 4, 9, 6], [2, 5, 4, 6, 9]])

#: (query, key, value) -> output
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def attention_properties(name: str, attend: Attend, size: int = 4) -> None:
    """What holds for every scaled dot-product attention, one rung after the other. ``size``: of queries and keys."""
    query, key, value = torch.randn(2, 3, size), torch.randn(2, 5, size), torch.randn(2, 5, 6)
    output = attend(query, key, value)
    same_shape(name, "the output", output, (2, 3, 6), "(batch, queries, size of a value)", LOOK_AXES)
    # values that are unit vectors: the output is then the weights themselves
    weights = attend(query, key, torch.eye(5).expand(2, 5, 5))
    rows_sum_to_one(name, weights)
    same = attend(query, torch.ones(2, 5, size), value)
    if not close(same, value.mean(1, keepdim=True).expand(2, 3, 6)):
        fail(
            name,
            "keys that are all alike must get equal weights: the output is the values' mean.",
            "Yours is not.",
            "Which axis are the weights normalised over, and which one is summed over?",
        )
    _scale(name, attend)
    finite(
        name,
        "the output for very long queries",
        attend(1000 * query, key, value),
        "torch's own softmax takes away the largest score first; exp alone overflows.",
    )
    turned = attend(query, key.flip(1), value.flip(1))
    if not close(turned, output):
        fail(
            name,
            "keys and values in another order, both alike, must change nothing.",
            "Your output changes.",
            "Weight j belongs to key j, and it multiplies value j.",
        )


def _scale(name: str, attend: Attend) -> None:
    """Two keys, of which one must get three times the other's weight."""
    keys = torch.stack([torch.zeros(LONG), torch.full((LONG,), log(3) / sqrt(LONG))])[None]
    mixed = attend(torch.ones(1, 1, LONG), keys, torch.tensor([[[0.0], [1.0]]]))
    same_shape(name, "the output", mixed, (1, 1, 1), "(batch, queries, size of a value)", LOOK_AXES)
    weight = float(mixed[0, 0, 0])
    if abs(weight - 0.75) < 1e-3:
        return
    factor = log(weight / (1 - weight)) / log(3) if 0 < weight < 1 else float("inf")
    fail(
        name,
        "with scaled scores of 0 and log 3 the second key must get a weight of 0.75.",
        f"In yours it gets {weight:.4g}: {in_words(factor)}",
        "What are the scores divided by, and how often?",
    )


def in_words(factor: float) -> str:
    if abs(factor) < 1e-3 or not isfinite(factor):
        return "the scores play no part." if abs(factor) < 1e-3 else "the scores are far too large."
    known = {
        sqrt(LONG): "the scores were not divided.",
        1 / sqrt(LONG): "the scores were divided too much: by the length itself, or twice.",
        float(LONG): "the scores were multiplied where they should be divided.",
        LONG**-1.5: "the scores were divided far too much.",
    }
    for value, words in known.items():
        if abs(factor / value - 1) < 1e-2:
            return words
    return f"the scores are {factor:.3g} times what they should be."


def rows_sum_to_one(name: str, weights: Tensor, look: str = "") -> None:
    if close(weights.sum(-1), torch.ones(weights.shape[:-1])):
        if float(weights.min()) < 0:
            fail(
                name,
                "no weight is negative.",
                f"Your smallest is {float(weights.min()):.3g}.",
                "A softmax never gives such a number.",
            )
        return
    axis = axis_that_sums_to_one(weights, AXES)
    came = (
        f"Yours sum to 1 over {axis}." if axis else f"The first row of yours sums to {float(weights[0, 0].sum()):.3g}."
    )
    fail(
        name,
        "each query's weights must sum to 1 over the keys (last axis).",
        came,
        look
        or (
            "Is the softmax told which axis to use?" if axis else "Scores become weights by a softmax: was it applied?"
        ),
    )


#: Exercise -> the class that it asks for.
PARTS = {
    "head_attention": "AttentionHead",
    "attention_head": "AttentionHead",
    "multi_head_init": "MultiHeadAttention",
    "multi_head_attention": "MultiHeadAttention",
    "feed_forward": "FeedForward",
    "embeddings": "Embeddings",
    "encoder_layer": "TransformerEncoderLayer",
    "encoder": "TransformerEncoder",
    "classification_head": "ClassificationHead",
    "classifier": "TransformerForSequenceClassification",
}


@undisturbed
def whole_model(student_class: Any) -> None:
    """Made of its own parts, the model treats every sentence by itself, and knows the order of its words.

    Where a class does not pass its own checks, nothing more is asked, as in grading.
    """
    models = module_of(student_class)
    for why in unread(models).values():
        fail(FILE, "Python must be able to import the file.", f"{why}.", "Code that only tries something out can go.")
    parts = {part: getattr(models, name, None) for part, name in PARTS.items()}
    ready = partial(passed, "whole_model", "there is nothing in it but your classes")
    as_it_stands_or_ready(_as_it_should, student_class, __package__, parts, ready)


def _as_it_should(student_class: Any) -> None:
    name = "whole_model"
    model = make(name, student_class, *SIZES, 4, 0.5)
    for tokens in (5, 2, 1):
        ids = IDS[:, :tokens]
        with running(name, f"the model, made of your own classes, on ids of shape {tuple(ids.shape)}"):
            logits, again = first(model(ids)), first(model(ids))
            alone = torch.cat([first(model(row)) for row in ids.split(1)])
        same_shape(name, "the logits", logits, (3, 4), "(batch, classes)")
        if not close(again, logits):
            came, look = "Yours differs from call to call.", "nn.Dropout knows of eval mode; F.dropout has to be told."
            fail(name, "in eval mode the same input gives the same output.", came, look)
        if not close(alone, logits, 1e-4):
            fail(
                name,
                "a sentence has the same logits alone and in a batch.",
                "Yours differ.",
                "Which class mixes the sentences of a batch? Or is something kept from one call to the next?",
            )
    logits = first(model(IDS))
    if float((logits[1] - logits[2]).abs().max()) < 1e-6:
        fail(
            name,
            "the order of the words must matter.",
            "Two sentences of the same words in another order have the same logits.",
            "Do the positions reach the layers?",
        )
    passed(name, "sentences of several lengths", "alone and in a batch alike", "the order of words matters")


def separator_heads(heads: Any) -> None:
    """One head per layer. Grading says which ones are right."""
    name = "separator_heads"
    with running(name, "a list of six numbers"):
        numbers = [int(head) for head in heads]
    if len(numbers) != 6 or not all(0 <= head < 12 for head in numbers):
        fail(name, "six numbers are expected, one head (0 to 11) for each layer.", f"Yours are {numbers}.")
    recorded(name, "six heads, one per layer")
