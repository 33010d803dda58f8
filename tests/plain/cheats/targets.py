"""The exercises that cheats attack: their test cells as people write them, a right answer, and an honest wrong one."""

from __future__ import annotations

from dataclasses import dataclass

from tests.plain.cheats.cheat import table


@dataclass(frozen=True)
class Target:
    """One exercise. ``earns``: what the honest wrong answer gets, 0 but for partial credit.

    ``given``: imports that its notebook needs beside ``GIVEN``. ``judged``: by its text, where.
    """

    id: str
    right: str
    wrong: str
    visible: str
    hidden: str
    points: float = 2
    earns: float = 0
    given: str = ""
    judged: str = "outside"


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

TARGETS = [Target(name, **one) for name, one in table("exercises").items()]
BY_ID = {target.id: target for target in TARGETS}
