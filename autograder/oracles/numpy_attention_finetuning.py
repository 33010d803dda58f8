"""The questions of the page on fine-tuning: which letter is right, and what to tell who chose another.

The reasons say why a choice is wrong and where to read, never which one is right. Facts: the walk-through
``transformers_multiclass_classification.ipynb`` of abhimishra91/transformers-tutorials.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from autograder.exercise import TEXT, Answers, Case, Check, Exercise, Judgement, Rule, text_array

# --- what stands on top of BERT ---------------------------------------------------------------------------------------

ON_TOP = {
    "a": "A Transformer is what lies below: all the attention is inside DistilBERT. What is put on top of it has none.",
    "b": "The walk-through reads one token's vector, no average over all tokens; and it has more than one layer.",
    "d": "Nothing on top reads the tokens one after the other: they have met in DistilBERT's attention already.",
    "e": "Something must bring 768 numbers down to one for each class, and must be able to learn. A softmax cannot.",
}

# --- what prepares the text -------------------------------------------------------------------------------------------

#: Every name under which the walk-through, or today's library, calls it.
PREPARES = {
    "tokenizer",
    "tokenizers",
    "tokeniser",
    "tokenize",
    "tokenise",
    "tokenization",
    "tokenisation",
    "tokenizing",
    "distilberttokenizer",
    "distilberttokenizerfast",
    "berttokenizer",
    "berttokenizerfast",
    "autotokenizer",
    "pretrainedtokenizer",
    "pretrainedtokenizerfast",
    "encode_plus",
    "batch_encode_plus",
    "encode",
    "encoder_plus",
}
NOT_PREPARES = {
    "dataset": "The Dataset class only holds the headlines; it calls something else to turn each into ids.",
    "triage": "The Triage class only holds the headlines; it calls something else to turn each into ids.",
    "dataloader": "The DataLoader gathers ready-made ids into batches; the words became ids before.",
    "embedding": "Embeddings are the model's first layer: they look up vectors for ids. Who made the ids?",
    "embeddings": "Embeddings are the model's first layer: they look up vectors for ids. Who made the ids?",
    "distilbertmodel": "That is the model itself: it takes ids, not words.",
    "bert": "That is the model itself: it takes ids, not words.",
    "split": "Splitting at blanks only tidies the headline; BERT needs pieces of its vocabulary, and their ids.",
}

# --- special tokens ---------------------------------------------------------------------------------------------------

ROLES = {
    "a": "opening the sequence and gathering, layer by layer, a summary that a classifier can read",
    "b": "ending a segment, and so keeping two segments apart",
    "c": "filling short sentences up, so that a batch is rectangular: that is [PAD]",
    "d": "standing where a word was hidden, for the model to guess: that is [MASK]",
    "e": "standing for what the vocabulary does not know: that is [UNK]",
    "f": "marking every full stop: BERT keeps the full stop itself as a token",
}
SPECIAL = {"[CLS]": "a", "[SEP]": "b"}

# --- pre-training -----------------------------------------------------------------------------------------------------

STATEMENTS = {
    "a": (
        True,
        "Pre-training has read far more text than the labelled headlines: what words do to each other in a sentence "
        "is known before fine-tuning starts.",
    ),
    "b": (
        False,
        "Nobody labels anything for pre-training: words of plain text are hidden, and the text itself is the answer.",
    ),
    "c": (True, "The optimiser is given all of the model's parameters, not only those of the layers on top."),
    "d": (
        False,
        "Time is one gain. With few labelled examples a model that starts from random weights also ends worse.",
    ),
    "e": (
        True,
        "A vector was learned for each id. With another vocabulary the ids would look up other words' vectors.",
    ),
}


def _case(**expected: object) -> Case:
    return Case(expected={TEXT + name: text_array(value) for name, value in expected.items()})


def _letter(said: object) -> str:
    return said.strip().strip("().").lower() if isinstance(said, str) else ""


def judge_choice(reasons: Mapping[str, str], right: str) -> Rule:
    def rule(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        letter = _letter(answers.text("choice"))
        if letter == right:
            return Judgement([Check("choice", True)])
        reason = reasons.get(letter, f"Expected one letter, a to {max(*reasons, right)}.")
        return Judgement([Check("choice", False, reason, "Read the part of the page above the question once more.")])

    return rule


def judge_prepares(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    said = answers.text("name")
    # "DistilBertTokenizer.from_pretrained(...)", "self.tokenizer.encode_plus" and "the tokenizer" name the same thing
    words = re.findall(r"[a-z_]+", said.lower()) if isinstance(said, str) and len(said) <= 200 else []
    wrong = next((NOT_PREPARES[word] for word in words if word in NOT_PREPARES), None)
    if wrong is None and PREPARES & set(words):
        return Judgement([Check("name", True)])
    return Judgement(
        [
            Check(
                "name",
                False,
                wrong or "That is not what turns text into ids.",
                "What is called with a headline, and gives back ids and a mask? Its name is enough.",
            )
        ]
    )


def judge_special(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    checks = []
    for token, right in SPECIAL.items():
        letter = _letter(answers.text(token.strip("[]").lower()))
        role = ROLES.get(letter, "nothing: expected one letter, a to f")
        checks.append(
            Check(
                token,
                letter == right,
                f"{token} is not for {role}." if letter in ROLES else f"{token}: {role}.",
                "Look at where the token stands in the printed lists.",
            )
        )
    return Judgement(checks, sum(check.passed for check in checks) / len(checks))


def judge_statements(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """All five right: everything; one wrong: half."""
    said = answers.text("true_statements")
    entries = said if isinstance(said, list) else re.findall("[a-z]", said.lower()) if isinstance(said, str) else []
    letters = {_letter(entry) for entry in entries}
    if not letters or not letters <= set(STATEMENTS):
        return Judgement(
            [
                Check(
                    "statements",
                    False,
                    "Expected the letters of the true statements, a to e, as a list.",
                    'For instance ["a"], with as many letters as you think are true.',
                )
            ]
        )
    checks = [
        Check(f"statement {letter}", (letter in letters) == true, why) for letter, (true, why) in STATEMENTS.items()
    ]
    missed = sum(not check.passed for check in checks)
    return Judgement(checks, {0: 1.0, 1: 0.5}.get(missed, 0.0))


def _exercise(slug: str, rule: Rule, **expected: object) -> Exercise:
    def make(generator: np.random.Generator) -> list[Case]:
        return [_case(**expected)]

    return Exercise(make, rule, framework="numpy", slug=f"numpy_attention/{slug}")


EXERCISES = [
    _exercise("classifier_on_top", judge_choice(ON_TOP, "c"), choice="c"),
    _exercise("text_preparation", judge_prepares, name="tokenizer"),
    _exercise(
        "special_tokens", judge_special, **{token.strip("[]").lower(): letter for token, letter in SPECIAL.items()}
    ),
    _exercise(
        "pretraining", judge_statements, true_statements=[letter for letter, (true, _) in STATEMENTS.items() if true]
    ),
]
