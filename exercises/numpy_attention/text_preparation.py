"""What prepares the text for BERT: a name, in any of its usual forms; and what breaks if that is changed: a letter."""

from __future__ import annotations

from autograder.exercise import ChoiceQuestion, Exercise, Mistake, SampleAnswer, choices

from .._choices import always

HINT = "What is called with a headline, and gives back ids and a mask? Its name is enough."
#: Every name that the walk-through, or today's library, has for it; the right answer first.
PREPARES = (
    "tokenizer", "tokenizers", "tokeniser", "tokenize", "tokenise", "tokenization", "tokenisation", "tokenizing",
    "distilberttokenizer", "distilberttokenizerfast", "berttokenizer", "berttokenizerfast", "autotokenizer",
    "pretrainedtokenizer", "pretrainedtokenizerfast", "encode_plus", "batch_encode_plus", "encode", "encoder_plus",
)  # fmt: skip
#: What does not prepare the text -> why it does not, the names in the code, how somebody may write them
OTHERS = {
    "PREPARES-dataset": (
        "The Dataset class only holds the headlines; it calls something else to turn each into ids.",
        ("dataset",), ("Dataset",)),
    "PREPARES-triage": (
        "The Triage class only holds the headlines; it calls something else to turn each into ids.",
        ("triage",), ("Triage",)),
    "PREPARES-loader": (
        "The DataLoader gathers ready-made ids into batches; the words became ids before.",
        ("dataloader",), ("DataLoader",)),
    "PREPARES-embedding": (
        "Embeddings are the model's first layer: they look up vectors for ids. Who made the ids?",
        ("embedding", "embeddings"), ("embedding",)),
    "PREPARES-model": (
        "That is the model itself: it takes ids, not words.",
        ("distilbertmodel", "bert"), ("DistilBertModel", "BERT")),
    "PREPARES-split": (
        "Splitting at blanks only tidies the headline; BERT needs pieces of its vocabulary, and their ids.",
        ("split",), ("split()",)),
}  # fmt: skip
WHERE = "What does each change do to ids, mask and batch?"
#: Letter -> why padding is not attended to after this change.
REASONS = {
    "a": "Without padding, headlines keep their own lengths, and no batch can be made of them: an error is raised.",
    "b": "Fewer positions are filled up, and the mask still covers them: the scores stay the same, in less time.",
    "c": "Long headlines lose their ends. Shorter ones are filled up and masked as before.",
    "e": "Spaces at both ends make no tokens: ids and mask stay as they were.",
}

QUESTIONS = [
    ChoiceQuestion(
        "name", "name", PREPARES, {name: id for id, (_, names, _) in OTHERS.items() for name in names},
        "That is not what turns text into ids.", HINT, in_words=True,
    ),
    ChoiceQuestion(
        "padding", "padding", ("d",), {letter: f"PADDING-{letter}" for letter in REASONS},
        "Expected one letter, a to e.", WHERE,
    ),
]  # fmt: skip


def _text(name: str, letter: str = "d") -> str:
    return f'prepares_text = "{name}"\nlets_padding_in = "{letter}"\n'


def _mistake(id: str, reason: str, hint: str, text: str) -> Mistake:
    return Mistake(id, reason, hint, text, share=0.5, by_rule=True, passes_check=True)


MISTAKES = [
    *(_mistake(id, reason, HINT, _text(name)) for id, (reason, _, ways) in OTHERS.items() for name in ways),
    *(_mistake(f"PADDING-{letter}", reason, WHERE, _text("tokenizer", letter)) for letter, reason in REASONS.items()),
    _mistake("", "numpy", "", _text("numpy")),
]
RIGHT = (
    "tokenizer", "the tokenizer", "DistilBertTokenizer", "DistilBertTokenizer.from_pretrained",
    "tokenzier (DistilBertTokenizer.from_pretrained)", "tokenizer.encode_plus(...)", "AutoTokenizer", "tokenize",
)  # fmt: skip
WRONG = [
    SampleAnswer("both wrong", _text("Triage", "a"), points=0, mistake="PREPARES-triage", passes_check=True),
    SampleAnswer("no such letter", _text("tokenizer", "f"), share=0.5),
]

EXERCISE = Exercise(
    always(name="tokenizer", padding="d"),
    choices,
    MISTAKES,
    questions=QUESTIONS,
    right={name: _text(name) for name in RIGHT} | {"a capital": _text("tokenizer", " D")},
    wrong=WRONG,
    accepted={"text_preparation-a2558155": "The tokenizer is named; what is called on it is not asked for."},
)
