"""Adding the positions to the tokens, with the right table or a ready-made one: the student's own has its exercise."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, DTYPE, Case, Exercise, Mistake

from ._answers import positions
from ._positions import positional_forward, transformers_table


def cases(generator: np.random.Generator) -> list[Case]:
    """More tokens than sentences, and more sentences than tokens; in neither case as many."""
    made = []
    for (b, t, emb_size), max_len in (((2, 5, 6), 9), ((7, 3, 8), 12), ((1, 4, 6), 7)):
        x = generator.normal(0, 1, (b, t, emb_size)).astype(np.float32)
        # the ready-made table, which the hidden cell puts in the place of the student's own
        table = np.cos(np.arange(float(max_len * emb_size))).reshape(max_len, emb_size)
        expected = {"output": x + transformers_table(max_len, emb_size)[:t], "with_table": x + table[:t]}
        made.append(Case({"emb_size": emb_size, "max_len": max_len}, {"x": x}, expected=expected))
    return made


# The lines of the solution that mistakes change.
ADD = "x = x + self.pe[: x.shape[1]]"
REGISTER = 'self.register_buffer("pe", pe)'
HINT, FIRST = "x plus the first rows of pe.", "The first token gets row 0."
MISTAKES = [
    Mistake("M11-none", "The positions were not added.", HINT, (ADD, "pass")),
    Mistake("M11-times", "The positions were multiplied in; they are added.", HINT, ("x + self.pe", "x * self.pe")),
    Mistake("M11-root", "The positions were scaled; they are added as they are.", HINT,
            ("x + self.pe", "x + x.shape[-1] ** 0.5 * self.pe")),
    Mistake("M11-x", "x was scaled; that is the classifier's business.", HINT,
            ("x + self.pe", "x * x.shape[-1] ** 0.5 + self.pe")),
    Mistake("M11-bare", "Only the positions came out, without x.", HINT,
            (ADD, "x = self.pe[: x.shape[1]].expand_as(x)")),
    Mistake("M11-same", "Every token got the position of the first one.", "One row of pe for each token.",
            (ADD, "x = x + self.pe[0]")),
    Mistake("M11-last", "The rows were taken from the end of pe.", FIRST, (ADD, "x = x + self.pe[-x.shape[1] :]")),
    Mistake("M11-next", "The first token got row 1.", FIRST, (ADD, "x = x + self.pe[1 : x.shape[1] + 1]")),
    # as in tutorials with the tokens first
    Mistake("M11-batch",
            "The rows of pe went to the sentences of the batch: all tokens of a sentence got the same vector.",
            "Which axis of x counts the tokens? The batch comes first.",
            (REGISTER, 'self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))'),
            (ADD, "x = x + self.pe[: x.size(0), :]")),
    Mistake("M16", "In eval mode some numbers were dropped.", "nn.Dropout knows the mode of its module.",
            ("return self.dropout(x)", "return nn.functional.dropout(x, 0.5)"), by_rule=True),
    Mistake("M16-none", "In train mode nothing is dropped.", "The given lines make a dropout layer, and use it last.",
            ("return self.dropout(x)", "return x"), by_rule=True),
    Mistake("M16-rate", "In train mode another share is dropped than the one that was asked for.",
            "nn.Dropout(dropout) is a given line.", ("nn.Dropout(dropout)", "nn.Dropout(0.9)"), by_rule=True),
    Mistake("M11-minus", "The positions were subtracted.", "Add them.", ("x + self.pe", "x - self.pe")),
    CHANGED.by(("x = x + self.pe", "x += self.pe")),
    DTYPE.by((ADD, f"{ADD}.double()")),
    CUT,
    Mistake("", "as many rows as sentences", "", (ADD, "x = x + self.pe[: x.shape[0]]")),
]  # fmt: skip

RIGHT = {
    "an axis in front, not saved with the model": positions("""
        angle = torch.outer(torch.arange(max_len).float(), 10000.0 ** (-torch.arange(0, emb_size, 2) / emb_size))
        table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
        self.register_buffer("pe", table.unsqueeze(0), persistent=False)
    """, "x = x + self.pe[:, : x.size(1)]"),
    "rows chosen by number": [(ADD, "x = x + self.pe.index_select(0, torch.arange(x.shape[1]))")],
    "sentence by sentence": [(ADD, "x = torch.stack([sentence + self.pe[: len(sentence)] for sentence in x])")],
    "expanded over the batch": [(ADD, "x = x + self.pe.expand(x.shape[0], -1, -1)[:, : x.shape[1]]")],
    "torch.vmap over the sentences": [(ADD, "x = torch.vmap(lambda one: one + self.pe[: x.shape[1]])(x)")],
    "in float64, and back": [(ADD, "x = (x.double() + self.pe[: x.shape[1]].double()).to(x.dtype)")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, positional_forward, MISTAKES, right=RIGHT, framework="torch", cell="positional_encoding_answer",
    axes={"output": "b, t, k"},
)  # fmt: skip
