"""The drawings of the decoder's notebooks 4 and 5, and their measurements as pictures."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from course.figures.arrays import to_array
from course.figures.canvas import Canvas
from course.figures.decoder import curves as draw_curves
from course.figures.described import described, listed
from course.figures.tutorial_plots import subplots


def two_blocks() -> Figure:
    """The block of 2017 beside a modern one, from bottom to top, with what takes the place of what."""
    canvas = Canvas(7.5, 5.1)
    old = ("x, positions added", "attention, all heads\nwith own keys, values", "add, then LayerNorm",
           "two layers, ReLU", "add, then LayerNorm")  # fmt: skip
    new = ("x, no positions", "RMSNorm", "grouped-query attention,\nq and k rotated", "add",
           "RMSNorm", "SwiGLU network", "add")  # fmt: skip
    kinds = {"LayerNorm": "norm", "RMSNorm": "norm", "attention": "learned", "network": "learned", "layers": "learned"}
    for x, title, texts in (
        (1.75, "2017: “Attention is all you need”", old),
        (5.6, "2024: Llama 3 and many others", new),
    ):
        canvas.label(x, 4.9, title, size=9.5)
        step = 4.0 / (len(texts) - 1)
        boxes = []
        for place, text in enumerate(texts):
            kind = next((kind for word, kind in kinds.items() if word in text), "compute")
            boxes.append(canvas.box(x, 0.4 + step * place, text, "data" if place == 0 else kind, 1.95, 0.44))
        canvas.chain(boxes)
        additions = [place for place, text in enumerate(texts) if text.startswith("add")]
        for start, end in zip((0, additions[0]), additions, strict=True):
            canvas.skip(x, boxes[start].top[1] + 0.1, x + 1.35, boxes[end])
    return canvas.described(
        "Two flow charts from bottom to top. Left the block of 2017: positions added, attention with own keys "
        "and values in every head, add and LayerNorm, two layers with ReLU, add and LayerNorm. Right a modern "
        "block: no positions, RMSNorm, grouped-query attention with rotated q and k, add, RMSNorm, SwiGLU "
        "network, add."
    )


def shared_heads() -> Figure:
    """Which query head uses which head of keys and values: each its own, in groups, all the same one."""
    canvas = Canvas(7.5, 2.5)
    for left, title, kv_heads in ((0.15, "multi-head: 6 and 6", 6), (2.75, "grouped-query: 6 and 2", 2),
                                  (5.35, "multi-query: 6 and 1", 1)):  # fmt: skip
        canvas.label(left + 1.0, 2.3, title, size=9.0)
        group = 6 // kv_heads
        stored = [canvas.box(left + (number + 0.5) * 2.0 / kv_heads, 0.6, f"k, v\n{number}", "norm", 0.3, 0.42)
                  for number in range(kv_heads)]  # fmt: skip
        for head in range(6):
            query = canvas.box(left + (head + 0.5) / 3, 1.75, f"q\n{head}", "learned", 0.28, 0.42)
            canvas.line(query.bottom, stored[head // group].top)
    canvas.label(3.75, 0.15, "top: query heads; below: heads of keys and values, which a decoder has to keep", size=8.5)
    return canvas.described(
        "Three groups of six query heads above the heads of keys and values that they use. Multi-head: six, "
        "each query head its own. Grouped-query: two, each for three query heads. Multi-query: one for all "
        "six."
    )


def scores_by_distance(curves: Mapping[str, Any]) -> Figure:
    """curves: label -> one score for each distance (distances,)"""
    arrays = {label: to_array(values, label, ("distances",)) for label, values in curves.items()}
    drawn = {label: (range(len(array)), array.tolist()) for label, array in arrays.items()}
    return draw_curves(drawn, "distance between query and key", "score")


def effects(values: Any, rows: Sequence[str], columns: Sequence[str], xlabel: str, bar: str) -> Figure:
    """A table of numbers (rows, columns) as a picture; blue below zero, red above, every number written in its cell."""
    table = to_array(values, "the effects", ("rows", "columns"))
    figure, axes = subplots(0.42 * len(rows) + 1.3)
    limit = max(float(abs(table).max()), 1e-6)
    image = axes.imshow(table, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            number = round(float(table[row, column]), 2) + 0.0  # no "-0.00"
            colour = "white" if abs(number) > 0.6 * limit else "black"
            axes.text(column, row, f"{number:.2f}", ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(len(columns)), columns, fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_xlabel(xlabel, fontsize=9)
    figure.colorbar(image, ax=axes, shrink=0.9, label=bar).ax.tick_params(labelsize=8)
    places = {
        f"{row}, {column}": round(table[i, j], 2) + 0.0
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    }
    low, high = min(places, key=lambda place: places[place]), max(places, key=lambda place: places[place])
    return described(
        figure,
        f"A table of numbers in colour, blue below zero and red above: {bar}, with the rows {listed(rows)}, and "
        f"{len(columns)} columns, {xlabel}. Smallest: {places[low]:.2f} ({low}); largest: {places[high]:.2f} ({high}).",
    )
