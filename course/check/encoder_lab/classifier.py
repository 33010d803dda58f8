"""Notebook 1: ``TransformerForSequenceClassification``."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import CheckFailed, close, fail, passed, running, same_shape
from course.check.encoder_lab._building import ENCODER_SIZES, IDS, made_of, with_own_parts
from course.check.encoder_lab._hand_over import CLASSIFICATION, ENCODER
from course.check.encoder_lab._loading import module_of
from course.check.encoder_lab._stand_ins import (
    FirstToken,
    Fixed,
    ReachedInto,
    StandIn,
    first,
    forms,
    returns_pair,
    selects_first_token,
    stand_in_class,
)
from course.check.modules import part, undisturbed
from course.check.side_effects import check_side_effects


@undisturbed
def classifier(kind: Any) -> None:
    """The encoder, the first token, the head."""
    name = "classifier"
    models = module_of(kind)
    encoded = torch.tensor([-4.0, -1.0, -3.0]).view(1, 3, 1).expand(2, 3, 6) + torch.tensor([0.0, 100.0]).view(2, 1, 1)
    own = models.__dict__.get("ClassificationHead")
    head = (FirstToken if own is not None and _selects(own) else StandIn)(torch.ones(6, 5), 0.0)
    whole = Fixed(encoded, forms(returns_pair(lambda: models.TransformerEncoder(*ENCODER_SIZES), IDS))[0])
    encoder_class, encoder_calls = stand_in_class(ENCODER, [whole])
    head_class, head_calls = stand_in_class(CLASSIFICATION, [head])
    sizes = (*ENCODER_SIZES, 5, 0.25)
    model = made_of(name, kind, sizes, TransformerEncoder=encoder_class, ClassificationHead=head_class)
    part(name, model, "transformer_encoder")
    part(name, model, "classifier")
    for which, calls, names, want in (
        ("TransformerEncoder", encoder_calls, ENCODER, list(ENCODER_SIZES)),
        ("ClassificationHead", head_calls, CLASSIFICATION, [6, 5, 0.25]),
    ):
        came = [[call.get(key) for key in names] for call in calls]
        if came and came[0] != want:
            fail(name, f"the model makes its {which} with {want} = {', '.join(names)}.", f"Yours passes {came[0]}.")
    model.transformer_encoder, model.classifier = whole, head
    try:
        with running(name, "the model on ids of shape (2, 3)"):
            logits = first(model(IDS.clone()))
    except CheckFailed as failed:
        if not isinstance(failed.__cause__, ReachedInto):
            raise
        return with_own_parts(name, kind, sizes, IDS, (2, 5), "(batch, classes)")
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
    check_side_effects(name, lambda ids: first(model(ids)), IDS, weights=[whole.output])
    passed(name, "the parts get their sizes", "[CLS] goes to the head", "one row of logits a sentence")


def _selects(own: Any) -> bool:
    try:
        return selects_first_token(own(6, 5, 0.1), 6)
    except Exception:
        return False
