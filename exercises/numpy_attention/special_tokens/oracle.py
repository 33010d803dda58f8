"""What [CLS] and [SEP] are for: one letter out of six for each, one half of the points each."""

from __future__ import annotations

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, shared_equally

from .._questions import always, letter, says

RIGHT = {"cls": "a", "sep": "b"}
#: token -> letter -> why this token is not for that
REASONS = {
    "cls": {
        "b": "[CLS] stands once, in front of everything. What ends segments would have to stand after each of them.",
        "c": "[CLS] is there when nothing has to be filled up, too. For filling up there is [PAD], after the words.",
        "d": "[CLS] hides no word: all words of the text follow it. A hidden word has [MASK] at its position.",
        "e": "[CLS] is there when the vocabulary knows every word, too. For a word it does not know there is [UNK].",
        "f": "[CLS] is in the printed lists, whose texts have no full stop. A full stop is a token of its own.",
    },
    "sep": {
        "a": "[SEP] stands after words, and twice where there are two sentences. What opens a sequence stands first.",
        "c": "[SEP] is there when nothing has to be filled up, too. For filling up there is [PAD], after everything.",
        "d": "[SEP] hides no word: all words of the text are in the list beside it. For a hidden word there is [MASK].",
        "e": "[SEP] is there when the vocabulary knows every word, too. For a word it does not know there is [UNK].",
        "f": "[SEP] is in the printed lists, whose texts have no full stop. A full stop is a token of its own.",
    },
}
HINT = "Look at where the token stands in the printed lists."
MISTAKES = [
    says(f"{name.upper()}-{one}", reason, HINT, (name, one), **{**RIGHT, name: one})
    for name, reasons in REASONS.items()
    for one, reason in reasons.items()
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
