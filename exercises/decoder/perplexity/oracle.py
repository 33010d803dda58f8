"""Perplexity: the geometric mean of one over each probability, with the standard library."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, compare_case, without_side_effects

Array = np.ndarray
FORMULA = "e to the power of minus the mean log-probability"


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for words, concentration in ((7, 1.0), (12, 4.0), (300, 2.0)):  # 300: the product of so many is 0
        logs = np.log(generator.beta(concentration, 3.0, words) * 0.98 + 0.01).astype(np.float32)
        mean = math.fsum(logs.tolist()) / words
        cases.append(Case({}, {"logs": logs}, expected={"perplexity": np.array(math.exp(-mean))}))
    return cases


def _by(compute: Callable[[Array], Array]) -> Callable[[Case], Mapping[str, Array]]:
    def answers(case: Case) -> Mapping[str, Array]:
        with np.errstate(over="ignore", divide="ignore"):
            return {"perplexity": np.asarray(compute(case.inputs["logs"].astype(np.float64)))}

    return answers


MISTAKES = [
    Mistake("D6-sign", "The minus is missing: this is below 1.", FORMULA, _by(lambda x: np.exp(x.mean()))),
    Mistake("D6-loss", "This is the mean loss.", "Perplexity is e to its power.", _by(lambda x: -x.mean())),
    Mistake("D6-sum", "The log-probabilities were added, not averaged.", FORMULA, _by(lambda x: np.exp(-x.sum()))),
    Mistake("D6-base", "The loss is in natural logarithms, the power has base 2.", FORMULA,
            _by(lambda x: 2 ** -x.mean())),
    Mistake("D6-mean", "One over each probability was averaged.", "First the mean of the logarithms, then the power.",
            _by(lambda x: np.exp(-x).mean())),
    Mistake("D6-probability", "This is one over the mean probability.",
            "First the mean of the logarithms, then the power.", _by(lambda x: 1 / np.exp(x).mean())),
    Mistake("D6-median", "This takes the median.", FORMULA, _by(lambda x: np.exp(-np.median(x)))),
    Mistake("D6-first", "One word was left out.", "Every word that was predicted counts.",
            _by(lambda x: np.exp(-x[1:].mean()))),
    Mistake("D6-counted", "The sum was divided by one word too few.", "Divide by how many there are.",
            _by(lambda x: np.exp(-x.sum() / (len(x) - 1)))),
    Mistake("D6-bits", "This is the loss in bits.", FORMULA, _by(lambda x: -x.mean() / np.log(2))),
    *SIDE_EFFECTS[:1],
]  # fmt: skip

EXERCISE = Exercise(make, without_side_effects(compare_case), MISTAKES, framework="torch")
