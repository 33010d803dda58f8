"""Questions with fixed answers: what they store, how a letter is read, and how a wrong choice becomes a mistake.

Messages say why a choice is wrong and where to read, never which one is right. Facts: the walk-through
``transformers_multiclass_classification.ipynb`` of abhimishra91/transformers-tutorials.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from autograder.exercise import TEXT, Case, Mistake, text_array


def always(**expected: object) -> Callable[[np.random.Generator], list[Case]]:
    """Draws one case, the same in every exam: name -> the right text, or list of texts."""
    return partial(_cases, expected)


def _cases(expected: dict[str, object], generator: np.random.Generator) -> list[Case]:
    return [Case(expected={TEXT + name: text_array(value) for name, value in expected.items()})]


def letter(said: object) -> str:
    """The letter that somebody chose, however it is written: ``A``, ``(a)``, ``a.``"""
    return said.strip().strip("().").lower() if isinstance(said, str) else ""


def says(id: str, message: str, hint: str = "", variant: object = None, **answers: object) -> Mistake:
    """The mistake of somebody who answers so: name -> text, or list of texts."""
    return Mistake(id, message, hint, partial(_texts, answers), variant)


def _texts(answers: dict[str, object], case: Case) -> dict[str, np.ndarray]:
    return {TEXT + name: text_array(value) for name, value in answers.items()}
