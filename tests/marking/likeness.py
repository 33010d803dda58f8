"""``python -m tests.marking.likeness``: how often an answer's nearest neighbour is of the same kind, by each encoder.

The answers are our own, in ``answers.toml``; nothing was fitted to them but the two thresholds.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograder.marking.groups import BY_WORDS, Likeness, Similarities, TextEncoder, apart, clusters
from tests.grading import ROOT

QUESTIONS: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "answers.toml").read_text(encoding="utf-8"))[
    "question"
]


def labelled(question: dict[str, Any]) -> tuple[list[str], list[str]]:
    """All texts, and the kind of each."""
    pairs = [(text, kind) for kind, texts in question["kinds"].items() for text in texts]
    return [text for text, _ in pairs], [kind for _, kind in pairs]


def nearest_of_same_kind(kinds: Sequence[str], similarities: Similarities) -> float:
    """How often the most similar other text is of a text's own kind, 0 to 1."""
    others = similarities.copy()
    np.fill_diagonal(others, -np.inf)
    nearest = others.argmax(axis=1)
    return float(np.mean([kinds[index] == kinds[other] for index, other in enumerate(nearest)]))


def measured(likeness: Likeness) -> float:
    found = []
    for question in QUESTIONS:
        texts, kinds = labelled(question)
        found.append(nearest_of_same_kind(kinds, likeness.similarities(texts)))
    return float(np.mean(found))


def by_chance() -> float:
    found = []
    for question in QUESTIONS:
        _, kinds = labelled(question)
        found.append(np.mean([(kinds.count(kind) - 1) / (len(kinds) - 1) for kind in kinds]))
    return float(np.mean(found))


def groups(likeness: Likeness) -> tuple[int, int, int]:
    """How many groups there are, how many with several texts, and how many of these are of one kind."""
    number = several = pure = 0
    for question in QUESTIONS:
        texts, kinds = labelled(question)
        for members in clusters(apart(likeness.similarities(texts), texts), likeness.threshold):
            number += 1
            several += len(members) > 1
            pure += len(members) > 1 and len({kinds[index] for index in members}) == 1
    return number, several, pure


def main() -> None:
    count = sum(len(labelled(question)[0]) for question in QUESTIONS)
    print(f"{count} answers to {len(QUESTIONS)} questions, {len(QUESTIONS[0]['kinds'])} kinds each")
    print("| compared by | nearest of the same kind | groups | with several texts | of these of one kind |")
    print("|---|---|---|---|---|")
    for likeness in (BY_WORDS, TextEncoder(ROOT, "course.answer_vectors").likeness):
        number, several, pure = groups(likeness)
        print(f"| {likeness.name} | {measured(likeness):.0%} | {number} | {several} | {pure} |")
    print(f"| chance | {by_chance():.0%} | | | |")


if __name__ == "__main__":
    main()
