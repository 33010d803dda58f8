"""The first half of ``TransformerBlock``."""

from __future__ import annotations

from typing import Any

from course.check.base import close, fail, passed
from course.check.transformer_tutorial._block import effects, explain_sum, fail_cut, prepared, run
from course.check.transformer_tutorial._calls import undisturbed


@undisturbed
def block_attention(kind: Any) -> None:
    """norm_1 takes the sum of what went into the attention and what came out."""
    name = "block_attention"
    made = prepared(name, kind)
    run(name, made.block, made.x)
    given = made.given
    if not given["attention"] or not close(given["attention"][0], made.x):
        came = "Yours gives it something else." if given["attention"] else "Yours never calls it."
        fail(name, "the attention takes x as it came in.", came, "Post-norm: nothing comes before it.")
    if not given["mlp"]:
        fail(name, "the feed-forward network takes what norm_1 gives.", "Yours never calls it.")
    if not close(given["mlp"][0], 2 * made.first, 1e-3):
        explain_sum(name, given["norm_1"], made.x, 3 * made.first + 2 - made.x, "attention")
        fail(
            name,
            "the feed-forward network takes what norm_1 makes of the sum.",
            "Yours takes something else.",
            "Keep norm_1's result and go on with it.",
        )
    found = effects(name, kind)
    if found.changed:
        fail(name, "x must come out as it went in.", "Yours was changed in place.", "Make new tensors: no +=.")
    if found.first_cut:
        fail_cut(name, "No gradient comes back through your first half.")
    passed(name, "attended and x are added", "norm_1 takes the sum")
