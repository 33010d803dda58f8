"""The question on complexity, judged by how the student's four numbers grow, whatever their constant factors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, shared_equally

Array = np.ndarray

#: (n, m, p): large, so that a +1 does not show, and in no simple ratio to each other.
SIZES = [(3000, 1100, 640), (5200, 1100, 640), (3000, 2900, 640), (3000, 1100, 1480), (7400, 4700, 900),
         (1900, 6100, 2100)]  # fmt: skip
TOLERANCE = 0.02

GraderMemoryGuard = Callable[[Array, Array, Array], Array]
#: Multiplications for scores and weighted sums, up to a constant factor (Vaswani et al. 2017, table 1: n² · d for
#: one self-attention layer); the keys and values of earlier words are kept.
GROWTHS: Mapping[str, GraderMemoryGuard] = {
    "encoder": lambda n, m, p: n**2 * p,
    "decoder": lambda n, m, p: m**2 * p,
    "cross": lambda n, m, p: n * m * p,
    "next_word": lambda n, m, p: (n + m) * p,
}
WORDS = {
    "encoder": "the encoder's self-attention",
    "decoder": "the decoder's self-attention",
    "cross": "the attention from output words to input words",
    "next_word": "one more output word",
}


def make(generator: np.random.Generator) -> list[Case]:
    jittered = [[int(size * generator.uniform(0.95, 1.05)) for size in sizes] for sizes in SIZES]
    n, m, p = (np.array(column, dtype=np.float64) for column in zip(*jittered, strict=True))
    expected = {name: growth(n, m, p) for name, growth in GROWTHS.items()}
    return [Case(inputs={"sizes": np.array(jittered)}, expected=expected)]


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """A quarter of the points for each part."""
    sizes = case.inputs["sizes"].astype(np.float64)
    return shared_equally(
        [_check_part(name, answers.arrays.get(name), want, sizes) for name, want in case.expected.items()]
    )


def _check_part(name: str, got: Array | None, want: Array, sizes: Array) -> Check:
    if got is None or got.shape != want.shape or got.dtype.kind not in "fiu":
        return Check(name, False, f"{WORDS[name]}: no numbers came.", "Return four numbers.")
    numbers = got.astype(np.float64)
    if not np.isfinite(numbers).all() or (numbers <= 0).any():
        return Check(name, False, f"{WORDS[name]}: a count of multiplications is positive and finite.")
    ratio = numbers / want
    if ratio.max() / ratio.min() <= 1 + TOLERANCE:
        return Check(name, True)
    return Check(name, False, f"{WORDS[name]}: {_growth(numbers, sizes)}", _hint(name, numbers, sizes))


def _powers(numbers: Array, sizes: Array) -> tuple[Array, bool]:
    """Exponents of n, m and p that explain the numbers best, and whether they explain them exactly."""
    table = np.column_stack([np.log(sizes), np.ones(len(sizes))])
    fitted, *_ = np.linalg.lstsq(table, np.log(numbers), rcond=None)
    exact = bool(np.abs(table @ fitted - np.log(numbers)).max() < 0.01)
    return fitted[:3], exact


def _growth(numbers: Array, sizes: Array) -> str:
    """How the numbers grow, in words."""
    powers, exact = _powers(numbers, sizes)
    if not exact:
        return "it does not grow as it should."
    factors = [f"{name}^{power:.3g}" for name, power in zip("nmp", powers.round(2), strict=True) if abs(power) > 0.02]
    return f"yours grows like {' · '.join(factors) or 'a constant'}; it should not."


def _hint(name: str, numbers: Array, sizes: Array) -> str:
    (_, _, of_p), _ = _powers(numbers, sizes)
    if abs(of_p) < 0.02:
        return "How many multiplications does one dot product take?"
    if of_p > 1.5:
        return "The linear maps are not counted here, only dot products and weighted sums."
    if name == "next_word":
        return "Keys and values of all earlier words are kept. How many keys does the one new query meet?"
    return "How many queries are there, how many keys does each of them meet, and what does one meeting cost?"


EXERCISE = Exercise(make, judge, framework="torch")
