"""Parts of a sum on their way through a LayerNorm whose scale is held. Right: a matrix in float64 NumPy."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, Case, Exercise, Mistake, pure, variant

Array = np.ndarray


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for parts, dim, eps in ((4, 6, 1e-5), (3, 9, 0.5), (5, 4, 1e-12)):
        pieces = generator.normal(0.5, 1, (parts, dim)).astype(np.float32)
        pieces[0] *= 4
        gamma = generator.normal(1, 0.5, dim).astype(np.float32)
        beta = generator.normal(0, 1, dim).astype(np.float32)
        inputs = {"parts": pieces, "gamma": gamma, "beta": beta}
        made.append(Case({"eps": eps}, inputs, expected={"after": _after(pieces, gamma, eps)}))
    return made


def _after(parts: Array, gamma: Array, eps: float) -> Array:
    """The norm with held scale is a matrix: it centres, divides, and stretches."""
    exact = parts.astype(np.float64)
    dim = exact.shape[1]
    scale = np.sqrt(exact.sum(0).var() + eps)
    matrix = np.diag(gamma.astype(np.float64)) @ (np.eye(dim) - np.full((dim, dim), 1 / dim)) / scale
    return exact @ matrix.T


HEAD = "def through_norm(parts, norm):"
# Lines of the solution that mistakes change.
WHOLE = "parts.sum(dim=0)"
SCALE = "(whole.var(correction=0) + norm.eps).sqrt()"
CENTRED = "parts - parts.mean(dim=-1, keepdim=True)"
RESULT = "centred / scale * norm.weight"

MISTAKES = [
    Mistake(
        "N-own",
        "Each part is divided by its own standard deviation.",
        "All by the one of their sum.",
        (RESULT, "centred / (parts.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt() * norm.weight"),
    ),
    Mistake(
        "N-mean",
        "The parts keep their mean.",
        "LayerNorm takes off the mean: of each part its own.",
        (CENTRED, "parts"),
    ),
    Mistake(
        "N-whole-mean",
        "From each part the mean of the whole sum is taken off.",
        "Each part's own mean.",
        (CENTRED, "parts - whole.mean()"),
    ),
    Mistake("N-gamma", "The norm's weight is forgotten.", "Times norm.weight.", (RESULT, "centred / scale")),
    Mistake(
        "N-beta",
        "The norm's bias is in every part: added up, it counts once per part.",
        "It belongs to no part; it is added once at the end.",
        (RESULT, RESULT + " + norm.bias"),
    ),
    Mistake(
        "N-beta-share",
        "Each part has a share of the norm's bias.",
        "It belongs to no part: leave it out.",
        (RESULT, RESULT + " + norm.bias / len(parts)"),
    ),
    Mistake("N-eps", "eps is missing.", "Variance plus norm.eps, then the root.", (" + norm.eps", ""), share=0.5),
    Mistake("N-n-1", "The variance divides by n - 1.", "correction=0", ("correction=0", "correction=1"), share=0.5),
    Mistake(
        "N-variance",
        "The parts are divided by the variance.",
        "By its root.",
        (SCALE, "whole.var(correction=0) + norm.eps"),
    ),
    Mistake("N-average", "The scale is that of the parts' average.", "Of their sum.", (WHOLE, "parts.mean(dim=0)")),
    CHANGED.by((CENTRED, "parts.sub_(parts.mean(dim=-1, keepdim=True))")),
]

RIGHT = {
    "torch.var": [
        ("(whole.var(correction=0) + norm.eps).sqrt()", "torch.sqrt(torch.var(whole, unbiased=False) + norm.eps)")
    ],
    "the norm's own difference": variant(
        HEAD,
        """
        whole = parts.sum(0)
        spread = torch.sqrt(((whole - whole.mean()) ** 2).mean() + norm.eps)
        return torch.stack([(part - part.mean()) * norm.weight / spread for part in parts])
    """,
    ),
    "a matrix": variant(
        HEAD,
        """
        dim = parts.shape[1]
        scale = (parts.sum(dim=0).var(unbiased=False) + norm.eps).rsqrt()
        centre = torch.eye(dim) - 1 / dim
        return parts @ centre * norm.weight * scale
    """,
    ),
}

EXERCISE = Exercise(
    cases,
    pure,
    MISTAKES,
    right=RIGHT,
    accepted={"detach": "The parts are read, not trained: the scale is held."},
    framework="torch",
    shows=("one part out per part in", "with the norm's bias they sum to its output"),
    axes={"after": "parts, dim"},
)
