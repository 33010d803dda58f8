"""Notebook 3, part 4: what the whole model says with trained weights."""

from typing import Any

import torch
from torch import Tensor

from course import pretrained
from course.check.base import fail, in_float32, passed, running, same_shape
from course.check.called import as_it_stands_or_ready
from course.check.distilbert.calls import ready_classifier, trained
from course.check.modules import undisturbed

#: Sentence -> its logits (negative, positive) by transformers' own model with the weights of mini.
SENTENCES = {
    "A wonderful film.": (-3.35032, 3.97489),
    "A terrible film.": (2.97811, -3.14068),
    "I went without hope and came home happy: what a brave, funny and moving story this is!": (-3.18854, 3.80474),
}
#: The same three in one batch. The model takes no mask, so the padding of the shorter ones changes theirs.
BATCH = ((-3.32045, 3.94829), (2.62377, -2.72374), (-3.18854, 3.80474))
PARTS = ("encoder_list", "encoder_loop", "classifier")
LAYER_BY_LAYER = "Do the three parts above pass? Then compare it, block by block, with parts.ReadyClassifier."


@undisturbed
def pretrained_logits(student_class: Any) -> None:
    """With trained weights the model gives the logits of transformers' own, sentence by sentence and in a batch.

    Where a part does not pass its own check, ready-made ones stand in, as in grading.
    """
    parts = dict.fromkeys(PARTS, student_class)
    as_it_stands_or_ready(
        _as_it_should, student_class, __package__, parts, lambda: _as_it_should(ready_classifier(student_class))
    )


def _as_it_should(student_class: Any) -> None:
    name = "pretrained_logits"
    from course.tokenizer import encode

    config = pretrained.config_of("mini")
    with running(name, "loading the trained weights", "Names count: do the encoder list and the layers have theirs?"):
        model = trained(student_class, "mini")
    for sentence, wanted in SENTENCES.items():
        ids = encode(sentence, config)["input_ids"]
        logits = _logits(name, model, ids, f"a sentence of {ids.shape[1]} tokens")
        if logits.argmax() != torch.tensor(wanted).argmax():
            fail(
                name,
                f"“{sentence}” is {'positive' if wanted[1] > wanted[0] else 'negative'}.",
                "Your model says the opposite.",
                "Do the three parts above pass their checks?",
            )
        _same(name, logits, (wanted,), f"“{sentence}”")
    ids = encode(list(SENTENCES), config)["input_ids"]
    _same(name, _logits(name, model, ids, "a batch of three sentences"), BATCH, "all three sentences in one batch")
    passed(name, "praise and blame are told apart", "the logits are those of transformers, one by one and in a batch")


def _logits(name: str, model: Any, ids: Tensor, what: str) -> Tensor:
    with running(name, what, LAYER_BY_LAYER):
        logits = model(ids)
    same_shape(name, "the logits", logits, (len(ids), 2), "(batch, n_classes)")
    in_float32(name, "the logits", logits)
    answer: Tensor = logits
    return answer


def _same(name: str, logits: Tensor, wanted: tuple[tuple[float, float], ...], what: str) -> None:
    if not torch.isfinite(logits).all() or float((logits - torch.tensor(wanted)).abs().max()) > 2e-4:
        fail(
            name,
            "your model must give the logits that transformers' own model gives with the same weights.",
            f"For {what} it gives others.",
            LAYER_BY_LAYER,
        )
