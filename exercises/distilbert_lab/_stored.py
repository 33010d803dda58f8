"""The measurements that students see, read without torch: judging needs NumPy alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[2] / "course" / "data" / "distilbert_lab"
TESTED = 1000  # reviews that the stored models were measured on


def stored(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean of several runs, and its standard error; of one run, that of a share of the reviews"""
    mean = float(np.mean(values))
    spread = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else (mean * (1 - mean) / TESTED) ** 0.5
    return mean, float(spread)
