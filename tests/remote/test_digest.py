"""Short descriptions of values: the same for the same value, another for another one."""

from __future__ import annotations

import random
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from autograder.remote import digest, values
from autograder.remote.digest import digest_of

assert values

_SHOW = (
    "from autograder.remote import values\nfrom autograder.remote.digest import digest_of\n"
    "print(digest_of({'v': [{'tea', 'milk', 'bread'}, {'a': (1, 2.5, None)}, frozenset('abc')]}, 'v'))"
)


def of(value: object) -> str | None:
    return digest_of({"value": value}, "value")


def test_the_order_of_a_set_which_differs_between_processes_changes_nothing():
    found = {
        subprocess.run(
            [sys.executable, "-c", _SHOW], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in "123"
    }  # fmt: skip
    assert len(found) == 1 and len(found.pop().strip()) == 64


def test_a_name_that_is_not_there_has_none():
    assert digest_of({}, "value") is None


def _frame() -> pd.DataFrame:
    return pd.DataFrame({"x": [1.0, None], "y": ["a", "b"]})


@pytest.mark.parametrize(
    ("value", "same", "another"),
    [
        ([1, [2, 3]], [1, [2, 3]], [1, [2, 4]]),
        ({"a": 1, "f": print}, {"a": 1, "f": print}, {"a": 2, "f": print}),
        (_frame(), _frame(), _frame().dropna()),
        (_frame(), _frame(), _frame().rename(columns={"x": "z"})),
        (np.arange(3), np.arange(3), np.arange(3.0)),
        ([threading.Lock(), 1], [threading.Lock(), 1], [threading.Lock(), 2]),
        (random.Random(1), random.Random(2), 1),
        ([np.random.default_rng(), 1], [np.random.default_rng(), 1], [np.random.default_rng(), 2]),
        (np.mean, np.mean, np.median),
        (random.shuffle, random.shuffle, random.choice),
        (random, random, np.random),
        (float("nan"), float("nan"), 0.0),
    ],
)
def test_what_is_the_same_and_what_is_not(value, same, another):
    assert of(value) == of(same) != of(another)


def test_of_large_values_type_and_extent_are_described_at_once(monkeypatch):
    monkeypatch.setattr(digest.Encoder, "node", None)  # no part of them is looked at
    for value, words in (
        (np.zeros(2_000_000), "ndarray (2000000,)"),
        ([np.zeros(1_500_000)], "list 1"),
        (list(range(200_000)), "list 200000"),
        (pd.DataFrame({"text": ["a"] * 200_000}), "DataFrame (200000, 1)"),
    ):
        assert of(value) == f"large {words}"


def test_of_many_small_parts_the_outermost_are_counted():
    assert of([[0] * 1000 for _ in range(200)]) == "large list 200"


def test_a_value_that_contains_itself_and_objects_that_answer_nothing_are_described():
    class Silent:
        def __getattribute__(self, name: str) -> object:
            raise ValueError(name)

    value: list[object] = [1]
    value.append(value)
    assert of(value) != of([1])
    assert isinstance(of(Silent()), str)
