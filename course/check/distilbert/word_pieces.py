"""The stretch goal of notebook 1: a word is cut into pieces of the vocabulary. Ungraded."""

from collections.abc import Mapping
from typing import Any

from course.check.base import fail, passed, running
from course.check.modules import undisturbed
from course.check.stretch import begun

NAME = "word_pieces"
#: A vocabulary in which each way to go wrong shows.
TOKENS = ("a", "ab", "abc", "b", "##b", "##c", "##cd", "##d", "##bcd", "c", "cd")
SMALL = {token: id for id, token in enumerate(TOKENS)}
#: What the rule makes of words with it, and where to look when something else came.
EXPECTED = {
    "ab": (["ab"], "A word that has an entry is one piece."),
    "abcd": (["abc", "##d"], "The longest beginning counts; the rest is looked up with ## in front."),
    "acd": (["a", "##cd"], "The rest is looked up with ## in front, and again the longest beginning counts."),
    "cb": (["c", "##b"], "Within a word only entries with ## count."),
    "abx": (["[UNK]"], "Where no piece fits, the whole word is unknown, and what was found before is dropped."),
    "xab": (["[UNK]"], "Where no piece fits, the whole word is unknown."),
}
WORDS = ("movie", "unputdownable", "disappoints", "overacting", "tokenization", "heartstrings", "xylophonist", "zzzq")


@undisturbed
def word_pieces(function: Any) -> None:
    """The pieces of a small vocabulary, then those of the course's own tokenizer."""
    from course.tokenizer import load_tokenizer

    if not begun(NAME, function, "ab", SMALL):
        return
    for word, (wanted, look) in EXPECTED.items():
        pieces = _pieces(function, word, SMALL)
        if pieces != wanted:
            fail(NAME, f"with the vocabulary {' '.join(SMALL)}, “{word}” is {wanted}.", f"Yours is {pieces}.", look)
    tokenizer = load_tokenizer()
    vocabulary = tokenizer.get_vocab()
    for word in WORDS:
        pieces, wanted = _pieces(function, word, vocabulary), tokenizer.tokenize(word)
        if pieces != wanted:
            look = "The longest beginning first, and the same again with the rest."
            fail(NAME, f"the tokenizer cuts “{word}” into {wanted}.", f"Yours is {pieces}.", look)
    passed(NAME, "the longest piece first", "unknown words", "the same pieces as the tokenizer's")


def _pieces(function: Any, word: str, vocabulary: Mapping[str, int]) -> list[str]:
    with running(NAME, f"the word “{word}”", "Print the rest of the word in each step: does it get shorter?"):
        pieces = function(word, dict(vocabulary))
    if not isinstance(pieces, list | tuple):
        fail(NAME, "a list of pieces is expected.", f"Yours is a {type(pieces).__name__}.", "One text for each piece.")
    return list(pieces)
