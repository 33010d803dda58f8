"""``python -m tests.plain COURSE``: what it hands in, what it calls a fault, and nbgrader's own course through it."""

import ast
import random
from pathlib import Path

import pytest

from tests.plain import courses
from tests.plain.courses import STDERR, Judged, difference
from tests.plain.variants import mutated, restyled


@pytest.mark.parametrize(
    ("stock", "ours", "kind"),
    [
        (Judged(1), Judged(1), None), (Judged(None), Judged(None), None), (Judged(0), Judged(1), "more"),
        (Judged(1), Judged(0), "less"), (Judged(1), Judged(0, named=True), "for you"),
        (Judged(1), Judged(None, named=True), "for you"), (Judged(0, STDERR), Judged(1), "stderr"),
        (Judged(None), Judged(1), "no grade"),
    ],
)  # fmt: skip
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


SUBMISSIONS = ("solution", "untouched", "half-1", "half-2", "mutant-1", "style-1")


@pytest.mark.slow
@pytest.mark.xdist_group("stock and ours")
def test_no_point_more_and_none_less_without_a_word(quickstart: Path, tmp_path: Path, capsys) -> None:
    found = {one.assignment: one for one in courses.compare(quickstart, tmp_path, courses.Options(1, 1, 1))}
    for one in found.values():
        courses.show(one)
    said = capsys.readouterr().out
    assert not any(one.refused or one.has_fault for one in found.values()), said
    assert {name: (one.submissions, one.solution) for name, one in found.items()} == {
        "ps1": (len(SUBMISSIONS), (4, 4, 4)),
        "styles": (len(SUBMISSIONS), (6, 7, 8)),  # a line on stderr costs a test its points in stock nbgrader
    }
    assert "STDERR   styles/warned 0 → 1 " in said


@pytest.mark.slow
@pytest.mark.xdist_group("stock and ours")
def test_a_judge_that_gives_more_or_takes_without_a_word_is_found(quickstart: Path, tmp_path: Path) -> None:
    """The comparison itself, with the points that stock nbgrader gave turned round."""
    options = courses.Options(mutants=0, styles=0, only=("styles",))
    (right,) = courses.compare(quickstart, tmp_path, options)
    (kept,) = tmp_path.glob("styles/points.json")
    kept.write_text(
        kept.read_text().replace(' 2.0, ""]', ' 1.0, ""]').replace('"total_right", 0.0', '"total_right", 1.0')
    )
    (wrong,) = courses.compare(quickstart, tmp_path, options)
    assert not right.has_fault, right.refused
    assert {one.kind for one in wrong.differences if one.is_fault} == {"more", "less"}
