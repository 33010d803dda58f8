"""Words and positions, merged: one vector per token."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._rules import part
from ._sizes import config


def cases(generator: np.random.Generator) -> list[Case]:
    return [_case(generator, *shape) for shape in ((2, 5, 3, 4), (4, 7, 3, 2), (1, 3, 4, 2))]


def _case(generator: np.random.Generator, batch: int, tokens: int, n_heads: int, head_size: int) -> Case:
    shape = batch, tokens, n_heads * head_size
    words, positions = (generator.normal(0, 1, shape).astype(np.float32) for _ in range(2))
    merged = words.astype(np.float64) + positions
    return Case(config(n_heads, head_size, 17), {"words": words, "positions": positions}, expected={"merge": merged})


# The line of the solution that mistakes change.
SUM = "return words + positions"
BOTH = "Both vectors have the same size; the token's embedding is made of both."
ALIKE = "Which operation takes two vectors of one size, treats both alike, and keeps both at full strength?"


def merged(id: str, message: str, hint: str, merge: str) -> Mistake:
    return Mistake(id, message, hint, (SUM, f"return {merge}"))


MISTAKES = [
    *(merged("M13-words", "The words count more than the positions.", ALIKE, how)
      for how in ("2 * words + positions", "words + 0.5 * positions")),
    *(merged("M13-places", "The positions count more than the words.", ALIKE, how)
      for how in ("words + 2 * positions", "0.5 * words + positions")),
    merged("M11-none", "The positions are missing: only the words are there.", BOTH, "words"),
    merged("M11-words", "The words are missing: only the positions are there.", BOTH, "positions"),
    merged("M11-product", "Words and positions were multiplied.", ALIKE, "words * positions"),
    merged("M11-concat", "The positions were appended to the words, as if they were further tokens.",
           "Nothing gets longer: each token's two vectors become one.",
           "torch.cat([words, positions], dim=1)"),
    merged("M11-beside", "The positions were laid beside the words: each vector is twice as long.",
           "Nothing gets longer: each token's two vectors become one.",
           "torch.cat([words, positions], dim=-1)"),
    merged("M11-difference", "The positions were subtracted.", ALIKE, "words - positions"),
    merged("M11-difference", "The words were subtracted.", ALIKE, "positions - words"),
    merged("M11-mean", "Words and positions were averaged: each counts half.", ALIKE, "(words + positions) / 2"),
    merged("M8-twice", "The LayerNorm is there already: forward normalises what merge gives.", "Merge alone.",
           "self.LayerNorm(words + positions)"),
    dropout_at_work("The embeddings").by((SUM, "return nn.functional.dropout(words + positions, 0.1)")),
    CHANGED.by((SUM, "words += positions\n        return words")),
    DTYPE.by((SUM, "return words.double() + positions")),
]  # fmt: skip

RIGHT = {
    name: [(SUM, code)]
    for name, code in {
        "add, keywords alone": "return torch.add(input=words, other=positions)",
        "stacked and summed": "return torch.stack([words, positions]).sum(dim=0)",
        "added in place to a copy": "x = words.clone()\n        x += positions\n        return x",
        "token by token": "return torch.stack([words[:, t] + positions[:, t] for t in range(words.shape[1])], dim=1)",
        "summed by einsum": 'return torch.einsum("nbtd->btd", torch.stack((positions, words)))',
        "Python's own sum": "return sum((words, positions))",
        "float64 inside, then back": "return (words.double() + positions.double()).float()",
        "vmap over the sentences": "return torch.vmap(torch.add)(words, positions)",
    }.items()
}

EXERCISE = Exercise(
    cases, part, MISTAKES, right=RIGHT, framework="torch", cell="embeddings_answer",
    method="merge", given=("words", "positions"),
    shows=("words and positions both count", "nothing gets longer"),
    axes={"merge": "batch, tokens, dim"},
)  # fmt: skip
