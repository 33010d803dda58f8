"""Four statements, three kinds of positions."""

from __future__ import annotations

from autograder.exercise import all_choices

from .._choices import statements

QUESTIONS = {
    "a table of vectors, trained with the rest": ("learned", {
        "sinusoidal": "sines and cosines are computed; nothing in them is trained.",
        "relative": "relative positions have no vector for a position, only something for a distance between two.",
    }),
    "the same pattern before and after training": ("sinusoidal", {
        "learned": "a learned table begins with random numbers and is changed by training.",
        "relative": "here the attention itself is changed, with numbers of its own for the distances.",
    }),
    "what counts is how far two tokens are apart; the attention scores are changed": ("relative", {
        "learned": "a learned vector belongs to one position and is added to the word, before any attention.",
        "sinusoidal": "the pattern belongs to one position and is added to the word, before any attention.",
    }),
    "no vector at all for a position beyond the longest sentence": ("learned", {
        "sinusoidal": "sines and cosines are a formula, which can be evaluated for token 513 as well.",
        "relative": "two neighbours are one apart, however late they come.",
    }),
}  # fmt: skip

EXERCISE = statements("position_kinds", QUESTIONS, all_choices)
