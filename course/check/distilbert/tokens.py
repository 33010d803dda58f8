"""Notebook 4: ids to tokens."""

from __future__ import annotations

from typing import Any

from course.check.base import fail, passed, running
from course.check.distilbert._functions import is_function
from course.check.modules import undisturbed


@undisturbed
def tokens(ids_to_tokens: Any) -> None:
    """One token for each id, as a flat list of text."""
    name = "tokens"
    from course.tokenizer import load_tokenizer

    is_function(name, ids_to_tokens)
    tokenizer = load_tokenizer()
    sentence = "Unbelievable, simply unputdownable: unbelievable, simply the most unputdownable of all!"
    ids = tokenizer(sentence, return_tensors="pt")["input_ids"]
    look = "input_ids has a batch axis, (1, tokens); one sentence is one row of it."
    with running(name, "a sentence of shape (1, tokens)", look):
        words = ids_to_tokens(tokenizer, ids)
    if isinstance(words, str):
        fail(
            name,
            "a list with one text for each id is expected.",
            "Yours is one text for the whole sentence.",
            "Decoding joins the pieces; look for a method that converts ids and leaves them apart.",
        )
    if not isinstance(words, list | tuple):
        fail(
            name,
            "a list of text is expected.",
            f"Yours is a {type(words).__name__}.",
            "A tokenizer's own method gives a list.",
        )
    if len(words) == 1 and isinstance(words[0], list | tuple):
        fail(name, "a flat list is expected.", "Yours is a list in a list.", look)
    wrong = next((word for word in words if not isinstance(word, str)), None)
    if wrong is not None:
        fail(
            name,
            "every entry is text.",
            f"One of yours is a {type(wrong).__name__}.",
            "Ids become tokens by a method of the tokenizer.",
        )
    _words(name, list(words), ids.shape[1])
    passed(name, "one token for each id", "[CLS] and [SEP] are there", "pieces of words stay apart")


def _words(name: str, words: list[str], count: int) -> None:
    if words[:1] != ["[CLS]"] or words[-1:] != ["[SEP]"]:
        fail(
            name,
            "the first token is [CLS], the last one [SEP].",
            f"Yours begins with {words[:1]} and ends with {words[-1:]}.",
            "Special tokens are tokens: leave none out.",
        )
    if len(words) != count:
        fail(
            name,
            f"{count} ids make {count} tokens.",
            f"Yours are {len(words)}.",
            "Pieces of one word are tokens of their own.",
        )
    if not any(word.startswith("##") for word in words):
        fail(
            name,
            "a piece that continues a word is marked with ##.",
            "None of yours is.",
            "Converting does that; decoding takes it away.",
        )
