"""Which run has which learning rate. The reasons quote the stored curves, which students see."""

from __future__ import annotations

from .._choices import statements
from ._stored import stored

RIGHT = {"A": "good", "B": "no zero_grad", "C": "too small", "D": "too large"}
WOULD = {
    "good": "then the loss would fall to the lowest value of all within a few epochs. It ends at {1}.",
    "too small": "then the loss would fall slowly from about 0.7. It begins at {0} and ends at {1}.",
    "too large": "then the loss would be high from the first epoch on and jump. It begins at {0}.",
    "no zero_grad": "then each step would repeat all earlier ones, and the loss would rise epoch by epoch. "
    "It begins at {0} and ends at {1}.",
}
QUESTIONS = {
    f"curve {name}": (
        RIGHT[name],
        {word: text.format(losses[0], losses[-1]) for word, text in WOULD.items() if word != RIGHT[name]},
    )
    for name, losses in stored("curves").items()
}

EXERCISE = statements("rates", QUESTIONS)
