"""Checks of the tests that students write: tried on recordings, and on a wrong attention that slips through."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from course.check.base import as_array, fail, is_stub, passed, running, same_shape
from course.check.numpy_attention import _ready
from course.check.numpy_attention._recorded import (
    N_RIGHT,
    PRACTICE,
    Inputs,
    implementations,
    inputs,
    practice,
    practice_inputs,
    rejections,
)
from course.check.stretch import begun

Array = np.ndarray

NAME = "slips_through"
DRAWN = 60
WRONG = 0.01


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


def slips_through(attention: Callable[..., Array], test: Callable[[Callable[..., Array], Inputs], Any]) -> None:
    """The stretch goal: the test accepts it, and yet it is not attention."""
    if not begun(NAME, attention, *practice_inputs()["plain"]):
        return
    wrong = sum(_differs(attention, *drawn) for drawn in _draws())
    if not wrong:
        expected = f"on some of {DRAWN} drawn inputs it must differ from attention by more than {WRONG}."
        fail(NAME, expected, "Yours is right on all of them.", "Which sizes and scores are no practice inputs?")
    try:
        with np.errstate(all="ignore"):
            test(attention, practice_inputs())
    except Exception as error:
        if is_stub(error):
            fail(NAME, "your test_attention is needed here.", "It is not filled in yet.", "Write it first.")
        came = f"It rejects it: {type(error).__name__} {error}".strip()[:200]
        fail(NAME, "your test_attention must accept it.", came, "Well tested. What does your test not look at?")
    passed(NAME, "your test accepts it", f"it is wrong on {wrong} of {DRAWN} drawn inputs")


def _draws() -> list[tuple[Array, Array, Array]]:
    """Queries, keys and values of many sizes, with scores of moderate size."""
    generator = np.random.default_rng(5)
    normal, found = generator.normal, []
    for _ in range(DRAWN):
        n, m, d, e = generator.integers(1, 13, 4)
        found.append((normal(0, 1.5, (n, d)), normal(0, 1.5, (m, d)), normal(0, 1.0, (m, e))))
    return found


def _differs(attention: Callable[..., Array], query: Array, key: Array, value: Array) -> bool:
    given = query.copy(), key.copy(), value.copy()
    what = f"{len(query)} queries, {len(key)} keys and d = {query.shape[1]}"
    with running(NAME, what, "It may be wrong, but it must run."), np.errstate(all="ignore"):
        out = as_array(attention(*given))
    same_shape(NAME, "the result", out, (len(query), value.shape[1]), "(n, e)", "A wrong shape would not slip through.")
    want = _ready.softmax(query @ key.T * query.shape[1] ** -0.5) @ value
    return not bool(np.abs(np.asarray(out) - want).max() <= WRONG)  # nan is a difference
