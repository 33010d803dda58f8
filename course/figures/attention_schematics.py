"""The course's drawings of attention itself: one head, and many."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from course.figures.canvas import Canvas
from course.figures.heatmaps import COLOURS

#: (queries, keys) each, for the words of :func:`four_matrices`. Only one can come out of an attention.
FOUR_MATRICES = {
    "A": [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.7, -0.1, 0.4]],
    "B": [[0.6, 0.3, 0.3], [0.1, 0.5, 0.2], [0.3, 0.2, 0.5]],
    "C": [[0.2, 0.5, 0.3], [0.4, 0.4, 0.4], [0.1, 0.1, 0.8]],
    "D": [[1.0, 0.0, 0.0], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]],
}


def attention_in_numpy() -> Figure:
    return _scaled_dot_product("n", "n", "d_qkv", "d_qkv")


def attention_in_distilbert() -> Figure:
    return _scaled_dot_product("queries", "keys", "dim_per_head", "dim_per_head")


def attention_in_encoder_lab() -> Figure:
    return _scaled_dot_product("n", "m", "d_k", "d_v")


def _scaled_dot_product(queries: str, keys: str, key_size: str, value_size: str) -> Figure:
    """Attention of one head: queries meet keys, the weights mix the values. The sizes are in the notebook's letters."""
    asked, found, held = f"({queries}, {key_size})", f"({keys}, {key_size})", f"({keys}, {value_size})"
    pairs, mixed = f"({queries}, {keys})", f"({queries}, {value_size})"
    canvas = Canvas(7.5, 5.0)
    query, key, value = (
        canvas.box(x, 0.45, f"{name}\n{shape}", "data", 1.75, 0.5)
        for x, name, shape in ((1.9, "queries", asked), (3.75, "keys", found), (5.6, "values", held))
    )
    dot = canvas.box(2.75, 1.45, "dot products", "compute", 1.3)
    scale = canvas.box(2.75, 2.2, "scale", "compute", 1.3)
    softmax = canvas.box(2.75, 2.95, "softmax over the keys", "compute", 1.8)
    mix = canvas.box(4.0, 3.95, "weighted sum of values", "compute", 1.9)
    canvas.arrow(query.top, (1.9, 1.0), (2.45, 1.0), (2.45, 1.24))
    canvas.arrow(key.top, (3.75, 1.0), (3.05, 1.0), (3.05, 1.24))
    canvas.chain([dot, scale, softmax])
    canvas.arrow(softmax.top, (2.75, 3.45), (3.6, 3.45), (3.6, 3.74))
    canvas.arrow(value.top, (5.6, 3.45), (4.4, 3.45), (4.4, 3.74))
    canvas.arrow(mix.top, (4.0, 4.55))
    canvas.label(4.0, 4.75, f"context: one vector per query, {mixed}", size=9.0)
    canvas.label(0.1, 1.45, f"scores\n{pairs}", align="left", size=8.5)
    canvas.label(0.1, 2.2, "keeps them moderate\nfor any vector length", align="left", size=8.5)
    canvas.label(0.1, 2.95, f"weights {pairs}:\neach row sums to 1", align="left", size=8.5)
    return canvas.described(
        f"A flow chart from bottom to top. Queries {asked} and keys {found} meet in dot products; the scores {pairs} "
        f"are scaled and go through a softmax over the keys; the resulting weights {pairs} and the values {held} "
        f"enter a weighted sum, which gives one context vector per query, {mixed}."
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
    return canvas.described(
        "A flow chart from bottom to top with three columns, one for each head. A token's vector is split "
        "into three parts; the heads are put before the tokens, each head attends by itself, and the three "
        "results are laid end to end again, so that the shape is (B, T, dim) at the bottom and at the top."
    )


def four_matrices() -> Figure:
    """Four heat maps with their numbers: which of them can be attention weights?"""
    canvas, told, colours = Canvas(7.5, 2.2), [], plt.get_cmap(COLOURS)
    words, side, top = ("the", "good", "film"), 0.46, 1.65
    centres = [side * (place + 0.5) for place in range(3)]
    for number, (name, matrix) in enumerate(FOUR_MATRICES.items()):
        left = 0.55 + 1.8 * number
        canvas.label(left + 1.5 * side, 2.05, name, size=10.0)
        rows = []
        for word, row, centre in zip(words, matrix, centres, strict=True):
            canvas.label(left + centre, top + 0.12, word)
            canvas.label(left - 0.06, top - centre, word, align="right")
            for weight, x in zip(row, centres, strict=True):
                fill = colours(max(weight, 0.0) ** 0.5)  # as in attention_heatmaps: small weights can be seen, too
                canvas.square(left + x, top - centre, side, fill, str(weight))
            rows.append(f"{word} {', '.join(map(str, row))}")
        told.append(f"Rows of {name}: {'; '.join(rows)}.")
    intro = "Four matrices with a row for each query and a column for each key: the, good, film."
    return canvas.described(" ".join([intro, *told]))
