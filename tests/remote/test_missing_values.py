"""Missing values, over which comparisons of columns pass, reach only tests that know of them."""

from __future__ import annotations

import pytest

from autograder.remote.link import RemoteRefused
from autograder.tester.cell import _MISSING
from tests.remote.kernels import Kernels

pd = pytest.importorskip("pandas")
STUDENT = """
import pandas as pd
def double(column): return pd.Series([pd.NA] * len(column), dtype="Int64")
def known(column): return pd.Series([1, None], dtype="str")
"""
TEST = "assert (double(pd.Series([1, 2])) == pd.Series([2, 4])).all()"


def kernels() -> Kernels:
    return Kernels(STUDENT, "import pandas as pd", ["double", "known"])


def test_pandas_itself_passes_over_missing_values():
    assert (pd.Series([pd.NA] * 2, dtype="Int64") == pd.Series([2, 4])).all()


def test_a_missing_value_fails_a_test_that_does_not_know_of_them():
    both = kernels()
    both.remote.missing = False
    with pytest.raises(RemoteRefused, match="missing values"):
        both.test(TEST)


def test_a_missing_value_of_a_type_that_compares_it_is_a_value():
    both = kernels()
    both.remote.missing = False
    both.test("assert not (known([1]) == pd.Series(['x', 'y'])).any()")


def test_missing_values_reach_a_test_that_knows_of_them():
    kernels().test("assert double(pd.Series([1, 2])).isna().all()")


@pytest.mark.parametrize(
    ("source", "known"),
    [("pd.testing.assert_frame_equal(a, b)", True), ("assert s.isna().all()", True), ("s.fill_null(0)", True),
     ("assert a.equals(b)", True), ("assert (f(s) == t).all()", False), ("banana = 3", False)],
)  # fmt: skip
def test_a_cell_says_that_it_knows_of_missing_values(source, known):
    assert bool(_MISSING.search(source)) is known
