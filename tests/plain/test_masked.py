"""Masked numbers, over which NumPy's comparisons pass, reach only tests that know of them."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.remote.tester import RemoteRefused
from autograder.tester.cell import _MASKS
from tests.remote.kernels import Kernels

STUDENT = "import numpy as np\ndef half(x): return np.ma.masked_all(2)\ndef whole(x): return np.ma.array(x)"
TRUSTED = "import numpy as np"
TEST = "np.testing.assert_allclose(half(np.ones(2)), [0.5, 0.5])"


def test_numpy_itself_passes_over_masked_numbers():
    np.testing.assert_allclose(np.ma.masked_all(2), [0.5, 0.5])


def test_a_masked_number_fails_a_test_that_does_not_know_of_masks():
    kernels = Kernels(STUDENT, TRUSTED, ["half", "whole"])
    kernels.remote.masks = False
    with pytest.raises(RemoteRefused, match=r"numpy\.ma"):
        kernels.test(TEST)


def test_an_array_that_masks_nothing_is_an_array():
    kernels = Kernels(STUDENT, TRUSTED, ["half", "whole"])
    kernels.remote.masks = False
    kernels.test("np.testing.assert_array_equal(whole(np.ones(2)), [1, 1])")


def test_masked_numbers_reach_a_test_that_knows_of_masks():
    kernels = Kernels(STUDENT, TRUSTED, ["half", "whole"])
    kernels.test("assert half(np.ones(2)).mask.all()")


@pytest.mark.parametrize(
    ("source", "known"),
    [("x = np.ma.array([1])", True), ("from numpy import ma", True), ("assert f(x).mask.any()", True),
     ("mask = causal_mask(3)", False), ("scores.masked_fill(mask, 0)", False), ("assert mask == 3", False)],
)  # fmt: skip
def test_a_cell_says_that_it_knows_of_masks(source, known):
    assert bool(_MASKS.search(source)) is known
