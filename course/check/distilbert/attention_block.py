"""Notebook 2: the whole attention block."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def attention_block(kind: Any) -> None:
    """All four checks of the block."""
    checks = import_module("course.check.distilbert")
    for part in ("init", "scores", "weights", "context"):
        getattr(checks, f"attention_{part}")(kind)
