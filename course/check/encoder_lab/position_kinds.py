"""Notebook 1: three kinds of positions."""

from __future__ import annotations

from typing import Any

from course.check.encoder_lab._questions import choices

KINDS = ("learned", "sinusoidal", "relative")


def position_kinds(answers: Any) -> None:
    choices("position_kinds", answers, [KINDS] * 4)
