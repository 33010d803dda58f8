"""Notebook 3: where attribution and knocking out disagree."""

from __future__ import annotations

from typing import Any

from course.check.distilbert_lab._questions import choices

HEADS, CONCLUSIONS = ("agree", "indirect", "redundant", "idle"), ("shown", "not shown")


def disagree(answers: Any) -> None:
    choices("disagree", answers, [HEADS] * 4 + [CONCLUSIONS] * 2)
