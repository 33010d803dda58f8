"""Notebook 3: the whole model."""

from __future__ import annotations

from typing import Any

from course.check.distilbert.classifier import classifier
from course.check.distilbert.encoder_list import encoder_list
from course.check.distilbert.encoder_loop import encoder_loop


def classifier_model(kind: Any) -> None:
    """All three checks of the model."""
    for check in (encoder_list, encoder_loop, classifier):
        check(kind)
