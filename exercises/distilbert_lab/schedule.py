"""Warm-up, then a straight line down to 0. Right: the scheduler of ``transformers``."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, compare_case, variant


def cases(generator: np.random.Generator) -> list[Case]:
    totals = generator.integers((7, 14, 20), (13, 20, 30)).tolist()
    plans = zip((0, *generator.integers((2, 5), (5, 9)).tolist()), totals, strict=True)
    return [
        Case({"warmup": warmup, "total": total, "after": 3}, expected={"factors": _factors(warmup, total, 3)})
        for warmup, total in plans
    ]


def _factors(warmup: int, total: int, after: int) -> np.ndarray:
    import torch
    from transformers import get_linear_schedule_with_warmup

    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = get_linear_schedule_with_warmup(optimizer, warmup, total)
    found = []
    for _ in range(total + after):
        found.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return np.array(found)


HEAD = "def schedule(step, warmup, total):"
# Lines of the solution that mistakes change.
UP, DOWN, BELOW = "step / warmup", "(total - step) / (total - warmup)", "step < warmup"
FLOOR = f"max(0.0, {DOWN})"

MISTAKES = [
    Mistake("S-early", "The warm-up is one step ahead.", "Step 0 has the factor 0, step warmup the factor 1.",
            (UP, "(step + 1) / warmup")),
    Mistake("S-below", "After the last step the rate is negative: the weights go uphill.", "At least 0.",
            (FLOOR, DOWN)),
    Mistake("S-constant", "After the warm-up the factor stays 1.", "It falls to 0 at step total.", (FLOOR, "1.0")),
    Mistake("S-cold", "There is no warm-up.", "From 0 to 1 in the first warmup steps.", (BELOW, "step < 0")),
    Mistake("S-jump", "The line downwards begins at step 0, not at the end of the warm-up.",
            "It has the factor 1 at step warmup.", (DOWN, "(total - step) / total")),
    Mistake("S-slope", "The line downwards reaches 0 too late.", "total - warmup steps are left after the warm-up.",
            (DOWN, "1 - (step - warmup) / total")),
    Mistake("S-up", "After the warm-up the factor grows.", "From 1 down to 0.",
            (DOWN, "(step - warmup) / (total - warmup)")),
    Mistake("S-cosine", "The way down is a cosine.", "A straight line.",
            (FLOOR, "0.5 * (1 + math.cos(math.pi * min(1.0, (step - warmup) / (total - warmup))))")),
]  # fmt: skip

RIGHT = {
    "the smaller of two lines": variant(HEAD, """
        rising = step / warmup if warmup > 0 else 1.0
        return max(0.0, min(rising, (total - step) / (total - warmup)))
    """),
    "transformers' own way": variant(HEAD, """
        if step < warmup:
            return float(step) / float(max(1, warmup))
        return max(0.0, float(total - step) / float(max(1, total - warmup)))
    """),
    "three pieces": variant(HEAD, """
        if step >= total:
            return 0.0
        if step < warmup:
            return step / warmup
        return 1 - (step - warmup) / (total - warmup)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, framework="torch", atol=1e-9, rtol=1e-7,
    shows=("from 0 to 1 in the warm-up", "down to 0", "never below"),
)  # fmt: skip
