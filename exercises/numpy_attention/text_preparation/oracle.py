"""What prepares the text for BERT: a name, in any of its usual forms; and what breaks if that is changed: a letter."""

from __future__ import annotations

import re

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, shared_equally

from .._questions import always, letter, says

MAX_NAME = 200
HINT = "What is called with a headline, and gives back ids and a mask? Its name is enough."
#: Every name that the walk-through, or today's library, has for it.
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
#: (id, the names of what does not prepare the text, why it does not)
OTHERS = [
    (
        "PREPARES-dataset",
        ("dataset",),
        "The Dataset class only holds the headlines; it calls something else to turn each into ids.",
    ),
    (
        "PREPARES-triage",
        ("triage",),
        "The Triage class only holds the headlines; it calls something else to turn each into ids.",
    ),
    (
        "PREPARES-loader",
        ("dataloader",),
        "The DataLoader gathers ready-made ids into batches; the words became ids before.",
    ),
    (
        "PREPARES-embedding",
        ("embedding", "embeddings"),
        "Embeddings are the model's first layer: they look up vectors for ids. Who made the ids?",
    ),
    ("PREPARES-model", ("distilbertmodel", "bert"), "That is the model itself: it takes ids, not words."),
    (
        "PREPARES-split",
        ("split",),
        "Splitting at blanks only tidies the headline; BERT needs pieces of its vocabulary, and their ids.",
    ),
]
PADDING = "d"
WHERE = "What does each change do to ids, mask and batch?"
#: Letter -> why padding is not attended to after this change.
REASONS = {
    "a": "Without padding, headlines keep their own lengths, and no batch can be made of them: an error is raised.",
    "b": "Fewer positions are filled up, and the mask still covers them: the scores stay the same, in less time.",
    "c": "Long headlines lose their ends. Shorter ones are filled up and masked as before.",
    "e": "Spaces at both ends make no tokens: ids and mask stay as they were.",
}
MISTAKES = [
    *(says(id, reason, HINT, names, name=names[0], padding=PADDING) for id, names, reason in OTHERS),
    *(says(f"PADDING-{one}", reason, WHERE, one, name="tokenizer", padding=one) for one, reason in REASONS.items()),
]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Half of the points for the name, half for the letter."""
    return shared_equally([_name(exercise, answers.text("name")), _letter(exercise, letter(answers.text("padding")))])


def _name(exercise: Exercise, said: object) -> Check:
    # "DistilBertTokenizer.from_pretrained(...)", "self.tokenizer.encode_plus" and "the tokenizer" name the same thing
    words = re.findall(r"[a-z_]+", said.lower()) if isinstance(said, str) and len(said) <= MAX_NAME else []
    for word in words:
        for mistake in exercise.mistakes:
            if isinstance(mistake.variant, tuple) and word in mistake.variant:
                return mistake.check()
    if PREPARES & set(words):
        return Check("name", True)
    return Check("name", False, "That is not what turns text into ids.", HINT)


def _letter(exercise: Exercise, chosen: str) -> Check:
    if chosen == PADDING:
        return Check("padding", True)
    for mistake in exercise.mistakes:
        if mistake.variant == chosen:
            return mistake.check()
    return Check("padding", False, "Expected one letter, a to e.", WHERE)


EXERCISE = Exercise(always(name="tokenizer", padding=PADDING), judge, MISTAKES)
