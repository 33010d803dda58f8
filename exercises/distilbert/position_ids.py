"""Which rows of the table of positions a sentence's tokens get. Right: counted with NumPy, in every sentence alike."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake

from ._rules import positions
from ._sizes import config


def cases(generator: np.random.Generator) -> list[Case]:
    """The last one has a batch of one."""
    made = []
    for sentences in (None, None, None, 1):
        batch, tokens = (int(size) for size in generator.choice(np.arange(2, 9), 2, replace=False))
        input_ids = generator.integers(1, 23, (sentences or batch, tokens))
        expected = np.tile(np.arange(tokens), (len(input_ids), 1))
        made.append(Case(config(3, 2, 17), {"input_ids": input_ids}, expected={"position_ids": expected}))
    return made


LINE = "torch.arange(input_ids.shape[1], device=input_ids.device).expand_as(input_ids)"
MISTAKES = [
    Mistake("POS-one", "The positions begin at 1.", "The first token has position 0.",
            (LINE, f"{LINE} + 1")),
    Mistake("POS-batch", "The positions are counted along the batch: all tokens of a sentence get the same one.",
            "The position is the place in the sentence: axis 1 of input_ids.",
            (LINE, "torch.arange(input_ids.shape[0])[:, None].expand_as(input_ids)")),
    Mistake("POS-ids", "These are the token ids.", "Positions are 0, 1, 2, …, whatever the words are.",
            (LINE, "input_ids.clone()")),
    Mistake("POS-zero", "Every token gets position 0.", "Token t gets position t.",
            (LINE, "torch.zeros_like(input_ids)")),
    Mistake("POS-reversed", "The positions are counted from the end.", "The first token has position 0.",
            (LINE, f"{LINE}.flip(1)")),
    Mistake("POS-on", "The second sentence goes on counting where the first one ended.", "Every sentence begins at 0.",
            (LINE, "torch.arange(input_ids.numel()).view_as(input_ids)")),
    CHANGED.by((f"return {LINE}", f"input_ids[:] = {LINE}\n        return input_ids")),
    Mistake("", "floating-point numbers", "", (LINE, f"{LINE}.float()")),
]  # fmt: skip

RIGHT = {
    name: [(LINE, code)]
    for name, code in {
        "one row for all sentences": "torch.arange(input_ids.size(1))",
        "one row with an axis for the batch": "torch.arange(input_ids.size(-1)).unsqueeze(0)",
        "cumsum": "torch.ones_like(input_ids).cumsum(dim=1) - 1",
        "repeat": "torch.arange(input_ids.shape[1]).repeat(input_ids.shape[0], 1)",
        "a list": "torch.tensor([list(range(len(row))) for row in input_ids])",
        "where each token stands": "torch.ones_like(input_ids).nonzero()[:, 1].view_as(input_ids)",
        "added to zeros": "torch.zeros_like(input_ids) + torch.arange(input_ids.shape[1])",
    }.items()
}

EXERCISE = Exercise(
    cases, positions, MISTAKES, right=RIGHT, framework="torch", cell="embeddings_answer",
    method="position_ids", given=("input_ids",),
    accepted=dict.fromkeys(("embeddings-805f27e5", "embeddings-b62bcd7f"), "One row serves all sentences."),
    shows=("0, 1, 2, … in every sentence", "whatever its length"),
    axes={"position_ids": "batch, tokens"},
)  # fmt: skip
