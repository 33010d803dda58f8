"""Notebook 4: ids to tokens, the average over the heads, and the figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course.check.base import axis_that_sums_to_one, close, fail, passed, running, same_shape, to_numpy
from course.check.distilbert.small import undisturbed
from course.check.figure_data import FigureData, read_figure

LAYERS, HEADS, TOKENS = 4, 3, 5


def _called(name: str, function: Any) -> None:
    if not callable(function):
        fail(name, "a function is expected.", f"A {type(function).__name__} came.", "Pass the function itself.")


# --- ids to tokens ----------------------------------------------------------------------------------------------------


@undisturbed
def tokens(ids_to_tokens: Any) -> None:
    """One token for each id, as a flat list of text."""
    name = "tokens"
    from course.tokenizer import load_tokenizer

    _called(name, ids_to_tokens)
    tokenizer = load_tokenizer()
    sentence = "Unbelievable, simply unputdownable!"
    ids = tokenizer(sentence, return_tensors="pt")["input_ids"]
    look = "input_ids has a batch axis, (1, tokens); one sentence is one row of it."
    with running(name, "a sentence of shape (1, tokens)", look):
        words = ids_to_tokens(tokenizer, ids)
    if isinstance(words, str):
        fail(
            name,
            "a list with one text for each id is expected.",
            "Yours is one text for the whole sentence.",
            "Decoding joins the pieces; look for a method that converts ids and leaves them apart.",
        )
    if not isinstance(words, list | tuple):
        fail(
            name,
            "a list of text is expected.",
            f"Yours is a {type(words).__name__}.",
            "A tokenizer's own method gives a list.",
        )
    if len(words) == 1 and isinstance(words[0], list | tuple):
        fail(name, "a flat list is expected.", "Yours is a list in a list.", look)
    wrong = next((word for word in words if not isinstance(word, str)), None)
    if wrong is not None:
        fail(
            name,
            "every entry is text.",
            f"One of yours is a {type(wrong).__name__}.",
            "Ids become tokens by a method of the tokenizer.",
        )
    _words(name, list(words), ids.shape[1])
    passed(name, "one token for each id", "[CLS] and [SEP] are there", "pieces of words stay apart")


def _words(name: str, words: list[str], count: int) -> None:
    if words[:1] != ["[CLS]"] or words[-1:] != ["[SEP]"]:
        fail(
            name,
            "the first token is [CLS], the last one [SEP].",
            f"Yours begins with {words[:1]} and ends with {words[-1:]}.",
            "Special tokens are tokens: leave none out.",
        )
    if len(words) != count:
        fail(
            name,
            f"{count} ids make {count} tokens.",
            f"Yours are {len(words)}.",
            "Pieces of one word are tokens of their own.",
        )
    if not any(word.startswith("##") for word in words):
        fail(
            name,
            "a piece that continues a word is marked with ##.",
            "None of yours is.",
            "Converting does that; decoding takes it away.",
        )


# --- average over the heads -------------------------------------------------------------------------------------------


@undisturbed
def head_average(average_heads: Any) -> None:
    """One matrix for each layer: the average over its heads.

    In layer i, head h puts all its weight on key (h + i) mod 5, whatever the query.
    """
    name = "head_average"
    _called(name, average_heads)
    probs = {i: torch.eye(TOKENS)[[(h + i) % TOKENS for h in range(HEADS)]] for i in range(LAYERS)}  # (heads, keys)
    probs = {i: rows[None, :, None, :].expand(1, HEADS, TOKENS, TOKENS).clone() for i, rows in probs.items()}
    look = "attention_probs[i] is (1, heads, queries, keys): which axis are the heads?"
    with running(name, f"{LAYERS} layers of {HEADS} heads and {TOKENS} tokens", look):
        average = average_heads(probs)
    _average_shape(name, average)
    array = to_numpy(average).astype(float)
    if not close(array.sum(-1), np.ones((LAYERS, TOKENS))):
        axis = axis_that_sums_to_one(array, ("layers", "queries", "keys"))
        came = f"The first row of yours sums to {array[0, 0].sum():.3g}."
        if axis:
            came = f"Yours sum to 1 over {axis}."
        elif close(array.sum(-1), np.full((LAYERS, TOKENS), HEADS)):
            came = f"Yours sum to {HEADS}, the number of heads: they were added up."
        fail(name, "an average of weights is weights again: each query's row sums to 1.", came, look)
    third = 1 / HEADS
    right = np.array([[third if (key - i) % TOKENS < HEADS else 0.0 for key in range(TOKENS)] for i in range(LAYERS)])
    right = right[:, None, :].repeat(TOKENS, axis=1)
    if not close(array, right):
        came = "Yours are others."
        if array.max() > 0.99:
            came = "Yours shows one head alone."
        elif close(array, right[::-1]):
            came = "Yours are in reverse order."
        elif close(array, right[:1].repeat(LAYERS, axis=0)):
            came = "Yours are all those of layer 0."
        fail(name, "entry i is the average over the heads of layer i.", came, look)
    passed(name, "one matrix for each layer", "rows sum to 1", "all heads count alike")


def _average_shape(name: str, average: Any) -> None:
    want, axes = (LAYERS, TOKENS, TOKENS), "(n_layers, tokens, tokens)"
    looks = {
        (LAYERS, 1, TOKENS, TOKENS): "The batch axis is still there: one sentence needs none.",
        (LAYERS, HEADS, TOKENS): "That is an average over queries or keys: the heads are still there.",
        (HEADS, TOKENS, TOKENS): "That is an average over the layers: the heads are still there.",
        (TOKENS, TOKENS): "That is one matrix for all layers: each layer keeps its own.",
        (LAYERS, HEADS, TOKENS, TOKENS): "The heads are still there: average over their axis.",
    }
    came = tuple(getattr(average, "shape", ()))
    if isinstance(average, list | tuple | dict):
        same_shape(name, "the average", average, want, axes, "torch.stack makes one tensor of a list of tensors.")
    same_shape(name, "the average", average, want, axes, looks.get(came, "Print the shape after each step."))


# --- figure -----------------------------------------------------------------------------------------------------------


@undisturbed
def figure(plot_attention: Any) -> None:
    """One panel for each layer: rows are queries, columns are keys, a tick for each token."""
    name = "figure"
    _called(name, plot_attention)
    weights = torch.rand(LAYERS, TOKENS, TOKENS).softmax(-1) ** 2
    weights = weights / weights.sum(-1, keepdim=True)
    words = ["[CLS]", "so", "very", "so", "[SEP]"]
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
    _panels(name, data, weights.numpy())
    _titles_and_labels(name, data)
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
