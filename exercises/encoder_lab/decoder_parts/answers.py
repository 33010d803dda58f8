"""Right and wrong answers to ``decoder_parts``."""

from .._answers import right_choices, wrong_choices

ANSWERS = ["decoder", "decoder", "decoder", "encoder", "encoder"]
SIDES = ("encoder", "decoder")

RIGHT = right_choices("decoder_parts", ANSWERS)
WRONG = wrong_choices("decoder_parts", ANSWERS, [SIDES] * 5)
