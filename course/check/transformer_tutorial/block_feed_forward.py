"""The second half of ``TransformerBlock``."""

from __future__ import annotations

from typing import Any

from course.check.base import close, fail, passed
from course.check.transformer_tutorial._block import explain_sum, fail_cut, prepared, run, second_half_cut
from course.check.transformer_tutorial._calls import undisturbed


@undisturbed
def block_feed_forward(kind: Any) -> None:
    """norm_2 takes the sum of what went into the network and what came out."""
    name = "block_feed_forward"
    made = prepared(name, kind)
    out = run(name, made.block, made.x)
    if not made.given["mlp"]:
        fail(name, "the feed-forward network must be used.", "Yours never calls it.", "Feed, add, then norm_2.")
    if not close(out, made.second + 1, 1e-3):
        entered = made.given["mlp"][0]
        explain_sum(name, made.given["norm_2"], entered, 3 * made.second + 2 - entered, "feed-forward network")
        fail(
            name,
            "the block gives what norm_2 makes of the second sum.",
            "Yours gives something else.",
            "What goes around the network is what went into it.",
        )
    if second_half_cut(name, kind):
        fail_cut(name, "No gradient comes back through your second half.")
    passed(name, "the skip goes around the network", "norm_2 takes the sum")
