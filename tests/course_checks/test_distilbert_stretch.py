"""The stretch goals of notebooks 1 and 2: right ways pass, wrong ones are told what is wrong."""

from typing import Any

import pytest

from course.check import distilbert as check
from course.reviews import load_reviews
from course.tokenizer import load_tokenizer
from tests.course_checks import distilbert_cells as cells
from tests.course_checks.test_distilbert_checks import said
from tests.grading import solution

PIECES = """
pieces, rest, mark = [], word, ""
while rest:
    length = len(rest)
    while length and mark + rest[:length] not in vocabulary:
        length -= 1
    if not length:
        return ["[UNK]"]
    pieces.append(mark + rest[:length])
    rest, mark = rest[length:], "##"
return pieces
"""
GRADIENT = """
a = torch.softmax(q @ k.mT, -1)
into = grad_context @ v.mT
jacobian = torch.diag_embed(a) - a[..., :, None] * a[..., None, :]
at_scores = (jacobian @ into[..., None])[..., 0]
return at_scores @ k, at_scores.mT @ q, a.mT @ grad_context
"""


def pieces(old: str = "", new: str = "") -> Any:
    assert old in PIECES
    return cells.function("word_pieces", PIECES.replace(old, new), "word, vocabulary")


def gradient(old: str = "", new: str = "") -> Any:
    assert old in GRADIENT
    return cells.function("attention_gradient", GRADIENT.replace(old, new), "q, k, v, grad_context")


def test_right_ways_pass(capsys: pytest.CaptureFixture[str]) -> None:
    check.word_pieces(pieces())
    check.attention_gradient(gradient())
    assert capsys.readouterr().out.count("✓") == 2


def test_a_stretch_goal_that_was_not_begun_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    for one, arguments in ((check.word_pieces, "word, vocabulary"), (check.attention_gradient, "q, k, v, g")):
        one(cells.function("stub", "raise NotImplementedError()", arguments))
    assert capsys.readouterr().out.count("not begun") == 2


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("length = len(rest)\n", "length = 1\n", "one piece"),
        ('"##"', '""', "with ## in front"),
        ('return ["[UNK]"]', 'return pieces + ["[UNK]"]', "what was found before is dropped"),
        ('return ["[UNK]"]', "return []", "unknown"),
        ("return pieces", 'return " ".join(pieces)', "a list of pieces"),
        ("not in vocabulary", "not in list(vocabulary.values())", "one piece"),
    ],
)
def test_wrong_pieces_are_named(old: str, new: str, words: str) -> None:
    assert words in said(check.word_pieces, pieces(old, new))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (" - a[..., :, None] * a[..., None, :]", "", "its first part alone gives"),
        ("jacobian @ into[..., None])[..., 0]", "a * (1 - a) * into)", "the diagonal of the Jacobian alone gives"),
        ("(jacobian @ into[..., None])[..., 0]", "into", "no softmax at all gives"),
        ("a.mT @ grad_context", "a @ grad_context", "the weights are transposed"),
        ("at_scores @ k, at_scores.mT @ q", "at_scores.mT @ q, at_scores @ k", "that of the other one"),
        ("at_scores @ k, ", "", "three gradients"),
        ("at_scores @ k,", "-at_scores @ k,", "each of its rows sums to 0"),
    ],
)
def test_a_wrong_gradient_is_named(old: str, new: str, words: str) -> None:
    assert words in said(check.attention_gradient, gradient(old, new))


def test_the_instructors_pieces_are_the_tokenizers_for_every_word_of_the_reviews() -> None:
    space: dict[str, Any] = {}
    exec(solution("distilbert", "1_embedding", "word_pieces_answer"), space)
    tokenizer = load_tokenizer()
    words = {
        word for text in load_reviews().test.texts for word in text.lower().split() if word.isascii() and word.isalpha()
    }
    vocabulary = tokenizer.get_vocab()
    assert len(words) > 1000
    assert [word for word in sorted(words) if space["word_pieces"](word, vocabulary) != tokenizer.tokenize(word)] == []
