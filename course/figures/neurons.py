"""How one score comes about: query times key, dimension by dimension."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course.errors import CourseError
from course.figures.arrays import Array, check_tokens, to_array
from course.figures.described import described
from course.figures.heatmaps import WIDTH

COLOURS = "PuOr"  # negative orange, positive violet: told apart by every kind of colour vision


def neuron_view(queries: Any, keys: Any, tokens: Sequence[str], head: int, query: int = 0) -> Figure:
    """One query of one head, held against every key.

    queries, keys: (heads, tokens, dim_per_head) or (1, heads, tokens, dim_per_head)
    tokens: the tokens as text, one per position
    head: which head
    query: position of the token that asks

    Columns of the picture: the query (the same in each row), the keys, their product in each dimension divided by
    the root of dim_per_head, and these products summed over the dimensions: the scores that the softmax gets.
    Raises CourseError where the shapes do not fit, or there is no such head or position.
    """
    axes_names = ("heads", "tokens", "dim_per_head")
    q, k = to_array(queries, "queries", axes_names), to_array(keys, "keys", axes_names)
    if q.shape != k.shape:
        raise CourseError(f"queries and keys must have one shape, but have {q.shape} and {k.shape}.")
    labels = check_tokens(tokens, q.shape[1], "the query tensor")
    for name, value, limit in (("head", head, q.shape[0]), ("query", query, q.shape[1])):
        if not 0 <= value < limit:
            raise CourseError(f"{name} must lie between 0 and {limit - 1}, but is {value}.")
    asked, answering = q[head, query], k[head]
    product = asked * answering / np.sqrt(len(asked))
    height = 0.17 * len(labels) + 1.2
    # margins in inches: a layout engine would take longer than the drawing
    margins = {"left": 1.0 / WIDTH, "right": 0.99, "bottom": 0.45 / height, "top": 1 - 0.55 / height, "wspace": 0.06}
    figure, (left, middle, right, total) = plt.subplots(
        1, 4, figsize=(WIDTH, height), sharey=True, gridspec_kw={"width_ratios": [3, 3, 3, 1.6], **margins}
    )
    plt.close(figure)  # shown as the value of its cell, and not a second time by pyplot
    _stripes(left, np.broadcast_to(asked, answering.shape), f"query of “{labels[query]}”")
    _stripes(middle, answering, "keys")
    _stripes(right, product, f"query × key / √{len(asked)}")
    sums = product.sum(axis=1)
    total.barh(range(len(labels)), sums, color=["#542788" if value >= 0 else "#b35806" for value in sums])
    total.axvline(0.0, color="black", linewidth=0.8)
    total.set_title("score", fontsize=9)
    total.tick_params(labelsize=8)
    left.set_yticks(range(len(labels)), labels, fontsize=8)
    left.set_ylabel("key", fontsize=9)
    figure.suptitle(f"head {head}: how “{labels[query]}” scores every token", fontsize=10, y=1 - 0.06 / height)
    high, low = int(sums.argmax()), int(sums.argmin())
    return described(
        figure,
        f"How the query “{labels[query]}” scores every token in head {head}: four panels with a row for each of "
        f"{len(labels)} keys. Three heat maps over {len(asked)} dimensions, query, key and their product, then a bar "
        f"with the score. Highest: “{labels[high]}”, {sums[high]:.2f}; lowest: “{labels[low]}”, {sums[low]:.2f}.",
    )


def _stripes(axes: Axes, values: Array, title: str) -> None:
    """A heat map with zero in the middle of the colour scale."""
    highest = float(np.abs(values).max()) or 1.0
    axes.imshow(values, cmap=COLOURS, vmin=-highest, vmax=highest, aspect="auto", interpolation="nearest")
    axes.set_title(title, fontsize=9)
    axes.set_xlabel("dimension", fontsize=8)
    axes.tick_params(labelsize=8)
