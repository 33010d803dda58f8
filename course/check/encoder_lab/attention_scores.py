"""Notebook 1: scores of every query with every key."""

from __future__ import annotations

from math import sqrt
from typing import Any

import torch

from course.check.base import close, fail, passed, same_shape
from course.check.encoder_lab._ladder import LONG, LOOK_AXES, in_words, run
from course.check.modules import undisturbed


@undisturbed
def attention_scores(function: Any) -> None:
    """Every query's scaled dot product with every key."""
    name = "attention_scores"
    query, key = torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    scores = run(name, function, query, key)
    if getattr(scores, "shape", None) == (2, 5, 3):
        fail(
            name,
            "rows are queries, columns are keys: (2, 3, 5) for 3 queries and 5 keys.",
            "Yours has (2, 5, 3).",
            "Query and key have changed places.",
        )
    same_shape(name, "scores", scores, (2, 3, 5), "(batch, queries, keys)", LOOK_AXES)
    alike = run(name, function, torch.ones(1, 2, LONG), torch.ones(1, 3, LONG))
    same_shape(name, "scores of a single sentence", alike, (1, 2, 3), "(batch, queries, keys)", LOOK_AXES)
    score = float(alike[0, 0, 0])
    if abs(score - sqrt(LONG)) > 1e-3:
        fail(
            name,
            f"{LONG} products of 1 and 1 make a score of {sqrt(LONG):g}, after scaling.",
            f"Yours is {score:.4g}: {in_words(score / sqrt(LONG))}",
            "What are the scores divided by, and how often?",
        )
    one_hot = run(name, function, torch.eye(4)[None, :3], torch.eye(4)[None])
    if not close(one_hot[0], torch.eye(4)[:3] / 2):
        fail(name, "vectors that have nothing in common must score 0.", "Yours do not.", LOOK_AXES)
    passed(name, "every query meets every key", "rows are queries", "scaled once")
