"""The measurements that students see, read without torch: judging needs NumPy alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

#: They ship with the library, wherever it is: found without being imported, for it needs torch.
LIBRARY = find_spec("course")
TESTED = 1000  # reviews that the stored models were measured on


def stored(name: str) -> Any:
    if LIBRARY is None or LIBRARY.origin is None:
        raise FileNotFoundError("the course's library is not installed: its measurements are needed to judge answers")
    path = Path(LIBRARY.origin).parent / "data" / "distilbert_lab" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean of several runs, and its standard error; of one run, that of a share of the reviews"""
    mean = float(np.mean(values))
    spread = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else (mean * (1 - mean) / TESTED) ** 0.5
    return mean, float(spread)
