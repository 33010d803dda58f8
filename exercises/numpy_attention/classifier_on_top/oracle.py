"""What stands on top of BERT: one letter out of five."""

from __future__ import annotations

from autograder.exercise import Answers, Case, Exercise, Judgement, right, wrong

from .._questions import always, letter, says

RIGHT = "c"
HINT = "Read the part of the page above the question once more."
REASONS = {
    "a": "A Transformer is what lies below: all the attention is inside DistilBERT. What is put on top of it has none.",
    "b": "The walk-through reads one token's vector, no average over all tokens; and it has more than one layer.",
    "d": "Nothing on top reads the tokens one after the other: they have met in DistilBERT's attention already.",
    "e": "Something must bring 768 numbers down to one for each class, and must be able to learn. A softmax cannot.",
}
MISTAKES = [says(f"ON-TOP-{one}", reason, HINT, one, choice=one) for one, reason in REASONS.items()]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    chosen = letter(answers.text("choice"))
    if chosen == RIGHT:
        return right("choice")
    for mistake in exercise.mistakes:
        if mistake.variant == chosen:
            return mistake.judgement()
    return wrong("choice", "Expected one letter, a to e.", HINT)


EXERCISE = Exercise(always(choice=RIGHT), judge, MISTAKES)
