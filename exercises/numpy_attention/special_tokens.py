"""What [CLS] and [SEP] are for: one letter out of six for each, one half of the points each."""

from __future__ import annotations

from autograder.exercise import ChoiceQuestion, Exercise, Mistake, SampleAnswer, choices

from .._choices import always

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
QUESTIONS = [
    ChoiceQuestion(
        name,
        f"[{name.upper()}]",
        (RIGHT[name],),
        {letter: f"{name.upper()}-{letter}" for letter in reasons},
        f"[{name.upper()}]: expected one letter, a to f.",
        HINT,
    )
    for name, reasons in REASONS.items()
]


def _mistake(name: str, letter: str) -> Mistake:
    patch = f'{name}_token = "{RIGHT[name]}"', f'{name}_token = "{letter}"'
    id, reason = f"{name.upper()}-{letter}", REASONS[name][letter]
    return Mistake(id, reason, HINT, patch, share=0.5, by_rule=True, passes_check=True)


MISTAKES = [_mistake(name, letter) for name, reasons in REASONS.items() for letter in reasons]

EXERCISE = Exercise(
    always(**RIGHT),
    choices,
    MISTAKES,
    questions=QUESTIONS,
    right={
        "in one line": 'cls_token, sep_token = "a", "b"',
        "capitals": 'cls_token, sep_token = "A", "B"',
        "with blanks": 'cls_token, sep_token = " a", " b"',
    },
    wrong=[
        SampleAnswer("exchanged", 'cls_token, sep_token = "b", "a"', points=0, mistake="CLS-b", passes_check=True),
        SampleAnswer("no such letter", 'cls_token, sep_token = "?", "a"', points=0, mistake="SEP-a"),
    ],
)
