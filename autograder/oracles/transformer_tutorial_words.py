"""References for the question on "bank", computed from the course's word vectors, and for ``P``, on stored logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case, text_array
from autograder.oracles.attention import softmax

Array = np.ndarray

# --- bank -------------------------------------------------------------------------------------------------------------

KEYS = ["river", "bank", "cold", "water"]


def bank(keys: list[str], factor: float | None = None) -> tuple[Array, str]:
    """(weight of each key for the query "bank", the word nearest to the final value), from mini's word vectors"""
    import torch

    from course.word_vectors import WordVectors

    vectors = WordVectors.load()
    query, rows = vectors["bank"].double().numpy(), np.stack([vectors[word].double().numpy() for word in keys])
    weights = softmax((len(query) ** -0.5 if factor is None else factor) * rows @ query)
    value = torch.from_numpy(weights @ rows)
    return weights, vectors.similar(value, 1)[0][0]


def _make_bank(generator: np.random.Generator) -> list[Case]:
    weights, nearest = bank(KEYS)
    spread = "nearly equal" if weights.max() < 2 * weights.min() else "one takes nearly all"
    answers = {"heaviest": KEYS[int(weights.argmax())], "nearest": nearest, "spread": spread}
    return [Case({}, expected={f"text:{name}": text_array(answer) for name, answer in answers.items()})]


BANK_HINTS = {
    "heaviest": "Read the weights off the demo's output; does a word meet itself among the keys?",
    "nearest": "Read it off the demo's list for the second context.",
    "spread": "Compare the largest weight with the smallest.",
}


def judge_bank(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """A third of the points for each answer; spaces and capitals do not matter."""
    checks = []
    for name, hint in BANK_HINTS.items():
        want = Answers(case.expected).text(name)
        got = answers.text(name)
        right = isinstance(got, str) and " ".join(got.lower().split()).strip(".\"'") == want
        checks.append(Check(name, True) if right else Check(name, False, f"{name}: not what the demo shows.", hint))
    return Judgement(checks, sum(check.passed for check in checks) / len(checks))


# --- P ----------------------------------------------------------------------------------------------------------------


def _make_probability(generator: np.random.Generator) -> list[Case]:
    """Logits of a made-up masked language model: (tokens, vocabulary), ordinary ones and one set that overflows."""
    import torch

    cases = []
    for tokens, vocabulary, position, words, shift in (
        (7, 19, 3, [4, 11], 0.0),
        (5, 23, 4, [2, 17, 8], 0.0),
        (6, 13, 2, [9, 5], 800.0),
    ):
        logits = (generator.normal(0, 2, (tokens, vocabulary)) + shift).astype(np.float32)
        row = torch.from_numpy(logits[position].astype(np.float64)).softmax(0).numpy()
        inputs = {"logits": logits, "word_ids": np.array(words)}
        cases.append(Case({"position": position}, inputs, expected={"probabilities": row[words]}))
    return cases


def _wrong(compute: Callable[[Array, int, Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    return lambda case: {
        "probabilities": compute(
            case.inputs["logits"].astype(np.float64), case.config["position"], case.inputs["word_ids"]
        )
    }


PROBABILITY_MISTAKES = [
    Mistake("P-logits", "These are the logits themselves.", "A softmax makes them probabilities.",
            _wrong(lambda x, i, w: x[i, w])),
    Mistake("P-words", "The softmax ran over the given words alone, so that they sum to 1.",
            "All words of the vocabulary compete for the place.", _wrong(lambda x, i, w: softmax(x[i, w]))),
    Mistake("P-positions", "The softmax ran over the positions of the sentence.",
            "For the masked place, the words of the vocabulary compete.", _wrong(lambda x, i, w: softmax(x, 0)[i, w])),
    Mistake("P-first", "These are the probabilities at the first place.", "Which row belongs to the mask?",
            _wrong(lambda x, i, w: softmax(x[0])[w])),
    Mistake("P-before", "These are the probabilities one place before the mask.", "Which row belongs to the mask?",
            _wrong(lambda x, i, w: softmax(x[i - 1])[w])),
    Mistake("P-logarithm", "These are logarithms of probabilities.", "Leave the logarithm out.",
            _wrong(lambda x, i, w: np.log(softmax(x[i]))[w])),
    Mistake("P-sigmoid", "Each logit went through a sigmoid by itself.", "The words compete: their sum is 1.",
            _wrong(lambda x, i, w: 1 / (1 + np.exp(-x[i, w])))),
    Mistake("P-mean", "The probabilities of all places were averaged.", "One row belongs to the mask.",
            _wrong(lambda x, i, w: softmax(x, 1).mean(0)[w])),
    Mistake("P-all", "The softmax ran over all places and words together.", "Choose the mask's row first.",
            _wrong(lambda x, i, w: softmax(x.reshape(-1)).reshape(x.shape)[i, w])),
    Mistake("P-percent", "These are percentages.", "Probabilities lie between 0 and 1.",
            _wrong(lambda x, i, w: 100 * softmax(x[i])[w])),
]  # fmt: skip


def judge_probability(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got = answers.arrays.get("probabilities")
    if got is not None and got.shape == case.expected["probabilities"].shape and got.dtype.kind == "f":
        if not np.isfinite(got).all():
            return Judgement(
                [
                    Check(
                        "P-overflow",
                        False,
                        "Large logits give nan.",
                        "torch's own softmax subtracts the largest logit first; exp alone overflows.",
                        "P-overflow",
                    )
                ]
            )
        if len(got) > 1 and np.allclose(got[::-1], case.expected["probabilities"], atol=1e-5, rtol=1e-4):
            return Judgement(
                [
                    Check(
                        "P-order",
                        False,
                        "The probabilities come in another order than the words.",
                        "The first one belongs to the first word.",
                        "P-order",
                    )
                ]
            )
    return compare_case(exercise, case, answers)


EXERCISES = [
    Exercise(_make_bank, judge_bank, framework="numpy", slug="transformer_tutorial/bank_reading"),
    Exercise(
        _make_probability,
        judge_probability,
        PROBABILITY_MISTAKES,
        framework="torch",
        slug="transformer_tutorial/masked_word_probability",
    ),
]
