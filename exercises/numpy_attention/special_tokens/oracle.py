"""What [CLS] and [SEP] are for: one letter out of six for each, one half of the points each."""

from __future__ import annotations

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, shared_equally

from .._questions import always, letter, says

ROLES = {
    "a": "opening the sequence and gathering, layer by layer, a summary that a classifier can read",
    "b": "ending a segment, and so keeping two segments apart",
    "c": "filling short sentences up, so that a batch is rectangular: that is [PAD]",
    "d": "standing where a word was hidden, for the model to guess: that is [MASK]",
    "e": "standing for what the vocabulary does not know: that is [UNK]",
    "f": "marking every full stop: BERT keeps the full stop itself as a token",
}
RIGHT = {"cls": "a", "sep": "b"}
HINT = "Look at where the token stands in the printed lists."
MISTAKES = [
    says(f"{name.upper()}-{one}", f"[{name.upper()}] is not for {role}.", HINT, (name, one), **{**RIGHT, name: one})
    for name, right in RIGHT.items()
    for one, role in ROLES.items()
    if one != right
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    return shared_equally([_check(exercise, name, letter(answers.text(name))) for name in RIGHT])


def _check(exercise: Exercise, name: str, chosen: str) -> Check:
    token = f"[{name.upper()}]"
    if chosen == RIGHT[name]:
        return Check(token, True)
    for mistake in exercise.mistakes:
        if mistake.variant == (name, chosen):
            return mistake.check()
    return Check(token, False, f"{token}: expected one letter, a to f.", HINT)


EXERCISE = Exercise(always(**RIGHT), judge, MISTAKES)
