"""Adding the positions to the tokens."""

from __future__ import annotations

from typing import Any

import torch

from course.check.base import close, fail, passed, running, same_shape
from course.check.modules import make, undisturbed
from course.check.side_effects import check_side_effects
from course.check.transformer_tutorial.positional_values import LENGTH, SIZE, made_with_table

RATE = 0.5


@undisturbed
def positional_forward(student_class: Any) -> None:
    """Token i of every sentence gets row i; sentences of a batch are treated alike."""
    name = "positional_forward"
    encoding, pe = made_with_table(name, student_class)
    b, t = 3, 5
    torch.default_generator.manual_seed(7)  # whatever the class draws when it is made
    x = torch.randn(b, t, SIZE)
    check_side_effects(name, encoding, x)
    with running(
        name,
        f"x of shape (b, t, emb_size) = ({b}, {t}, {SIZE})",
        "How many rows of pe are needed, and along which axis?",
    ):
        out = encoding(x)
    same_shape(name, "the output", out, (b, t, SIZE), "(b, t, emb_size)", "The batch comes first.")
    added = out - x
    if close(added, added[:, :1].expand_as(added)):
        fail(
            name,
            "each token gets the row of its own position.",
            "In yours all tokens of a sentence get the same.",
            "Which axis of x counts the tokens? The batch comes first.",
        )
    if not close(added, added[:1].expand_as(added)):
        fail(
            name,
            "all sentences of a batch get the same positions.",
            "Yours get different ones.",
            "Or was something dropped in eval mode?",
        )
    if not close(added[0], pe[:t]):
        fail(name, "token i gets row i of pe added.", "Yours gets something else.", "Added, as it is, from row 0 on.")
    encoding = make(name, student_class, SIZE, dropout=RATE, max_len=LENGTH).train()
    share = float((encoding(x.new_full((40, t, SIZE), 3.0)) == 0).float().mean())  # no sum of 3 and a sine is 0
    if abs(share - RATE) > 0.1:
        look = "nn.Dropout(dropout) and self.dropout(x), the last line, are given."
        expected = f"made with dropout={RATE}, half of the numbers are dropped in training."
        fail(name, expected, f"In yours {share:.0%} are.", look)
    passed(name, "token i gets row i", "every sentence the same", "dropped in train mode alone")
