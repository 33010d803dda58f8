"""Which side the parts of a decoder belong to."""

from __future__ import annotations

from .._questions import Question, questions_exercise

DECODER = [
    Question(
        "queries of the masked self-attention",
        "decoder",
        {"encoder": "this sublayer is the decoder's look at its own tokens; the other sequence comes in later."},
    ),
    Question(
        "keys and values of the masked self-attention",
        "decoder",
        {"encoder": "it is self-attention: queries, keys and values are of one sequence."},
    ),
    Question(
        "queries of the encoder-decoder attention",
        "decoder",
        {"encoder": "it is the sentence being written that has questions to the one that was read."},
    ),
    Question(
        "keys and values of the encoder-decoder attention",
        "encoder",
        {"decoder": "then the sentence that was read would reach the decoder nowhere."},
    ),
    Question(
        "the side that needs no causal mask",
        "encoder",
        {"decoder": "it writes token after token, and in training must not see those to come."},
    ),
]


EXERCISE = questions_exercise(DECODER)
