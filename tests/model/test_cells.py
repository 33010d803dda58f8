"""Cells as IPython reads them: what ``ast`` cannot."""

from __future__ import annotations

import ast

import pytest

from autograder.model import cells


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("timing = %timeit -o -q f(10)\nassert timing.best < 1", "timing = None\nassert timing.best < 1"),
        ("names = !ls *.csv\nassert names", "names = None\nassert names"),
        ("first, *rest = !ls\nassert rest", "first, *rest = None\nassert rest"),
        ("if x != 3:\n    %matplotlib inline", "if x != 3:\n    pass"),
        ("%%time\nassert f(2) == 4", "pass\nassert f(2) == 4"),
        ("f?\nassert f(2) == 4", "pass\nassert f(2) == 4"),
        ("np.sum??\n?f\nassert f(2) == 4", "pass\npass\nassert f(2) == 4"),
        ("assert (await f(2)) == 4", "assert (await f(2)) == 4"),
    ],
)
def test_what_ipython_reads_is_no_syntax_error(source: str, read: str) -> None:
    assert ast.unparse(cells.parse(source)) == ast.unparse(ast.parse(read))
