"""How far the grading of a class is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Progress:
    """Told after every submission; the command line draws a bar from it."""

    total: int
    done: int = 0
    last_failure: str = ""


Report = Callable[[Progress], None]
