"""How far the tokens' vectors are from where they were, layer by layer."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, compare_case, variant

from ._answers import returning
from ._arrays import normal


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for layers, tokens, size in ((3, 6, 5), (4, 5, 7)):
        order = _cycle(generator, tokens)
        original = normal(generator, layers, tokens, size)
        mixed = original[:, order] + normal(generator, layers, tokens, size, size=0.5)
        exact = np.linalg.norm(original[:, order].astype(np.float64) - mixed.astype(np.float64), axis=-1).mean(-1)
        inputs = {"original": original, "shuffled": mixed, "order": np.array(order)}
        made.append(Case({}, inputs, expected={"moved": exact}))
    return made


def _cycle(generator: np.random.Generator, tokens: int) -> list[int]:
    """An order that is not its own inverse, so that going back and forth are two things."""
    while True:
        order = generator.permutation(tokens)
        if not np.array_equal(order[order], np.arange(tokens)):
            return [int(place) for place in order]


HEAD = "def moved(original, shuffled, order):"
returns = returning(HEAD)
DIFFERENCE = "(original[:, order] - shuffled)"
LENGTH = "The length of a difference is its norm."
FAR = "How far one is from the other: the length of their difference."
ONCE = "original and shuffled are two results: each stands once in the difference."

MISTAKES = [
    Mistake("moved-places", "Positions were compared, not tokens: there are two different words at position i now.",
            "Which token of the original is token i of the shuffled sentence?",
            returns("(original - shuffled).norm(dim=-1).mean(-1)")),
    Mistake("moved-back", "The order was applied in the wrong direction.",
            "Token i of the shuffled sentence is token order[i] of the original.",
            returns("(original - shuffled[:, order]).norm(dim=-1).mean(-1)")),
    Mistake("moved-sum", "The distances were added up, not averaged over the tokens.", "A mean over the tokens.",
            returns(f"{DIFFERENCE}.norm(dim=-1).sum(-1)")),
    Mistake("moved-max", "That is the token that moved farthest.", "A mean over the tokens.",
            returns(f"{DIFFERENCE}.norm(dim=-1).amax(-1)")),
    Mistake("moved-square", "The root is missing: these are squared distances.", LENGTH,
            returns(f"{DIFFERENCE}.pow(2).sum(-1).mean(-1)")),
    Mistake("moved-whole", "All tokens were taken for one long vector.", "A distance for each token, then their mean.",
            returns(f"{DIFFERENCE}.flatten(1).norm(dim=-1)")),
    Mistake("moved-signed", "Differences were averaged with their signs: they cancel.", LENGTH,
            returns(f"{DIFFERENCE}.mean((1, 2))")),
    Mistake("moved-absolute", "That is the mean size of a single number's difference.", LENGTH,
            returns(f"{DIFFERENCE}.abs().mean((1, 2))")),
    Mistake("moved-layers", "The layers were averaged, not the tokens.", "One number for every layer.",
            returns(f"{DIFFERENCE}.norm(dim=-1).mean(0)")),
    Mistake("moved-added", "The two vectors of a token were added.", FAR,
            returns("(original[:, order] + shuffled).norm(dim=-1).mean(-1)")),
    Mistake("moved-original", "These are the lengths of the original vectors: nothing was subtracted.", FAR,
            returns("original[:, order].norm(dim=-1).mean(-1)")),
    Mistake("moved-shuffled", "These are the lengths of the shuffled sentence's vectors: nothing was subtracted.", FAR,
            returns("shuffled.norm(dim=-1).mean(-1)")),
    Mistake("moved-itself", "A sentence was compared with itself in another order.", ONCE,
            returns("(original[:, order] - original).norm(dim=-1).mean(-1)")),
    Mistake("moved-itself-shuffled", "The shuffled sentence was compared with itself in another order.", ONCE,
            returns("(shuffled[:, order] - shuffled).norm(dim=-1).mean(-1)")),
    Mistake("moved-columns", "The lengths were taken along the tokens.", "A token's vector lies along the last axis.",
            returns(f"{DIFFERENCE}.norm(dim=1).mean(-1)")),
]  # fmt: skip

RIGHT = {
    "put back": variant(HEAD, """
        back = torch.empty_like(shuffled)
        back[:, order] = shuffled
        return (original - back).norm(dim=-1).mean(1)
    """),
    "inverse": returns("(original - shuffled[:, order.argsort()]).pow(2).sum(-1).sqrt().mean(-1)"),
    "a list": returns(f"{DIFFERENCE}.norm(dim=-1).mean(-1).tolist()"),
    "linalg": returns("torch.linalg.vector_norm(original[:, order] - shuffled, dim=2).mean(dim=1)"),
    "loop": variant(HEAD, """
        places = list(enumerate(order.tolist()))
        sums = [sum((a[j] - b[i]).norm() for i, j in places) for a, b in zip(original, shuffled)]
        return torch.stack(sums) / len(order)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, framework="torch",
    accepted={"moved-71edc23c": "A list of the same numbers is as right."},
    shows=("tokens are compared with themselves", "averaged over the tokens"),
    axes={"moved": "batch"},
)  # fmt: skip
