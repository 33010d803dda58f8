"""The probability of a word at the masked place, from made-up logits of a masked language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Exercise, Judgement, Mistake, compare_case, named

from ..._attention import softmax

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    """Logits (tokens, vocabulary), twice ordinary ones, and once so large that their exponentials overflow."""
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
    """compute: logits, position of the mask, ids of the words -> what comes out in place of their probabilities"""
    return lambda case: {
        "probabilities": compute(
            case.inputs["logits"].astype(np.float64), case.config["position"], case.inputs["word_ids"]
        )
    }


MISTAKES = [
    Mistake("P-overflow", "Large logits give nan.",
            "torch's own softmax subtracts the largest logit first; exp alone overflows."),
    Mistake("P-list", "The probabilities are right, but they come as a list; a tensor is asked for.",
            "Pick all words at once: a tensor takes a list of places between its brackets."),
    Mistake("P-order", "The probabilities come in another order than the words.",
            "The first one belongs to the first word.", _wrong(lambda x, i, w: softmax(x[i])[w[::-1]])),
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


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    got = answers.arrays.get("probabilities")
    comparable = got is not None and got.shape == case.expected["probabilities"].shape and got.dtype.kind == "f"
    if comparable and not np.isfinite(got).all():
        return named(exercise, "P-overflow")
    judgement = compare_case(exercise, case, answers)
    tensor = answers.arrays.get("tensor")
    return named(exercise, "P-list") if judgement.earned == 1 and tensor is not None and not tensor else judgement


EXERCISE = Exercise(make, judge, MISTAKES, framework="torch")
