"""Snapshots of what came, and which of them are alike."""

import json
from collections import deque
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.assignment.solution_run import SolutionRun
from autograder.remote.alike import difference, difference_in_kind
from autograder.remote.snapshots import MAX_ELEMENTS, snapshot

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
LARGE = np.linspace(0, 1, MAX_ELEMENTS + 1)


def told(wanted: object, came: object) -> str:
    first, second = (json.loads(json.dumps(snapshot(one))) for one in (wanted, came))
    return difference(first, second)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PLAIN)
def test_every_value_is_like_itself_in_each_form(value):
    assert told(value, value) == told([value], (value,)) == told({"a": value}, {"a": value}) == ""
    assert difference_in_kind(snapshot(value), snapshot(value)) == ""


@pytest.mark.parametrize(
    ("wanted", "came"),
    [
        (3, 3.0), (3, np.int8(3)), (3.0, Fraction(3)), (Decimal("0.5"), 0.5), (0.1 + 0.2, 0.3), (1, True),
        ([1, 2], np.array([1.0, 2.0])), ((1, 2), deque([1, 2])), ([[1], [2]], np.array([[1], [2]])),
        ([1, 2], range(1, 3)), ({1, 2}, frozenset((2, 1))), ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}),
        (["a", "b"], np.array(["a", "b"])), (float("nan"), np.float32("nan")), (LARGE, LARGE * (1 + 1e-9)),
        (Decimal("1e999999999"), Decimal("10e999999998")),
        (np.array([1.0, 1e-3], np.float32), np.array([1.0, 1e-3 + 1e-9])), ({(1, 2): 3}, {(1, 2.0): 3}),
    ],
)  # fmt: skip
def test_these_are_alike(wanted, came):
    assert told(wanted, came) == ""


@pytest.mark.parametrize(
    ("wanted", "came", "words"),
    [
        (3, 4, "another number"), (1e-12, 2e-12, "another number"), (70000.0, np.float16("inf"), "infinity"),
        (2.0, float("nan"), "nan"), ([1], [], "another length"), ([1, 2], np.array([1]), "another shape"),
        ("a", "b", "another text"), (None, 0, "came"), ([1], {1}, "came"), ({"a": 1}, {"b": 1}, "other keys"),
        ({1, 2}, {1, 3}, "other elements"), (np.ones(2), np.ma.array([1, 1], mask=[0, 1]), "masked"),
        (LARGE, LARGE[::-1], "other numbers"), (len, slice, "a class"), (ValueError("a"), KeyError("a"), "exception"),
        ([1.0, "a"], [1.0, "b"], "another text"), (np.zeros((0, 2)), np.ones(2), "another shape"),
        ([2**70], [2**70 + 1], "another number"),
        (1.0, Decimal("1e999999999"), "another number"), (1, Decimal("sNaN"), "cannot be compared"),
    ],
)  # fmt: skip
def test_these_are_not_and_it_is_said_how(wanted, came, words):
    assert words in told(wanted, came)


def test_numbers_that_python_does_not_write_in_decimals_are_compared_too():
    large, small = 10**5000, Fraction(1, 3**20000)
    assert told(large, large) == told(small, small) == ""
    assert told(large, large + 1) and told(1, large) and told(small, small / 3)


def test_a_library_of_columns_is_compared_by_columns_rows_and_values():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert told(table, table.astype({"a": float})) == ""
    assert told(table, table.rename(columns={"a": "c"})) == "other columns"
    assert told(table, table.iloc[::-1]) == "other rows"
    assert told(table["a"], table["a"].replace(2, 3)) == "other numbers"
    assert told(pd.Series([1], dtype="Int64"), pd.Series([pd.NA], dtype="Int64")) != ""


def run(*visits: object) -> dict[str, list]:
    return {"1.1:0-4 __call__": [snapshot(one) for one in visits]}


def test_what_another_run_of_the_solution_shows_to_be_chance_is_compared_in_kind():
    made = SolutionRun.of(run(0.5, 0.25), {"check": 2}, None).with_run(run(0.75, 0.125), {"check": 3})
    assert made.differences(run(0.1, 0.2), {"check": 9}, None) == []
    assert made.differences(run(0.1), {"check": 2}, None)[0].words == "a value came once, not 2 times"
    assert made.differences(run(0.1, float("inf")), {"check": 2}, None)[0].words == "nan or infinity"
    assert made.differences(run(0.1, [0.2]), {"check": 2}, None) != []
    assert "gone through once" in made.differences(run(0.1, 0.2), {"check": 1}, None)[0].words


def test_an_open_place_takes_other_values_and_no_other_shape():
    made = SolutionRun.of(run(np.ones(3)), {}, None).opened(["1.1:0-4 __call__"])
    assert made.differences(run(np.zeros(3)), {}, None) == []
    assert made.differences(run(np.zeros(2)), {}, None)[0].words == "another shape"
    assert SolutionRun.from_json(json.loads(json.dumps(asdict(made)))) == made


def test_what_is_no_number_is_no_result():
    assert (
        SolutionRun.of({}, {}, 2.0).differences({}, {}, None)[0].words == "the cell's result is no number, not a number"
    )
