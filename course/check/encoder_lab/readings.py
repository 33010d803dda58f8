"""Notebook 2: the patterns of some heads."""

from __future__ import annotations

from typing import Any

from course.check.encoder_lab._questions import choices

PATTERNS = ("previous", "next", "same word", "separator")


def readings(answers: Any) -> None:
    choices("readings", answers, [PATTERNS] * 4 + [("kept", "lost")] * 2)
