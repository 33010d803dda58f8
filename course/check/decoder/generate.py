"""The loop that writes, by what must be true of it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from course.check.base import as_array, fail, passed, running, to_numpy
from course.check.decoder._generation import Chooser
from course.check.modules import undisturbed

VOCABULARY = 12


class Counting:
    """A model that counts: each place predicts the next number. Notes what it is given."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []

    def __call__(self, ids: Tensor) -> Tensor:
        if ids.ndim != 2 or ids.shape[0] != 1:
            raise ValueError(f"the model takes ids of shape (1, tokens), not {tuple(ids.shape)}")
        self.seen.append(ids[0].tolist())
        return 5.0 * torch.nn.functional.one_hot((ids + 1) % VOCABULARY, VOCABULARY)


@undisturbed
def generate(function: Any) -> None:
    """The prompt, and behind it one chosen word after the other, until the end word or the last one allowed."""
    name = "generate"

    def written(prompt: list[int], words: int, end: int, context: int, skip: int = 0) -> tuple[list[int], Counting]:
        model, given = Counting(), torch.tensor(prompt)
        choose = Chooser(lambda logits: (logits.argmax(-1) + skip) % VOCABULARY)
        look = "model takes (1, tokens), choose (1, vocabulary)."
        with running(name, f"writing {words} words behind {prompt}", look):
            found = as_array(function(model, given, words, choose, end, context))
        if given.tolist() != prompt:
            fail(name, "the prompt must stay as it is.", "Yours was changed in place.", "torch.cat gives a new one.")
        if not hasattr(found, "shape") or len(found.shape) != 1:
            came = f"has {tuple(found.shape)}" if hasattr(found, "shape") else f"is {type(found).__name__}"
            look = "Prompt and new words, one after the other."
            fail(name, "the result must be ids of shape (tokens,).", f"Yours {came}.", look)
        ids = to_numpy(found).tolist()
        if ids[: len(prompt)] == prompt and choose.asked != len(ids) - len(prompt):
            came = f"Yours asks it {choose.asked} times for {len(ids) - len(prompt)} new words."
            look = "Each call draws anew: keep what it gives."
            fail(name, "choose is asked once for each new word.", came, look)
        return ids, model

    def same(found: list[int], want: list[int], what: str, look: str) -> None:
        if found != want:
            fail(name, f"{what}, {want} is expected.", f"Yours is {found}.", look)

    counting = "From a model that counts"
    found, model = written([3, 4], 3, 11, 20)
    same(found, [3, 4, 5, 6, 7], f"{counting}, with prompt 3 4 and three new words", "Append to the prompt.")
    found, model = written([3, 4, 5], 5, 7, 20)
    same(found, [3, 4, 5, 6, 7], f"{counting}, with 7 as the end", "Append the end word, then stop.")
    found, model = written([7, 2], 3, 7, 20)
    same(found, [7, 2, 3, 4, 5], "With the end word in the prompt", "Only a new end word stops.")
    found, model = written([1, 2], 3, 11, 20, skip=1)
    same(found, [1, 2, 4, 6, 8], "With a chooser that adds one", "choose(logits) says which word is next.")
    found, model = written([0, 1, 2, 3, 4], 3, 11, 4)
    want = [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]]
    if model.seen != want:
        look = "Give the model ids[-context:]; the result keeps all ids."
        fail(name, f"with a context of 4 the model reads {want[0]} at first.", f"Yours reads {model.seen[0]}.", look)
    same(found, [0, 1, 2, 3, 4, 5, 6, 7], "With a prompt longer than the context", "Crop what the model reads only.")
    found, model = written([5, 6], 0, 11, 20)
    same(found, [5, 6], "Without a new word", "range(words)")
    passed(name, "the prompt stays", "it stops behind the end word", "the model reads what fits")
