"""Which of five statements about pre-training are true. All right: everything; one wrong: one half."""

from __future__ import annotations

from autograder.exercise import Exercise, Mistake, SampleAnswer

from .._choices import always
from ._judged_alone import true_statements

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


def _mistake(letter: str) -> Mistake:
    chosen = f"true_statements = {sorted({*TRUE} ^ {letter})}"
    return Mistake(f"PRETRAINING-{letter}", REASONS[letter], "", chosen, share=0.5, by_rule=True, passes_check=True)


WRONG = [
    SampleAnswer(
        "all", 'true_statements = ["a", "b", "c", "d", "e"]', points=0, mistake="PRETRAINING-b", passes_check=True
    ),
    SampleAnswer(
        "the wrong ones", 'true_statements = ["b", "d"]', points=0, mistake="PRETRAINING-a", passes_check=True
    ),
    SampleAnswer("an empty list", "true_statements = []", points=0),
    SampleAnswer("no such letter", 'true_statements = ["x"]', points=0),
    SampleAnswer("nothing", "true_statements = None", points=0),
    SampleAnswer("a number", "true_statements = 3", points=0),
]

EXERCISE = Exercise(
    always(true_statements=TRUE),
    true_statements,
    [_mistake(letter) for letter in REASONS],
    right={
        "a list": 'true_statements = ["a", "c", "e"]',
        "another order, capitals": 'true_statements = ["e", "A", "c"]',
        "a tuple": 'true_statements = ("a", "c", "e")',
    },
    wrong=WRONG,
    accepted=dict.fromkeys(("pretraining-bff1572d", "pretraining-f4f3c9c4"), "The order of the letters is free."),
)
