"""Right and wrong answers to ``position_kinds``."""

from .._answers import right_choices, wrong_choices

ANSWERS = ["learned", "sinusoidal", "relative", "learned"]
KINDS = ("learned", "sinusoidal", "relative")

RIGHT = right_choices("position_kinds", ANSWERS)
WRONG = wrong_choices("position_kinds", ANSWERS, [KINDS] * 4)
