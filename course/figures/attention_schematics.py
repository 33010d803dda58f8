"""The course's drawings of attention itself: one head, and many."""

from __future__ import annotations

from matplotlib.figure import Figure

from course.figures.canvas import Canvas
from course.figures.described import described


def scaled_dot_product() -> Figure:
    """Attention of one head: queries meet keys, the weights mix the values."""
    canvas = Canvas(7.5, 5.0)
    query = canvas.box(1.6, 0.45, "queries", "data")
    key = canvas.box(3.3, 0.45, "keys", "data")
    value = canvas.box(5.0, 0.45, "values", "data")
    dot = canvas.box(2.45, 1.4, "dot products", "compute", 1.3)
    scale = canvas.box(2.45, 2.15, "scale", "compute", 1.3)
    softmax = canvas.box(2.45, 2.9, "softmax over the keys", "compute", 1.8)
    mix = canvas.box(3.7, 3.9, "weighted sum of values", "compute", 1.9)
    canvas.arrow(query.top, (1.6, 0.95), (2.15, 0.95), (2.15, 1.19))
    canvas.arrow(key.top, (3.3, 0.95), (2.75, 0.95), (2.75, 1.19))
    canvas.chain([dot, scale, softmax])
    canvas.arrow(softmax.top, (2.45, 3.4), (3.3, 3.4), (3.3, 3.69))
    canvas.arrow(value.top, (5.0, 3.4), (4.1, 3.4), (4.1, 3.69))
    canvas.arrow(mix.top, (3.7, 4.55))
    canvas.label(3.7, 4.75, "context: one vector for each query", size=9.0)
    canvas.label(0.1, 0.45, "(n, d)", align="left", size=8.5)
    canvas.label(5.65, 0.45, "keys (m, d), values (m, e)", align="left", size=8.5)
    canvas.label(0.1, 1.4, "scores (n, m)", align="left", size=8.5)
    canvas.label(0.1, 2.15, "keeps them moderate\nwhatever d is", align="left", size=8.5)
    canvas.label(0.1, 2.9, "weights (n, m)\neach row sums to 1", align="left", size=8.5)
    canvas.label(7.4, 3.9, "(n, e)", align="right", size=8.5)
    canvas.label(7.4, 1.6, "n queries, m keys,\nd and e dimensions", align="right", size=8.5)
    return described(
        canvas.figure,
        "A flow chart from bottom to top. Queries and keys meet in dot products; the scores are scaled and go "
        "through a softmax over the keys; the resulting weights and the values enter a weighted sum, which "
        "gives one context vector for each query. The shapes stand beside: scores and weights (n, m), context "
        "(n, e).",
    )


def multi_head() -> Figure:
    """Splitting the vectors into heads, attending in each, and merging them again."""
    canvas = Canvas(7.5, 4.7)
    heads, colours = 3, ("learned", "compute", "norm")
    steps = (
        (0.5, "one vector per token", "(B, T, dim)"),
        (1.4, "split: each head takes\nits part of the vector", "(B, T, heads, head size)"),
        (2.3, "heads before tokens,\nso that each head sees\na whole sentence", "(B, heads, T, head size)"),
        (3.2, "attention in each head", "(B, heads, T, head size)"),
        (4.1, "merge: parts laid\nend to end again", "(B, T, dim)"),
    )
    middle, width = 3.65, 0.95
    for y, text, shape in steps:
        canvas.label(0.1, y, text, align="left", size=8.5)
        canvas.label(7.4, y, shape, align="right", size=8.5)
    centres = [middle + (i - (heads - 1) / 2) * 1.1 for i in range(heads)]
    whole = canvas.box(middle, 0.5, "q, k or v of a token", "data", 3 * width, 0.4)
    merged = canvas.box(middle, 4.1, "context of a token", "data", 3 * width, 0.4)
    for head, (x, colour) in enumerate(zip(centres, colours, strict=True)):
        part = canvas.box(x, 1.4, f"part {head}", colour, width, 0.4)
        sentence = canvas.box(x, 2.3, f"head {head}:\nT tokens", colour, width, 0.5)
        attention = canvas.box(x, 3.2, "attention", colour, width, 0.4)
        canvas.arrow((x, whole.top[1]), part.bottom)
        canvas.chain([part, sentence, attention])
        canvas.arrow(attention.top, (x, merged.bottom[1]))
    return described(
        canvas.figure,
        "A flow chart from bottom to top with three columns, one for each head. A token's vector is split "
        "into three parts; the heads are put before the tokens, each head attends by itself, and the three "
        "results are laid end to end again, so that the shape is (B, T, dim) at the bottom and at the top.",
    )
