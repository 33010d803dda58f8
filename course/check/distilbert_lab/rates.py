"""Notebook 1: which run has which learning rate."""

from __future__ import annotations

from typing import Any

from course.check.distilbert_lab._questions import choices

RATES = ("too small", "good", "too large", "no zero_grad")


def rates(answers: Any) -> None:
    choices("rates", answers, [RATES] * 4)
