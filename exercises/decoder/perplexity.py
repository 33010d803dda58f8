"""Perplexity: the geometric mean of one over each probability, with the standard library."""

from __future__ import annotations

import math

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, pure, variant


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for words, concentration in ((7, 1.0), (12, 4.0), (300, 2.0)):  # 300: the product of so many is 0
        logs = np.log(generator.beta(concentration, 3.0, words) * 0.98 + 0.01).astype(np.float32)
        mean = math.fsum(logs.tolist()) / words
        made.append(Case({}, {"logs": logs}, expected={"perplexity": np.array(math.exp(-mean))}))
    return made


HEAD = "def perplexity(log_probabilities):"
FORMULA = "e to the power of minus the mean log-probability"
ORDER = "First the mean of the logarithms, then the power."
# What the solution returns, and what it is made of.
RESULT = "torch.exp(-log_probabilities.mean())"
MEAN = "log_probabilities.mean()"

MISTAKES = [
    Mistake("D6-sign", "The minus is missing: this is below 1.", FORMULA, ("-" + MEAN, MEAN)),
    Mistake("D6-loss", "This is the mean loss.", "Perplexity is e to its power.", (RESULT, "-" + MEAN)),
    Mistake("D6-sum", "The log-probabilities were added, not averaged.", FORMULA, ("mean", "sum")),
    Mistake("D6-base", "The loss is in natural logarithms, the power has base 2.", FORMULA, ("torch.exp(", "2 ** (")),
    Mistake("D6-mean", "One over each probability was averaged.", ORDER, (RESULT, "(-log_probabilities).exp().mean()")),
    Mistake("D6-probability", "This is one over the mean probability.", ORDER,
            (RESULT, "1 / log_probabilities.exp().mean()")),
    Mistake("D6-median", "This takes the median.", FORMULA, (MEAN, "log_probabilities.quantile(0.5)")),
    Mistake("D6-first", "One word was left out.", "Every word that was predicted counts.",
            (MEAN, "log_probabilities[1:].mean()")),
    Mistake("D6-counted", "The sum was divided by one word too few.", "Divide by how many there are.",
            (MEAN, "log_probabilities.sum() / (len(log_probabilities) - 1)")),
    Mistake("D6-bits", "This is the loss in bits.", FORMULA, (RESULT, "-log_probabilities.mean() / math.log(2)")),
    Mistake("", "underflow", "", (RESULT, "log_probabilities.exp().prod() ** (-1 / len(log_probabilities))")),
    CHANGED.by((MEAN, "log_probabilities.cumsum_(0)[-1] / len(log_probabilities)")),
]  # fmt: skip

RIGHT = {
    "exp of the mean": variant(HEAD, "return torch.exp(-log_probabilities.mean())"),
    "one over": [(RESULT, "1 / log_probabilities.mean().exp()")],
    "the sum, divided": [(RESULT, "(-log_probabilities.sum() / len(log_probabilities)).exp()")],
    "a power of e": [(RESULT, "math.e ** (-torch.mean(log_probabilities))")],
    "a number": [(RESULT, "math.exp(-sum(log_probabilities.double().tolist()) / len(log_probabilities))")],
    "geometric mean of roots": [(RESULT, "(-log_probabilities / len(log_probabilities)).exp().prod()")],
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch",
    shows=("e to the mean loss", "the length of the text does not matter"),
    accepted={"detach": "Perplexity is read, not trained: a plain number is a right answer, too."},
)  # fmt: skip
