"""The causal mask: 1 where a token may look, 0 at what comes later."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, compare_case, variant

from ._answers import returning


def cases(generator: np.random.Generator) -> list[Case]:
    sizes = generator.permutation(np.arange(2, 13))[:3].tolist()
    return [Case({"n": n}, expected={"mask": np.tril(np.ones((1, n, n)))}) for n in sizes]


HEAD = "def causal_mask(n):"
returns = returning(HEAD)

MISTAKES = [
    Mistake("M10-inverted", "The mask is inverted: it allows what comes later, and only that.",
            "1 where a token may look, 0 where it may not.", returns("(1 - torch.tril(torch.ones(n, n)))[None]")),
    Mistake("M10-upper", "The ones are above the diagonal: each token sees what comes after it.",
            "Row i is what token i may see.", returns("torch.triu(torch.ones(n, n))[None]")),
    Mistake("M10-diagonal", "The diagonal is missing: a token may look at itself.", "Where does the triangle begin?",
            returns("torch.tril(torch.ones(n, n), -1)[None]")),
    Mistake("M10-ahead", "The triangle reaches one too far: each token sees the next one.",
            "Where does the triangle end?", returns("torch.tril(torch.ones(n, n), 1)[None]")),
    Mistake("M10-ones", "Everything is allowed.", "A token may not look at later ones.",
            returns("torch.ones(1, n, n)")),
    Mistake("M10-eye", "Each token sees itself alone.", "It may also look at what came before it.",
            returns("torch.eye(n)[None]")),
    Mistake("M10-shape", "The axis for the batch is missing.", "(1, n, n): one mask for all sentences of a batch.",
            returns("torch.tril(torch.ones(n, n))")),
    Mistake("M10-filled", "The mask holds minus infinity already: that is what the scores become, later.",
            "Ones and zeros.",
            returns("torch.zeros(n, n).masked_fill(torch.triu(torch.ones(n, n), 1) == 1, -math.inf)[None]")),
]  # fmt: skip

RIGHT = {
    "truth values": returns("torch.ones(1, n, n, dtype=torch.bool).tril()"),
    "comparison": variant(HEAD, """
        i = torch.arange(n)
        return (i[:, None] >= i)[None]
    """),
    "whole numbers": returns("torch.tril(torch.ones(n, n, dtype=torch.long)).unsqueeze(0)"),
    "loops": returns("torch.tensor([[[1.0 if j <= i else 0.0 for j in range(n)] for i in range(n)]])"),
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, framework="torch",
    shows=("ones up to the diagonal, zeros right of it",),
    axes={"mask": "1, n, n"},
)  # fmt: skip
