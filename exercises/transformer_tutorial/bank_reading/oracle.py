"""The question on "bank": three readings of the demonstration, computed here from the course's own word vectors."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, shared_equally, text_array

from ..._attention import softmax

Array = np.ndarray
KEYS = ["river", "bank", "cold", "water"]
HINTS = {
    "heaviest": "Read the weights off the demo's output; does a word meet itself among the keys?",
    "nearest": "Read it off the demo's list for the second context.",
    "spread": "Compare the largest weight with the smallest.",
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
        want, got = Answers(case.expected).text(name), answers.text(name)
        if isinstance(got, str) and " ".join(got.lower().split()).strip(".\"'") == want:
            checks.append(Check(name, True))
        else:
            checks.append(Check(name, False, f"{name}: not what the demo shows.", hint))
    return shared_equally(checks)


EXERCISE = Exercise(make, judge)
