"""Right and wrong answers to ``readings``."""

from .._answers import right_choices, wrong_choices

ANSWERS = ["separator", "next", "same word", "previous", "kept", "lost"]
PATTERNS = ("previous", "next", "same word", "separator")

RIGHT = right_choices("readings", ANSWERS)
WRONG = wrong_choices("readings", ANSWERS, [*[PATTERNS] * 4, *[("kept", "lost")] * 2])
