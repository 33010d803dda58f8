"""Right and wrong counts. Whatever the visible check accepts may still grow in the wrong way."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import Change, body
from .._answers import wrong as changed


def right(name: str, lines: str) -> SampleAnswer:
    return SampleAnswer(name, "def attention_cost(n, m, p):\n" + body(lines))


def wrong(name: str, points: float, *changes: Change, unseen: bool = False) -> SampleAnswer:
    return changed(name, "", *changes, points=points, unseen=unseen)


RIGHT = [
    right("scores and sums counted both", "return 2 * n * n * p, 2 * m * m * p, 2 * n * m * p, 2 * (n + m) * p"),
    right("output words meet earlier ones", "return n**2 * p, p * m * (m + 1) / 2, p * m * n, p * (n + m + 1)"),
    right("summed up word by word", """
        decoder = sum(p * i for i in range(1, m + 1))
        cross = sum(p * n for word in range(m))
        return n * (n * p), decoder, cross, n * p + m * p
    """),
    right("of arrays", """
        import numpy as np
        sizes = np.array([[n, n], [m, m], [n, m], [n + m, 1]], dtype=np.float64)
        return tuple(p * sizes.prod(axis=1))
    """),
    right("half of each", "return [p / 2 * x for x in (n * n, m * m, n * m, n + m)]"),
]  # fmt: skip

ENCODER, DECODER, CROSS, NEXT = "n * n * p", "m * m * p", "n * m * p", "(n + m) * p"
WRONG = [
    wrong("dot products for free", 0, (ENCODER, "n * n"), (DECODER, "m * m"), (CROSS, "n * m"), (NEXT, "n + m")),
    wrong("the linear maps counted", 1.5, (ENCODER, "n * n * p + n * p * p")),
    wrong("one query per sentence", 1, (ENCODER, "n * p"), (DECODER, "m * p"), unseen=True),
    wrong("encoder asks the output", 1.5, (ENCODER, CROSS)),
    wrong("decoder and cross exchanged", 1, ("decoder = m * m * p", "decoder = n * m * p"),
          ("cross = n * m * p", "cross = m * m * p")),
    wrong("everything again for the next word", 1.5, (NEXT, "(n * m + m * m) * p"), unseen=True),
    wrong("the next word asks the input alone", 1.5, (NEXT, "n * p"), unseen=True),
    wrong("the square of p", 1, (ENCODER, "n * n * p * p"), (DECODER, "m * m * p * p")),
    wrong("cubes", 1.5, (ENCODER, "n ** 3")),
]  # fmt: skip
