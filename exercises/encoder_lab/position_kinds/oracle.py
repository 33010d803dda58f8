"""Four statements, three kinds of positions."""

from __future__ import annotations

from .._questions import Question, questions_exercise

POSITIONS = [
    Question(
        "a table of vectors, trained with the rest",
        "learned",
        {
            "sinusoidal": "sines and cosines are computed; nothing in them is trained.",
            "relative": "relative positions have no vector for a position, only something for a distance between two.",
        },
    ),
    Question(
        "the same pattern before and after training",
        "sinusoidal",
        {
            "learned": "a learned table begins with random numbers and is changed by training.",
            "relative": "here the attention itself is changed, with numbers of its own for the distances.",
        },
    ),
    Question(
        "what counts is how far two tokens are apart; the attention scores are changed",
        "relative",
        {
            "learned": "a learned vector belongs to one position and is added to the word, before any attention.",
            "sinusoidal": "the pattern belongs to one position and is added to the word, before any attention.",
        },
    ),
    Question(
        "no vector at all for a position beyond the longest sentence",
        "learned",
        {
            "sinusoidal": "sines and cosines are a formula, which can be evaluated for token 513 as well.",
            "relative": "two neighbours are one apart, however late they come.",
        },
    ),
]


EXERCISE = questions_exercise(POSITIONS)
