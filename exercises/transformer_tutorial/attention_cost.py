"""The question on complexity, judged by how the student's four numbers grow, whatever their constant factors."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from ._rules import growths

#: (n, m, p): large, so that a +1 does not show, and in no simple ratio to each other.
SIZES = [(3000, 1100, 640), (5200, 1100, 640), (3000, 2900, 640), (3000, 1100, 1480), (7400, 4700, 900),
         (1900, 6100, 2100)]  # fmt: skip


def cases(generator: np.random.Generator) -> list[Case]:
    """Multiplications for scores and weighted sums, up to a constant factor (Vaswani et al. 2017, table 1: n² · d for
    one self-attention layer); the keys and values of earlier words are kept.
    """
    jittered = np.array([[int(size * generator.uniform(0.95, 1.05)) for size in sizes] for sizes in SIZES])
    n, m, p = jittered.T
    expected = {"encoder": n**2 * p, "decoder": m**2 * p, "cross": n * m * p, "next_word": (n + m) * p}
    return [Case(inputs={"sizes": jittered}, expected=expected)]


# The lines of the solution that mistakes change.
ENCODER, DECODER, CROSS, NEXT = "n * n * p", "m * m * p", "n * m * p", "(n + m) * p"


def wrong(name: str, share: float, *patches: tuple[str, str]) -> Mistake:
    """share: of the points, a quarter for each number that is right all the same"""
    return Mistake("", name, "", *patches, share=share)


MISTAKES = [
    wrong("dot products for free", 0, (ENCODER, "n * n"), (DECODER, "m * m"), (CROSS, "n * m"), (NEXT, "n + m")),
    wrong("the linear maps counted", 0.75, (ENCODER, "n * n * p + n * p * p")),
    wrong("one query per sentence", 0.5, (ENCODER, "n * p"), (DECODER, "m * p")),
    wrong("encoder asks the output", 0.75, (ENCODER, CROSS)),
    wrong("decoder and cross exchanged", 0.5, ("decoder = m * m * p", "decoder = n * m * p"),
          ("cross = n * m * p", "cross = m * m * p")),
    wrong("everything again for the next word", 0.75, (NEXT, "(n * m + m * m) * p")),
    wrong("the next word asks the input alone", 0.75, (NEXT, "n * p")),
    wrong("the square of p", 0.5, (ENCODER, "n * n * p * p"), (DECODER, "m * m * p * p")),
    wrong("cubes", 0.75, (ENCODER, "n ** 3")),
]  # fmt: skip

HEAD = "def attention_cost(n, m, p):"
RIGHT = {
    "scores and sums counted both": variant(HEAD, """
        return 2 * n * n * p, 2 * m * m * p, 2 * n * m * p, 2 * (n + m) * p
    """),
    "output words meet earlier ones": variant(HEAD, "return n**2 * p, p * m * (m + 1) / 2, p * m * n, p * (n + m + 1)"),
    "summed up word by word": variant(HEAD, """
        decoder = sum(p * i for i in range(1, m + 1))
        cross = sum(p * n for word in range(m))
        return n * (n * p), decoder, cross, n * p + m * p
    """),
    "of arrays": variant(HEAD, """
        import numpy as np
        sizes = np.array([[n, n], [m, m], [n, m], [n + m, 1]], dtype=np.float64)
        return tuple(p * sizes.prod(axis=1))
    """),
    "half of each": variant(HEAD, "return [p / 2 * x for x in (n * n, m * m, n * m, n + m)]"),
}  # fmt: skip

EXERCISE = Exercise(
    cases, growths, MISTAKES, right=RIGHT, framework="torch",
    shows=("four positive numbers", "each grows as the pairs of tokens that meet"),
)  # fmt: skip
