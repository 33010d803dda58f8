"""The bytes of a cache, counted: NumPy makes the arrays, one for keys and one for values of each layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

Array = np.ndarray
TYPES = {2: np.float16, 4: np.float32, 8: np.float64}
#: layers, dim, heads, kv_heads, tokens, batch, bytes of a number
SIZES = ((3, 60, 10, 5, 7, 11, 4), (5, 48, 6, 2, 13, 3, 8), (7, 36, 12, 3, 9, 4, 4), (6, 64, 4, 4, 5, 6, 4))
NAMES = ("layers", "dim", "heads", "kv_heads", "tokens", "batch", "bytes_per_number")


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for numbers in SIZES:
        sizes = dict(zip(NAMES, numbers, strict=True))
        sizes["tokens"] = int(generator.integers(14, 60))
        sizes["batch"] = int(generator.integers(12, 40))
        shape = (sizes["batch"], sizes["kv_heads"], sizes["tokens"], sizes["dim"] // sizes["heads"])
        made = [np.empty(shape, TYPES[sizes["bytes_per_number"]]) for _ in range(sizes["layers"]) for _ in "kv"]
        cases.append(Case(sizes, {}, expected={"memory": np.array(float(sum(array.nbytes for array in made)))}))
    return cases


def _by(factor: Callable[..., float]) -> Callable[[Case], Mapping[str, Array]]:
    """factor: of the sizes -> how many times the right number comes out"""

    def answers(case: Case) -> Mapping[str, Array]:
        sizes: dict[str, Any] = case.config
        return {"memory": case.expected["memory"] * factor(sizes)}

    return answers


MISTAKES = [
    Mistake("K3-one", "Half of the cache is missing.", "Keys and values are kept.", _by(lambda s: 0.5)),
    Mistake("K3-three", "This counts the queries as well.", "Only keys and values are kept.", _by(lambda s: 1.5)),
    Mistake("K3-heads", "This counts the query heads.", "What is kept has kv_heads heads.",
            _by(lambda s: s["heads"] / s["kv_heads"])),
    Mistake("K3-dim", "Each head is counted with dim numbers.", "A head has dim / heads of them.",
            _by(lambda s: s["heads"])),
    Mistake("K3-layers", "One layer is counted.", "Each layer has a cache of its own.", _by(lambda s: 1 / s["layers"])),
    Mistake("K3-batch", "One text is counted.", "Each text of the batch has a cache.", _by(lambda s: 1 / s["batch"])),
    Mistake("K3-tokens", "One token is counted.", "All tokens are kept.", _by(lambda s: 1 / s["tokens"])),
    Mistake("K3-square", "The memory grows with the square of the tokens.", "Weights between tokens are not kept.",
            _by(lambda s: s["tokens"])),
    Mistake("K3-numbers", "These are numbers, not bytes.", "A number takes bytes_per_number.",
            _by(lambda s: 1 / s["bytes_per_number"])),
    Mistake("K3-bits", "These are bits.", "Eight of them are a byte.", _by(lambda s: 8)),
    Mistake("K3-kib", "These are KiB.", "Bytes are asked for.", _by(lambda s: 1 / 1024)),
]  # fmt: skip

EXERCISE = Exercise(make, mistakes=MISTAKES, rtol=1e-9, atol=1e-6)
