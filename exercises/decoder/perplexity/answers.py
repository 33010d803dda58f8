"""Right and wrong perplexities."""

from __future__ import annotations

from .._answers import functions, wrong_functions

HEAD = "def perplexity(log_probabilities):"
RIGHT = functions(HEAD, {
    "exp of the mean": "return torch.exp(-log_probabilities.mean())",
    "one over": "return 1 / log_probabilities.mean().exp()",
    "the sum, divided": "return (-log_probabilities.sum() / len(log_probabilities)).exp()",
    "a power of e": "return math.e ** (-torch.mean(log_probabilities))",
    "a number": "return math.exp(-sum(log_probabilities.double().tolist()) / len(log_probabilities))",
    "geometric mean of roots": "return (-log_probabilities / len(log_probabilities)).exp().prod()",
})  # fmt: skip

WRONG = wrong_functions(
    HEAD,
    ("no minus", "log_probabilities.mean().exp()", "D6-sign"),
    ("the loss", "-log_probabilities.mean()", "D6-loss"),
    ("the sum", "(-log_probabilities.sum()).exp()", "D6-sum"),
    ("a power of two", "2 ** -log_probabilities.mean()", "D6-base"),
    ("mean of inverses", "(-log_probabilities).exp().mean()", "D6-mean"),
    ("inverse of the mean", "1 / log_probabilities.exp().mean()", "D6-probability"),
    ("the median", "(-log_probabilities.median()).exp() if len(log_probabilities) % 2 else "
     "(-log_probabilities.quantile(0.5)).exp()", "D6-median"),
    ("the first one left out", "(-log_probabilities[1:].mean()).exp()", "D6-first"),
    ("one too few", "(-log_probabilities.sum() / (len(log_probabilities) - 1)).exp()", "D6-counted"),
    ("bits", "-log_probabilities.mean() / math.log(2)", "D6-bits"),
    ("underflow", "log_probabilities.exp().prod() ** (-1 / len(log_probabilities))", ""),
)  # fmt: skip
#: The check on gradients holds for tensors; a number is as right.
ACCEPTED = {"detach": "Perplexity is read, not trained: a plain number is a right answer, too."}
