"""Notebook 2: the whole attention block."""

from __future__ import annotations

from typing import Any

from course.check.distilbert.attention_context import attention_context
from course.check.distilbert.attention_init import attention_init
from course.check.distilbert.attention_scores import attention_scores
from course.check.distilbert.attention_weights import attention_weights


def attention_block(kind: Any) -> None:
    """All four checks of the block."""
    for check in (attention_init, attention_scores, attention_weights, attention_context):
        check(kind)
