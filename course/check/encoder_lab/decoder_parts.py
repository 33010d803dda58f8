"""Notebook 1: which side the parts of a decoder belong to."""

from __future__ import annotations

from typing import Any

from course.check.encoder_lab._questions import choices

SIDES = ("encoder", "decoder")


def decoder_parts(answers: Any) -> None:
    choices("decoder_parts", answers, [SIDES] * 5)
