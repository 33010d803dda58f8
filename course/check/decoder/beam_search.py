"""The stretch goal of notebook 2: beam search. Ungraded."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
from torch import Tensor

from course.check.base import as_array, fail, passed, running, to_numpy
from course.check.decoder._generation import StoredModel
from course.check.modules import undisturbed
from course.check.stretch import begun

VOCABULARY, WORDS = 4, 3


@undisturbed
def beam_search(function: Any) -> None:
    """One beam is greedy; enough beams find the best of all texts; two find a way that greed misses."""
    name = "beam_search"
    stored = StoredModel(*(2 * torch.randn(VOCABULARY, VOCABULARY) for _ in range(3)))
    ids = torch.tensor([1, 2])
    if not begun(name, function, stored, ids, WORDS, 2):
        return

    def found(model: Any, beams: int, words: int = WORDS) -> list[int]:
        with running(name, f"{beams} beams", "Print the beams after every step."):
            best = as_array(function(model, ids.clone(), words, beams))
        return [int(number) for number in to_numpy(best).reshape(-1)]

    greedy = ids
    for _ in range(WORDS):
        greedy = torch.cat([greedy, stored(greedy[None])[0, -1:].argmax(-1)])
    if found(stored, 1) != greedy.tolist():
        fail(name, "a single beam is greedy.", f"Yours writes {found(stored, 1)}, not {greedy.tolist()}.")
    texts = [torch.cat([ids, torch.tensor(new)]) for new in product(range(VOCABULARY), repeat=WORDS)]
    best = max(texts, key=lambda text: _log_probability(stored, text)).tolist()
    if found(stored, VOCABULARY**WORDS) != best:
        look = "Add logarithms of probabilities: log_softmax, not logits."
        fail(name, "with a beam for every text, the likeliest one is found.", "Yours finds another.", look)
    if found(_Detour(), 2, 2)[2:] != [1, 3]:
        look = "Keep the beams whose sums are largest, over all words of all beams."
        fail(name, "two beams find a likely text after a first word that is not the likeliest.", "Yours misses.", look)
    passed(name, "one beam is greedy", "many beams find the best", "two take a detour")


def _log_probability(model: Any, text: Tensor) -> float:
    logs = model(text[None, :-1])[0].log_softmax(-1)
    return float(logs.gather(1, text[1:, None])[1:].sum())


class _Detour:
    """Word 0 is likeliest at first, but all that follows it is uncertain; after word 1 comes 3 for sure."""

    def __call__(self, ids: Tensor) -> Tensor:
        first = torch.tensor([0.5, 0.4, 0.05, 0.05]).log()
        table = torch.stack([torch.zeros(4), 9.0 * torch.eye(4)[3], first, first])
        return table[ids]
