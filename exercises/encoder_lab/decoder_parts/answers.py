"""Right and wrong answers to ``decoder_parts``."""

from .._answers import right_choices, wrong_choices

ANSWERS = ["cross", "both", "masked", "masked", "neither"]
SUBLAYERS = ("masked", "cross", "both", "neither")

RIGHT = right_choices("decoder_parts", ANSWERS)
WRONG = wrong_choices("decoder_parts", ANSWERS, [SUBLAYERS] * 5, shared=True)
