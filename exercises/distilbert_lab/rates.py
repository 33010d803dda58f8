"""Which run has which learning rate. The reasons quote the stored curves, which students see."""

from __future__ import annotations

from ._questions import Question, questions_exercise
from ._stored import stored

CURVES: dict[str, list[float]] = stored("curves")
RIGHT = {"A": "good", "B": "no zero_grad", "C": "too small", "D": "too large"}
WOULD = {
    "good": "then the loss would fall to the lowest value of all within a few epochs. It ends at {last}.",
    "too small": "then the loss would fall slowly from about 0.7. It begins at {first} and ends at {last}.",
    "too large": "then the loss would be high from the first epoch on and jump. It begins at {first}.",
    "no zero_grad": "then each step would repeat all earlier ones, and the loss would rise epoch by epoch. "
    "It begins at {first} and ends at {last}.",
}


def _question(name: str) -> Question:
    first, last = CURVES[name][0], CURVES[name][-1]
    reasons = {word: text.format(first=first, last=last) for word, text in WOULD.items() if word != RIGHT[name]}
    return Question(f"curve {name}", RIGHT[name], reasons)


EXERCISE = questions_exercise("rates", [_question(name) for name in CURVES])
