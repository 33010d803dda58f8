"""Whole classes: what a later notebook asks before it takes over an earlier one's."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def _every(*checks: str) -> Callable[[Any], None]:
    """All of these checks of the package."""

    def check(student_class: Any) -> None:
        package = import_module(__name__.rpartition(".")[0])
        for name in checks:
            getattr(package, name)(student_class)

    return check


embedding_layer = _every("position_ids", "embeddings")
encoder_block = _every(
    "attention_init", "attention_scores", "attention_weights", "attention_context", "attention_block"
)
classifier_model = _every("encoder_list", "encoder_loop", "classifier")
