"""Notebook 4: the figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course.check.base import close, fail, passed, running, same_shape
from course.check.distilbert._functions import is_function
from course.check.figure_data import FigureData, read_figure
from course.check.modules import undisturbed

LAYERS, TOKENS = 5, 6


@undisturbed
def figure(plot_attention: Any) -> None:
    """One panel for each layer: rows are queries, columns are keys, a tick for each token."""
    name = "figure"
    is_function(name, plot_attention)
    weights = torch.rand(LAYERS, TOKENS, TOKENS).softmax(-1) ** 2
    weights = weights / weights.sum(-1, keepdim=True)
    words = ["[CLS]", "so", "very", "so", "good", "[SEP]"]
    with running(
        name, f"a tensor of {LAYERS} layers and {TOKENS} tokens", "plot_attention(attention_per_layer, tokens)"
    ):
        drawn = plot_attention(weights, words)
    try:
        data = read_figure(drawn)
    except TypeError as error:
        fail(
            name,
            "plot_attention must return a matplotlib Figure.",
            f"Yours returns {type(drawn).__name__}.",
            f"return figure, as the last line. ({error})" if drawn is not None else "return figure, as the last line.",
        )
    if not data.has_area:
        came, look = "Yours has a width or a height of 0.", "Look at figsize=(width, height)."
        fail(name, "the figure is large enough to be drawn.", came, look)
    _panels(name, data, weights.numpy())
    _titles_and_labels(name, data)
    if not data.in_place:
        came, look = "Yours stand beside theirs.", "The first token stands at 0, the second at 1, and so on."
        fail(name, "each tick stands in the middle of its row or column.", came, look)
    for axis, ticks in (("x", data.xticks), ("y", data.yticks)):
        _tick_labels(name, axis, ticks, words)
    passed(name, "one panel for each layer", "rows are queries, columns are keys", "titles, axes and tokens are named")


def _panels(name: str, data: FigureData, weights: np.ndarray) -> None:
    count = len(data.titles)
    if count != LAYERS or data.panels is None:
        fail(
            name,
            f"{LAYERS} layers make {LAYERS} panels, each an axes with one picture of {TOKENS} by {TOKENS}.",
            f"Yours has {count}.",
            "plt.subplots makes several axes at once; imshow draws a matrix into one.",
        )
    panels = data.panels
    same_shape(name, "the panels", panels, weights.shape, "(layers, queries, keys)")
    if close(panels, weights):
        return
    came, look = "Yours show other numbers.", "Panel i shows attention_per_layer[i], as it is."
    if close(panels, weights.swapaxes(1, 2)):
        came, look = (
            "In yours queries and keys have changed places.",
            "imshow draws rows downwards: no transposition is needed.",
        )
    elif close(panels, weights[::-1]):
        came = "In yours the layers come in reverse order."
    elif all(close(panel, weights[0]) for panel in panels):
        came, look = "In yours every panel shows layer 0.", "Inside the loop, take the loop's own layer."
    fail(name, "panel i shows the weights of layer i, rows are queries, columns are keys.", came, look)


def _titles_and_labels(name: str, data: FigureData) -> None:
    if not any(all(str(i + start) in title for i, title in enumerate(data.titles)) for start in (0, 1)):
        fail(
            name,
            "each panel's title says which layer it shows, with its number.",
            f"Yours are {data.titles}.",
            "An axes has a method set_title.",
        )
    named_x = any("key" in label.lower() for label in data.xlabels)
    named_y = any("quer" in label.lower() for label in data.ylabels)
    if not (named_x and named_y):
        swapped = any("quer" in label.lower() for label in data.xlabels)
        came = "In yours the two are exchanged." if swapped else f"Yours: x {data.xlabels[:1]}, y {data.ylabels[:1]}."
        fail(
            name,
            "the x axis is labelled as the keys, the y axis as the queries.",
            came,
            "set_xlabel and set_ylabel, with these words.",
        )


def _tick_labels(name: str, axis: str, ticks: list[list[str]], words: list[str]) -> None:
    empty = [[], [""] * len(words)]  # where panels share an axis, the outer ones alone may be labelled
    if any(labels == words for labels in ticks) and all(labels == words or labels in empty for labels in ticks):
        return
    odd = next((labels for labels in ticks if labels != words and labels not in empty), [])
    fail(
        name,
        f"the ticks of the {axis} axis are the tokens, one for each position.",
        f"Yours are {odd or 'not labelled'}.",
        f"set_{axis}ticks takes the positions and, as its second argument, their labels.",
    )
