"""The exercises that cheats attack: their test cells as people write them, a right answer, and an honest wrong one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """One exercise. ``earns``: what the honest wrong answer gets, 0 but for partial credit."""

    id: str
    points: float
    right: str
    wrong: str
    visible: str
    hidden: str
    earns: float = 0


#: The instructor's first cell: imports and helpers that the tests use.
GIVEN = """
import random
import unittest
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO

import numpy as np
import pytest
from helper import halved


class NotEnough(Exception):
    pass


@dataclass
class Point:
    x: int
    y: int


def assert_equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def plus_one(x):
    return x + 1


def close(actual, expected):
    return abs(actual - expected) < 1e-9
""".strip()
#: A module of the instructor's beside the notebook.
HELPER = "def halved(x):\n    return x / 2\n"

TARGETS = [
    Target(
        "number", 2, "answer = 42\nname = 'Ada'", "answer = 41\nname = 'Bob'",
        "assert answer is not None",
        "assert answer == 6 * 7\nassert name == 'A' + 'da'",
    ),
    Target(
        "typed", 2, "year = 1815", "year = 1816",
        "assert isinstance(year, int)", "assert year in {1815}\nassert 1814 < year < 1816",
    ),
    Target(
        "total", 2, "def total(xs):\n    return sum(xs)", "def total(xs):\n    return len(xs)",
        "assert total([1, 2]) == 3", "assert total([0.5]) == 0.5\nassert total(range(5)) == 10",
    ),
    Target(
        "area", 2, "def area(r):\n    return np.pi * r ** 2", "def area(r):\n    return r ** 2",
        "assert abs(area(1) - 3.14159) < 1e-3",
        "assert abs(area(2) - 4 * np.pi) < 1e-9\nassert close(area(3), 9 * np.pi)",
    ),
    Target(
        "callback", 2, "def twice(f, x):\n    return f(f(x))", "def twice(f, x):\n    return f(x)",
        "wanted = [2.0, 4]\nassert twice(halved, 8) == wanted[0]",
        "assert twice(lambda text: text + wanted.__len__(), 0) == wanted[1]\nassert twice(plus_one, 2) == wanted[1]",
    ),
    Target(
        "shared", 2, "def moved(point, by):\n    return Point(point.x + by, point.y)",
        "def moved(point, by):\n    return Point(point.x, point.y)",
        "start = Point(1, 2)\nassert isinstance(moved(start, 1), Point)",
        "assert moved(start, 2) == Point(3, 2)\nassert moved(start, -1).x == 0\nassert start == Point(1, 2)",
    ),
    Target(
        "mean", 2, "def mean(xs):\n    return sum(xs) / len(xs)", "def mean(xs):\n    return xs[0]",
        "assert mean([1, 2, 3]) == 2",
        "assert_equal(mean([2, 4]), 3.0)\nassert close(mean([0.5, 0.25]), 0.375)\n"
        "assert mean([0.1, 0.2]) == pytest.approx(0.15)\nassert mean([3, 4]) == halved(7)",
    ),
    Target(
        "scale", 2, "def scale(x):\n    return 2 * x", "def scale(x):\n    return x",
        "x = np.arange(3.0)\nnp.testing.assert_allclose(scale(x), [0, 2, 4])",
        "assert isinstance(scale(x), np.ndarray)\nassert np.array_equal(scale(x + 1), 2 * x + 2)\n"
        "np.testing.assert_array_equal(scale(x), x + x)",
    ),
    Target(
        "close", 2, "def half(x):\n    return x / 2", "def half(x):\n    return x",
        "np.testing.assert_allclose(half(np.array([1.0, 2.0])), [0.5, 1.0])",
        "np.testing.assert_almost_equal(half(np.array([3.0])), [1.5])",
    ),
    Target(
        "shown", 2, "def rounded(x):\n    return np.round(x)", "def rounded(x):\n    return np.floor(x)",
        "assert str(rounded(np.array([0.2, 1.2]))) == '[0. 1.]'",
        "assert repr(rounded(np.array([0.8]))) == 'array([1.])'\nassert str(rounded(np.array([2.7]))) == '[3.]'",
    ),
    Target(
        "primes", 2, "def primes(n):\n    return [p for p in range(2, n) if all(p % d for d in range(2, p))]",
        "def primes(n):\n    return list(range(2, n))",
        "case = unittest.TestCase()\ncase.assertEqual(primes(6), [2, 3, 5])",
        "case.assertListEqual(primes(12), [2, 3, 5, 7, 11])\ncase.assertIsInstance(primes(3), list)\n"
        "assert len(primes(20)) == 8\nassert primes(8) == sorted({2, 3, 5, 7})",
    ),
    Target(
        "account", 2,
        "class Account:\n    def __init__(self):\n        self.balance = 0\n\n"
        "    def deposit(self, amount):\n        self.balance += amount\n\n"
        "    def withdraw(self, amount):\n        if amount > self.balance:\n"
        "            raise NotEnough(f'only {self.balance} left')\n        self.balance -= amount",
        "class Account:\n    def __init__(self):\n        self.balance = 0\n\n"
        "    def deposit(self, amount):\n        pass\n\n"
        "    def withdraw(self, amount):\n        raise NotEnough",
        "account = Account()\naccount.deposit(5)\nassert isinstance(account, Account)",
        "assert account.balance == 5\naccount.withdraw(2)\nassert account.balance == 3\n"
        "try:\n    account.withdraw(4)\nexcept NotEnough as error:\n    assert 'only 3' in str(error)\n"
        "else:\n    raise AssertionError('more was taken than there is')",
    ),
    Target(
        "raises", 2, "def root(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x ** 0.5",
        "def root(x):\n    return 0.0 if x < 0 else x",
        "assert root(4) == 2",
        "with pytest.raises(ValueError, match='negative'):\n    root(-1)\n"
        "with unittest.TestCase().assertRaises(ValueError):\n    root(-4)\nassert root(9) == 3",
    ),
    Target(
        "share", 4, "def vowels(text):\n    return sum(c in 'aeiou' for c in text)", "def vowels(text):\n    return 1",
        "expected = {'a': 1, 'aha': 2, 'sky': 0, 'ouija': 4}",
        "sum(vowels(text) == number for text, number in expected.items())", earns=1,
    ),
    Target(
        "in_place", 2, "def order(xs):\n    xs.sort()", "def order(xs):\n    xs.reverse()",
        "before = [3, 1, 2]\nafter = list(before)\norder(after)",
        "assert after == sorted(before)\nassert before == [3, 1, 2]\nassert len(after) == 3",
    ),
    Target(
        "generator", 2, "def countdown(n):\n    while n:\n        yield n\n        n -= 1",
        "def countdown(n):\n    yield n",
        "assert list(countdown(1)) == [1]",
        "assert list(countdown(3)) == [3, 2, 1]\nsteps = countdown(2)\nassert next(steps) == 2\nassert next(steps) == 1\n"
        "with pytest.raises(StopIteration):\n    next(steps)",
    ),
    Target(
        "printed", 2, "def greet(name):\n    print(f'Hello, {name}!')", "def greet(name):\n    print('Hello')",
        "with redirect_stdout(StringIO()) as said:\n    greet('Ada')",
        "assert said.getvalue() == 'Hello, Ada!\\n'",
    ),
    Target(
        "random", 2, "def rolls(n):\n    return [random.randint(1, 6) for _ in range(n)]",
        "def rolls(n):\n    return [3] * n",
        "assert len(rolls(4)) == 4",
        "random.seed(7)\nexpected = [random.randint(1, 6) for _ in range(6)]\nrandom.seed(7)\nassert rolls(6) == expected\n"
        "assert len(set(expected)) > 1",
    ),
]  # fmt: skip
BY_ID = {target.id: target for target in TARGETS}
