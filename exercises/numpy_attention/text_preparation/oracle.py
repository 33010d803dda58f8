"""What prepares the text for BERT: a name, in any of its usual forms."""

from __future__ import annotations

import re

from autograder.exercise import Answers, Case, Exercise, Judgement, right, wrong

from .._questions import always, says

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
MISTAKES = [says(id, reason, HINT, names, name=names[0]) for id, names, reason in OTHERS]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    said = answers.text("name")
    # "DistilBertTokenizer.from_pretrained(...)", "self.tokenizer.encode_plus" and "the tokenizer" name the same thing
    words = re.findall(r"[a-z_]+", said.lower()) if isinstance(said, str) and len(said) <= MAX_NAME else []
    for word in words:
        for mistake in exercise.mistakes:
            if word in mistake.variant:
                return mistake.judgement()
    if PREPARES & set(words):
        return right("name")
    return wrong("name", "That is not what turns text into ids.", HINT)


EXERCISE = Exercise(always(name="tokenizer"), judge, MISTAKES)
