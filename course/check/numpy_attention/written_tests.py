"""The check of tests that students write: they are tried on the recordings to practise on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from course.check.base import fail, passed, running
from course.check.numpy_attention._recorded import (
    N_RIGHT,
    PRACTICE,
    Inputs,
    implementations,
    inputs,
    practice,
    rejections,
)

Array = np.ndarray


def written_tests(test: Callable[[Callable[..., Array], Inputs], Any]) -> None:
    """Fails where the test rejects a right recording, or no wrong one; says which wrong ones it still lets through."""
    name, arrays = "test_attention", practice()
    with running(name, "test_attention(attention, inputs)"):
        rejected = rejections(test, arrays)
    refused = sum(rejected[:N_RIGHT])
    if refused:
        came = f"Yours rejects {refused} of them: {_why(test, arrays, rejected.index(True))}"
        fail(
            name,
            "both right implementations must pass.",
            came,
            "One of them computes in float32: its last digits differ. Compare with a tolerance of 1e-4.",
        )
    wrong = PRACTICE[N_RIGHT:]
    left = [words for words, caught in zip(wrong, rejected[N_RIGHT:], strict=True) if not caught]
    if len(left) == len(wrong):
        fail(
            name,
            "a wrong implementation must make it fail.",
            "Yours lets all of them pass.",
            "What do you know about the result without computing it? Assert that.",
        )
    passed(name, "both right ones pass", f"{len(wrong) - len(left)} of {len(wrong)} wrong ones are caught")
    for words in left:
        print(f"  still accepted: one that {words}")


def _why(test: Callable[..., Any], arrays: Mapping[str, Any], number: int) -> str:
    """What the test says against this recording."""
    try:
        test(implementations(arrays)[number], inputs(arrays))
    except Exception as error:
        return f"{type(error).__name__} {error}".strip()[:200]
    return "not every time"
