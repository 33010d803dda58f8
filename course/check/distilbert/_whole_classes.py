"""Whole classes: what a later notebook asks before it takes over an earlier one's."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from course.check._rules.visible import check_of
from course.check.base import CheckFailed


def _every(*checks: str) -> Callable[[Any], None]:
    """All of these checks of the package."""

    def check(student_class: Any) -> None:
        package = import_module(__package__)
        for name in checks:
            getattr(package, name)(student_class)

    return check


def _whole(name: str, *parts: str) -> Callable[[Any], None]:
    """A class that is right as it stands; where it is not, its parts say why."""

    def check(student_class: Any) -> None:
        try:
            check_of(__package__, name, as_it_stands=True)(student_class)
        except CheckFailed:
            _every(*parts)(student_class)
            raise

    return check


embedding_layer = _whole("embeddings", "position_ids", "merge")
encoder_block = _whole(
    "attention_block", "attention_init", "attention_scores", "attention_weights", "attention_context"
)
classifier_model = _every("encoder_list", "encoder_loop", "classifier")
