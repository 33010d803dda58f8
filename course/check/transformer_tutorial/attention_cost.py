"""The question on complexity: what must be true of any right count."""

from __future__ import annotations

from numbers import Real
from typing import Any

from course.check.base import fail, passed, running


def attention_cost(function: Any) -> None:
    """Four positive numbers, each of which grows with the sizes it can depend on, and with no other."""
    name = "attention_cost"
    parts = ("encoder", "decoder", "cross", "next_word")

    def counts(n: int, m: int, p: int) -> tuple[Any, ...]:
        with running(name, f"n = {n}, m = {m}, p = {p}", "Return four numbers."):
            four = tuple(function(n, m, p))
        if len(four) != len(parts) or not all(isinstance(count, Real) and float(count) > 0 for count in four):
            fail(name, "the function returns four positive numbers.", f"Yours returns {four!r:.60}.")
        return four

    base, more_input, more_output = counts(300, 200, 64), counts(600, 200, 64), counts(300, 400, 64)
    if more_output[0] != base[0]:
        fail(name, "the encoder does not know how many words will come out.", "Yours costs more when m grows.")
    if more_input[1] != base[1]:
        fail(name, "the decoder's own attention meets output words only.", "Yours costs more when n grows.")
    wider = counts(300, 200, 128)
    for part, narrow, wide in zip(parts, base, wider, strict=True):
        if abs(wide / narrow - 2) > 1e-6:
            fail(
                name,
                f"{part}: with vectors twice as long, each dot product takes twice as many multiplications.",
                f"Yours takes {float(wide / narrow):.3g} times as many.",
                "Count dot products and weighted sums, and nothing else.",
            )
    for part, first, longer in (("encoder", base[0], more_input[0]), ("decoder", base[1], more_output[1])):
        if longer <= first:
            fail(name, f"{part}: a longer sequence costs more.", "Yours does not.", "Who meets whom?")
    passed(
        name,
        "four positive numbers",
        "each part depends on its own words",
        "how fast they grow is judged after you hand in",
    )
