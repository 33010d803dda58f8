"""Arithmetic with points: parts of a point add up to whole ones, as people expect of 0.1 + 0.2."""

from __future__ import annotations

import math
from collections.abc import Iterable

_DIGITS = 9


def total(points: Iterable[float]) -> float:
    """The sum, without what binary fractions add to it."""
    return round(math.fsum(points), _DIGITS)


def same(first: float, second: float) -> bool:
    return round(first - second, _DIGITS) == 0
