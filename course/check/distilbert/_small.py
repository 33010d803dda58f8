"""Small models for checks: sizes that differ pairwise."""

from typing import Any

from torch import nn

from course.check.base import fail, running
from course.config import Config

#: Feature sizes: 3 heads of 5 numbers each.
HEADS, HEAD_SIZE = 3, 5


def small_config(**changes: Any) -> Config:
    """3 heads of size 5, so dim 15; no two sizes are equal, so that no axis can stand in for another."""
    sizes: dict[str, Any] = {
        "n_heads": HEADS,
        "n_layers": 4,
        "dim": HEADS * HEAD_SIZE,
        "hidden_dim": 22,
        "max_position_embeddings": 9,
        "vocab_size": 13,
    }
    return Config(**(sizes | changes))


def build(name: str, student_class: Any, config: Config) -> nn.Module:
    """``student_class(config)`` in eval mode; whatever goes wrong is a failed check."""
    if not callable(student_class):
        fail(
            name,
            "a class is expected.",
            f"A {type(student_class).__name__} came.",
            "Pass the class itself, without brackets.",
        )
    class_name = getattr(student_class, "__name__", "the class")
    with running(name, f"{class_name}(config)", "Look at __init__: every size comes from the config."):
        module = student_class(config)
    if not isinstance(module, nn.Module):
        fail(
            name,
            f"{class_name} must be an nn.Module.",
            f"It is a {type(module).__name__}.",
            "class …(nn.Module), and super().__init__() as the first line of __init__.",
        )
    return module.eval()
