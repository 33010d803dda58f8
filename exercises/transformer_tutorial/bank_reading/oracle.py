"""The question on "bank": three readings of the demonstration, computed here from the course's own word vectors."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, shared_equally, text_array

from ..._attention import softmax

Array = np.ndarray
DEMO = "not what the demo shows."
KEYS = ["river", "bank", "cold", "water"]
HINTS = {
    "heaviest": "Read the weights off the demo's output; does a word meet itself among the keys?",
    "nearest": "Read it off the demo's list for the second context.",
    "spread": "Compare the largest weight with the smallest.",
}
#: Why an answer that people give is not the right one; for any other, ``DEMO``.
REASONS = {
    "heaviest": {
        "river": "river gives the word its sense, but weights come from dot products, and another key's is larger.",
        "cold": "of the four keys, cold has the smallest dot product with the query, and so the shortest bar.",
        "water": "water is close to what comes out at the end; among the weights another key's is larger.",
        "money": "money belongs to the first context. The weights asked for are those of river bank cold water.",
        "customer": "customer belongs to the first context. The weights asked for are those of river bank cold water.",
    },
    "nearest": {
        "river": "river is near the value, but not the nearest: another word comes before it in the demo's list.",
        "bank": "bank is the query. The value is a mixture of four vectors, and lies nearer to another word.",
        "cold": "cold weighs about as much as the other keys, but the mixture lies nearer to another word.",
        "money": "money is the nearest word to the value of the first context. The question is about the second one.",
        "customer": "customer is near the value of the first context. The question is about the second one.",
    },
    "spread": {
        "one takes nearly all": "then one bar would be close to 1. Here no key has even twice as much as another one.",
    },
}


def bank(keys: list[str]) -> tuple[Array, str]:
    """(weight of each key for the query "bank", the word nearest to the weighted sum)"""
    import torch

    from course.word_vectors import WordVectors

    vectors = WordVectors.load()
    query, rows = vectors["bank"].double().numpy(), np.stack([vectors[word].double().numpy() for word in keys])
    weights = softmax(len(query) ** -0.5 * rows @ query)
    value = torch.from_numpy(weights @ rows)
    return weights, vectors.similar(value, 1)[0][0]


def make(generator: np.random.Generator) -> list[Case]:
    weights, nearest = bank(KEYS)
    spread = "nearly equal" if weights.max() < 2 * weights.min() else "one takes nearly all"
    answers = {"heaviest": KEYS[int(weights.argmax())], "nearest": nearest, "spread": spread}
    return [Case({}, expected={f"text:{name}": text_array(answer) for name, answer in answers.items()})]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """A third of the points for each answer; spaces, capitals and quotes do not matter."""
    checks = []
    for name, hint in HINTS.items():
        want, said = Answers(case.expected).text(name), answers.text(name)
        got = " ".join(said.lower().split()).strip(".\"'") if isinstance(said, str) else ""
        reason = REASONS[name].get(got, DEMO)
        checks.append(Check(name, True) if got == want else Check(name, False, f"{name}: {reason}", hint))
    return shared_equally(checks)


EXERCISE = Exercise(make, judge)
