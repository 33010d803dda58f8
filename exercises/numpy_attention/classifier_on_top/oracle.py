"""What breaks if a line of the classifier on top of BERT is changed: one letter out of five."""

from __future__ import annotations

from autograder.exercise import Answers, Case, Exercise, Judgement, right, wrong

from .._questions import always, letter, says

RIGHT = "c"
HINT = "Go through forward line by line, once as it is and once with the change."
REASONS = {
    "a": "Then the classifier reads an average over all positions, padding included. Its layers stay what they were.",
    "b": "Then the numbers stay the same: what dropout scales keeps its sign, and what it drops is 0 either way.",
    "d": "Then the vector between the two layers is narrower. What happens to it there stays as it was.",
    "e": "Then training stops with an error: each headline has scores for every token, and only one category.",
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
