"""``python -m tests.plain COURSE``: what it hands in, what it calls a fault, and nbgrader's own course through it."""

from __future__ import annotations

import ast
import random

import pytest

from tests.plain.courses import STDERR, Judged, difference
from tests.plain.variants import mutated, restyled


@pytest.mark.parametrize(
    ("stock", "ours", "kind"),
    [
        (Judged(1), Judged(1), None),
        (Judged(None), Judged(None), None),
        (Judged(0), Judged(1), "more"),
        (Judged(1), Judged(0), "less"),
        (Judged(1), Judged(0, named=True), "for you"),
        (Judged(1), Judged(None, named=True), "for you"),
        (Judged(0, STDERR), Judged(1), "stderr"),
        (Judged(None), Judged(1), "no grade"),
    ],
)
def test_more_than_stock_and_less_without_a_word_are_faults(stock: Judged, ours: Judged, kind: str | None) -> None:
    found = difference("nb/cell", stock, ours)
    assert (found and found.kind) == kind
    assert (found is not None and found.is_fault) == (kind in ("more", "less"))


CODE = "def f(x, y):\n    if x > 1:\n        return [x + y, 2]\n    return [y, max(x, y)]"


def test_wrong_and_odd_answers_are_other_code_and_the_same_for_the_same_seed() -> None:
    for change in (mutated, restyled):
        made = [change(CODE, random.Random(seed)) for seed in range(30)]
        assert made == [change(CODE, random.Random(seed)) for seed in range(30)]
        assert len(set(made)) > 4 and CODE not in map(ast.unparse, map(ast.parse, made))
        assert change("%matplotlib inline", random.Random(1)) == "%matplotlib inline"
