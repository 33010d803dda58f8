"""Attention weights as heat maps: each row a query, each column a key."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from course.errors import CourseError
from course.figures.arrays import Array, check_tokens, to_array
from course.figures.described import attention_text, described

WIDTH = 7.5  # inches: a notebook's column
COLOURS = "viridis"  # even steps of brightness: reads the same with colour blindness, and in grey


def attention_heatmaps(attention_per_layer: Any, tokens: Sequence[str], titles: Sequence[str] | None = None) -> Figure:
    """One heat map per layer.

    attention_per_layer: (layers, tokens, tokens), averaged over the heads; each row sums to 1
    tokens: the tokens as text, one per position
    titles: one a panel; "layer 0", "layer 1", … if not given

    Raises CourseError where the shapes do not fit.
    """
    array = to_array(attention_per_layer, "attention_per_layer", ("layers", "queries", "keys"))
    return _panels(array, tokens, titles or [f"layer {i}" for i in range(len(array))])


def head_grid(attention: Any, tokens: Sequence[str], titles: Sequence[str] | None = None) -> Figure:
    """One heat map per head of one layer.

    attention: (heads, tokens, tokens) or (1, heads, tokens, tokens); each row sums to 1
    """
    array = to_array(attention, "attention", ("heads", "queries", "keys"))
    return _panels(array, tokens, titles or [f"head {i}" for i in range(len(array))])


def _panels(array: Array, tokens: Sequence[str], titles: Sequence[str]) -> Figure:
    n_panels, n_queries, n_keys = array.shape
    if n_queries != n_keys:
        raise CourseError(f"As many queries as keys are needed, one per token, but the shape is {array.shape}.")
    labels = check_tokens(tokens, n_keys, "the attention")
    if len(titles) != n_panels:
        raise CourseError(f"There are {len(titles)} titles for {n_panels} panels: one each is needed.")
    columns = min(2 if n_panels == 4 else 3, n_panels)
    rows = -(-n_panels // columns)
    side = WIDTH / columns
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(WIDTH, rows * side * 0.9 + 0.8),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    plt.close(figure)  # shown as the value of its cell, and not a second time by pyplot
    # Labels shrink with the length of the sentence; below 5 points they would be dust, so some are left out instead.
    step = -(-n_keys // 24)
    size = max(5.0, min(8.0, 0.62 * 72 * side * step / n_keys))
    positions = range(0, n_keys, step)
    # One scale for all panels. [CLS] often gets nearly everything; the square root lets the small weights be seen too.
    scale = PowerNorm(0.5, vmin=0.0, vmax=float(array.max()))
    for index, axes in enumerate(grid.flat):
        if index >= n_panels:
            axes.set_axis_off()
            continue
        image = axes.imshow(array[index], cmap=COLOURS, norm=scale)
        axes.set_title(titles[index], fontsize=9)
        lowest, leftmost = index + columns >= n_panels, index % columns == 0
        names = [labels[i] for i in positions]
        axes.set_xticks(positions, names, rotation=90, fontsize=size)
        axes.set_yticks(positions, names, fontsize=size)
        axes.tick_params(length=2, labelbottom=lowest, labelleft=leftmost)
        axes.set_xlabel("key" if lowest else "", fontsize=9)
        axes.set_ylabel("query" if leftmost else "", fontsize=9)
    bar = figure.colorbar(image, ax=grid, shrink=0.7, aspect=40, pad=0.015)
    bar.set_label("attention weight (brightness: its square root)", fontsize=9)
    bar.ax.tick_params(labelsize=8)
    return described(figure, attention_text(array, labels, titles))
