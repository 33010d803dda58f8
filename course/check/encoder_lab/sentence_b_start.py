"""Notebook 2: where the second sentence begins."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import fail, passed, running, to_numpy


def sentence_b_start(function: Any) -> None:
    """Where the second sentence begins."""
    name = "sentence_b_start"
    with running(name, "sentence_b_start(token_type_ids)", "token_type_ids has shape (1, tokens)."):
        start = to_numpy(function(torch.tensor([[0, 0, 0, 0, 0, 1, 1]])))
    if start.size != 1:
        fail(name, "one position is expected.", f"{start.size} numbers came.", "Which axis are the tokens?")
    if int(start.reshape(())) != 5:
        words = {4: "That is the first [SEP].", 6: "Positions count from 0.", 7: "That is how many tokens there are."}
        fail(
            name,
            "with five tokens in the first sentence the second begins at position 5.",
            f"Yours begins at {int(start.reshape(()))}.",
            words.get(int(start.reshape(())), ""),
        )
    passed(name, "the second sentence begins right behind the first")
