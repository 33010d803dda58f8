"""Notebook 1: of which sublayers of a decoder layer each statement is true."""

from __future__ import annotations

from typing import Any

from course.check.encoder_lab._questions import choices

SUBLAYERS = ("masked", "cross", "both", "neither")


def decoder_parts(answers: Any) -> None:
    choices("decoder_parts", answers, [SUBLAYERS] * 5)
