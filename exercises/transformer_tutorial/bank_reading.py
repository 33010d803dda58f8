"""The query "bank" asks a context of one's own: which key weighs most, by how much, and where the value lies."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, SampleAnswer

from ._bank import (
    BANK_INVERSE,
    BANK_LEFT,
    BANK_QUERY,
    BANK_SCORES,
    BANK_SMALLEST,
    BANK_UNSCALED,
    bank_reading,
)

#: How many words a context may have.
COUNTS = (5, 8)


def cases(generator: np.random.Generator) -> list[Case]:
    return [Case(expected={"counts": np.array(COUNTS)})]


# The lines of the solution that mistakes change.
HEAVIEST = "words[weights.argmax()]"
SHARE = "weights.max() / weights.min()"
PRODUCTS = "(vectors.of(words) @ vectors['bank'])"
NEAREST = "F.cosine_similarity(vectors.of(words), value, dim=1)"

MISTAKES = [
    BANK_SMALLEST.by((HEAVIEST, "words[weights.argmin()]")),
    BANK_INVERSE.by((SHARE, "weights.min() / weights.max()")),
    BANK_SCORES.by((SHARE, f"{PRODUCTS}.max() / {PRODUCTS}.min()")),
    BANK_UNSCALED.by((SHARE, f"{PRODUCTS}.softmax(0).max() / {PRODUCTS}.softmax(0).min()")),
    BANK_QUERY.by((NEAREST, NEAREST.replace("value", "vectors['bank']"))),
]  # fmt: skip

BY_HAND = """
words = ["shore", "water", "boat", "mud", "grass"]
context = " ".join(words)
scores = [float(vectors["bank"] @ vectors[word]) / 384 ** 0.5 for word in words]
powers = [math.exp(score) for score in scores]
shares = [power / sum(powers) for power in powers]
heaviest = max(zip(shares, words))[1]
ratio = round(max(shares) / min(shares), 3)
value = sum(share * vectors[word] for share, word in zip(shares, words))
nearest = max(words, key=lambda word: float(F.cosine_similarity(vectors[word], value, dim=0)))
"""
RIGHT = {
    "by hand": BY_HAND,
    "a list of similar words": [
        (f"words[{NEAREST}.argmax()]", "next(word for word, _ in vectors.similar(value, 21000) if word in words)"),
    ],
    "typed in": 'context = "loan deposit money customer interest"\nheaviest, nearest, ratio = "money", "loan", 1.023\n',
    "capitals, a tensor": [(HEAVIEST, HEAVIEST + ".upper()"), (f"float({SHARE})", SHARE)],
}


def _typed(name: str, share: float, context: str, heaviest: str, ratio: str, nearest: str) -> SampleAnswer:
    text = f"context = {context}\nheaviest, ratio, nearest = {heaviest}, {ratio}, {nearest}\n"
    return SampleAnswer(name, text, share=share)


OWN = '"loan deposit money customer interest"'
WRONG = [
    _typed("another word is the heaviest", BANK_LEFT, OWN, '"deposit"', "1.0228", '"loan"'),
    _typed("another word is nearest, and a difference", 1 / 3, OWN, '"money"', "0.0046", '"customer"'),
    _typed("no number", BANK_LEFT, OWN, '"money"', '"a little"', '"loan"'),
    _typed("the query in the context", 0, '"bank customer need money river"', '"bank"', "1.08", '"money"'),
    _typed("too few words", 0, '"river cold water"', '"river"', "1.02", '"water"'),
    _typed("a word twice", 0, '"loan loan money customer interest"', '"money"', "1.02", '"loan"'),
    _typed("an unknown word", 0, '"loan deposit money customer cashier"', '"money"', "1.02", '"loan"'),
    _typed("a list of words", 0, '["loan", "deposit", "money", "customer", "interest"]', '"money"', "1.0228", '"loan"'),
]  # fmt: skip

EXERCISE = Exercise(cases, bank_reading, MISTAKES, right=RIGHT, wrong=WRONG)
