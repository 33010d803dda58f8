"""Notebook 1: the whole embedding, for the notebooks that go on with it."""

from __future__ import annotations

from typing import Any

from course.check import distilbert
from course.check.distilbert.embeddings import embeddings


def embedding_layer(kind: Any) -> None:
    """Both checks of the embedding."""
    distilbert.position_ids(kind)  # type: ignore[attr-defined]  # made of a pack
    embeddings(kind)
