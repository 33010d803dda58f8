"""Which of five statements about pre-training are true. All right: everything; one wrong: one half."""

from __future__ import annotations

import re

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, wrong

from .._questions import always, letter, says

TRUE = ["a", "c", "e"]
#: What to tell those who are wrong about a statement.
REASONS = {
    "a": "Pre-training has read far more text than the labelled headlines: what words do to each other in a sentence "
    "is known before fine-tuning starts.",
    "b": "Nobody labels anything for pre-training: words of plain text are hidden, and the text itself is the answer.",
    "c": "The optimiser is given all of the model's parameters, not only those of the layers on top.",
    "d": "Time is one gain. With few labelled examples a model that starts from random weights also ends worse.",
    "e": "A vector was learned for each id. With another vocabulary the ids would look up other words' vectors.",
}
MISTAKES = [
    says(f"PRETRAINING-{one}", reason, "", one, true_statements=sorted({*TRUE} ^ {one}))
    for one, reason in REASONS.items()
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    said = answers.text("true_statements")
    entries = said if isinstance(said, list) else re.findall("[a-z]", said.lower()) if isinstance(said, str) else []
    letters = {letter(entry) for entry in entries}
    if not letters or not letters <= set(REASONS):
        message = "Expected the letters of the true statements, a to e, as a list."
        return wrong("statements", message, 'For instance ["a"], with as many letters as you think are true.')
    missed = letters ^ {*TRUE}
    checks = [
        mistake.check() if mistake.variant in missed else Check(f"statement {mistake.variant}", True)
        for mistake in exercise.mistakes
    ]
    return Judgement(checks, {0: 1.0, 1: 0.5}.get(len(missed), 0.0))


EXERCISE = Exercise(always(true_statements=TRUE), judge, MISTAKES)
