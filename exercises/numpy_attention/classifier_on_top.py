"""What breaks if a line of the classifier on top of BERT is changed: one letter out of five.

Facts, here and in the other questions: the walk-through ``transformers_multiclass_classification.ipynb`` of
abhimishra91/transformers-tutorials.
"""

from __future__ import annotations

from autograder.exercise import ChoiceQuestion, Exercise, Mistake, SampleAnswer, choices

from .._choices import always

HINT = "Go through forward line by line, once as it is and once with the change."
REASONS = {
    "a": "Then the classifier reads an average over all positions, padding included. Its layers stay what they were.",
    "b": "Then the numbers stay the same: what dropout scales keeps its sign, and what it drops is 0 either way.",
    "d": "Then the vector between the two layers is narrower. What happens to it there stays as it was.",
    "e": "Then training stops with an error: each headline has scores for every token, and only one category.",
}
IDS = {letter: f"ON-TOP-{letter}" for letter in REASONS}
MISTAKES = [
    Mistake(IDS[letter], reason, HINT, ('"c"', f'"{letter}"'), by_rule=True, passes_check=True)
    for letter, reason in REASONS.items()
]

EXERCISE = Exercise(
    always(choice="c"),
    choices,
    MISTAKES,
    questions=[ChoiceQuestion("choice", "choice", ("c",), IDS, "Expected one letter, a to e.", HINT)],
    right={"the letter": 'on_top = "c"', "a capital": 'on_top = "C"', "with blanks": 'on_top = " c "'},
    wrong=[SampleAnswer("no such letter", 'on_top = "z"', points=0)],
)
