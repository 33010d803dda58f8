"""Whole classes: what a later notebook asks before it takes over an earlier one's, and the classifier made of them."""

from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from course.check._rules.visible import check_of
from course.check.base import CheckFailed, close, fail, finite, in_float32, passed, running, same_shape
from course.check.called import as_it_stands_or_ready
from course.check.modules import make, part, undisturbed
from course.check.transformer_tutorial._whole import ready_classifier

#: The sizes of a small classifier.
K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES = 6, 2, 3, 9, 11, 4


def _passes(student_class: Any, *checks: str) -> None:
    """Those checks of the package, by name: some are written by hand, others are made of packs."""
    package = import_module(__package__)
    for check in checks:
        getattr(package, check)(student_class)


def dot_product_attention(student_class: Any) -> None:
    """Right as it stands, dropout included; where it is not, its parts say why."""
    try:
        check_of(__package__, "attention_mask", as_it_stands=True)(student_class)
        _passes(student_class, "attention_dropout")
    except CheckFailed:
        _passes(student_class, *(f"attention_{part}" for part in ("scores", "output", "dropout", "heads", "mask")))
        raise


def self_attention(student_class: Any) -> None:
    """Both checks, and one on the whole, with the attention that the class uses itself."""
    _passes(student_class, "self_attention_maps", "self_attention_forward")
    _attention_inside(student_class)


@undisturbed
def _attention_inside(student_class: Any) -> None:
    """Order of tokens does not matter, sentences stay apart, padding has no say."""
    name = "self_attention"
    layer = make(name, student_class, 6, heads=2)
    dot_product_attention(type(part(name, layer, "attention")))
    x = torch.randn(3, 5, 6)
    mask = torch.arange(5) < torch.tensor([5, 3, 4])[:, None]
    with running(name, "a batch with a mask", "forward hands the mask on to the attention."):
        out: Tensor = layer(x, mask)
    short: Tensor = layer(x[1:2, :3], mask[1:2, :3])
    if not close(out[1, :3], short[0]):
        fail(
            name, "a sentence with padding must give what it gives without.", "Yours differs.", "Is the mask handed on?"
        )
    shuffled: Tensor = layer(x[:, [3, 1, 4, 0, 2]])
    if not close(shuffled, layer(x)[:, [3, 1, 4, 0, 2]]):
        fail(
            name,
            "in another order, the same tokens must collect the same.",
            "Yours collect something else.",
            "Self-attention knows nothing of positions.",
        )
    passed(name, "the attention inside is right", "order does not matter", "padding has no say")


def transformer_block(student_class: Any) -> None:
    """Both checks, and that a mask reaches the attention."""
    _passes(student_class, "block_attention", "block_feed_forward")
    _mask_arrives(student_class)


class _Attention(nn.Module):
    """In place of the block's attention: takes down what it was given besides x."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Any] = []

    def forward(self, x: Tensor, *others: Any, **named: Any) -> Tensor:
        self.given = [*others, *named.values()]
        return 2 * x + 1


@undisturbed
def _mask_arrives(student_class: Any) -> None:
    name, (b, t, k) = "transformer_block", (2, 4, 5)
    block = make(name, student_class, k, 2)
    for layer in ("attention", "mlp", "norm_1", "norm_2"):
        part(name, block, layer)
    block.attention, mask = _Attention(), torch.ones(b, t, dtype=torch.bool)
    with running(name, "a batch with a mask", "forward takes x and the mask."):
        block(torch.randn(b, t, k), mask)
    if not any(given is mask for given in block.attention.given):
        fail(name, "the block must hand the mask on to the attention.", "Yours loses it.", "The given line does it.")
    real = make(name, student_class, k + 1, 2)
    if not bool(torch.isfinite(real(torch.randn(b, t, k + 1))).all()):
        fail(name, "the block must give finite numbers.", "Yours gives nan or inf.")
    passed(name, "the mask reaches the attention")


def positional_encoding(student_class: Any) -> None:
    """Both checks."""
    _passes(student_class, "positional_values", "positional_forward")


@undisturbed
def classifier_whole(student_class: Any) -> None:
    """Made of its own parts, the classifier treats every sentence by itself, and padding has no say.

    Where a part does not pass its own check, ready-made ones stand in, as in grading.
    """
    parts = dict.fromkeys(("classifier_parts", "classifier_forward", "classifier_padding"), student_class)
    as_it_stands_or_ready(
        _as_it_should, student_class, __package__, parts, lambda: _as_it_should(ready_classifier(student_class))
    )


def _as_it_should(student_class: Any) -> None:
    name = "classifier_whole"
    model = make(name, student_class, K, HEADS, DEPTH, LENGTH, TOKENS, CLASSES)
    ids = torch.randint(1, TOKENS, (3, 5))
    out = _run(name, model, ids)
    if float((out.exp().sum(dim=1) - 1).abs().max()) > 1e-5:
        fail(
            name,
            "of every sentence the probabilities, exp of the result, sum to 1.",
            "Yours do not.",
            "What does forward do with the result of classify?",
        )
    if not close(_run(name, model, ids), out):
        fail(
            name,
            "the same ids must give the same log-probabilities twice.",
            "Yours differ.",
            "Is something kept from one call to the next, or drawn anew?",
        )
    alone = torch.cat([_run(name, model, row) for row in ids.split(1)])
    if not close(alone, out, 1e-4):
        fail(
            name,
            "a sentence has the same log-probabilities alone and in a batch.",
            "Yours differ.",
            "Which part mixes the sentences of a batch?",
        )
    padded = torch.cat([ids, torch.zeros(3, 2, dtype=ids.dtype)], dim=1)
    if not close(_run(name, model, padded), out, 1e-4):
        fail(
            name,
            "padding after a sentence must change nothing.",
            "It changes the log-probabilities of yours.",
            "Every block needs the mask, and so does the average.",
        )
    if close(_run(name, model, ids.roll(1, dims=1)), out, 1e-6):
        fail(
            name,
            "the order of the words must matter.",
            "Sentences of the same words in another order have the same log-probabilities.",
            "Do the positions reach the blocks?",
        )
    passed(name, "sum to 1", "alone and in a batch alike", "padding has no say", "the order of words matters")


def _run(name: str, model: Any, ids: Tensor) -> Tensor:
    with running(name, f"ids of shape (b, t) = {tuple(ids.shape)}", "Print the shape after every step."):
        out: Tensor = model(ids)
    look = "One vector per sentence must reach the head."
    same_shape(name, "the output", out, (len(ids), CLASSES), "(b, classes)", look)
    finite(name, "the output", out)
    in_float32(name, "the output", out)
    return out
