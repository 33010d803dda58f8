"""The measurements of the transformer tutorial as pictures. Okabe and Ito's colours, and never colour alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course.figures.arrays import to_array
from course.figures.canvas import INK
from course.figures.described import described, listed, number

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#777777"
WIDTH = 7.5


def subplots(height: float, columns: int = 1, **more: Any) -> tuple[Figure, Any]:
    """A figure as wide as a notebook's column, with panels side by side. height: inches"""
    figure, axes = plt.subplots(1, columns, figsize=(WIDTH, height), layout="constrained", **more)
    plt.close(figure)  # shown as the value of its cell, and not a second time by pyplot
    return figure, axes


def plain(axes: Axes, xlabel: str = "", ylabel: str = "") -> None:
    """Small labels, and no lines above and at the right."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.set_xlabel(xlabel, fontsize=9)
    axes.set_ylabel(ylabel, fontsize=9)


def weight_bars(contexts: Mapping[str, Any], query: str) -> Figure:
    """One panel per context. contexts: words with spaces between -> the weight of each (words,)"""
    figure, panels = subplots(2.4, len(contexts), sharey=True, squeeze=False)
    told = []
    for axes, (context, weights) in zip(panels.flat, contexts.items(), strict=True):
        words, values = context.split(), to_array(weights, "the weights", ("words",))
        bars = axes.bar(range(len(words)), values, color=BLUE, width=0.6)
        axes.bar_label(bars, fmt="%.3f", fontsize=8, label_type="center", color="white")
        axes.axhline(1 / len(words), color=ORANGE, linestyle="--", linewidth=1.5, label="all equal")
        axes.legend(fontsize=8, frameon=False, loc="upper right")
        axes.set_xticks(range(len(words)), words)
        axes.margins(y=0.3)
        plain(axes, "key")
        heights = ", ".join(f"{word} {value:.3f}" for word, value in zip(words, values, strict=True))
        told.append(f"{heights}; all equal would be {1 / len(words):.3f}")
    panels.flat[0].set_ylabel(f"weight for the query “{query}”", fontsize=9)
    return described(figure, f"Bar charts of the weights for the query “{query}”, by context. {'. '.join(told)}.")


def position_table(pe: Any) -> Figure:
    """pe: (positions, k). Left the whole table, right a few of its columns as waves."""
    table = to_array(pe, "pe", ("positions", "k"))
    figure, (left, right) = subplots(3.0, 2)
    image = left.imshow(table, cmap="PuOr", vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    figure.colorbar(image, ax=left, shrink=0.8).ax.tick_params(labelsize=8)
    styles = (("-", BLUE), ("--", ORANGE), ("-.", GREEN), (":", PURPLE))
    shown = range(0, table.shape[1], max(2, table.shape[1] // 8 * 2))[: len(styles)]
    for column, (style, colour) in zip(shown, styles, strict=False):
        right.plot(table[:, column], style, color=colour, linewidth=1.5, label=f"column {column}")
    right.set_ylim(-1.55, 1.15)
    right.legend(fontsize=8, ncols=2, loc="lower center", frameon=False)
    plain(left, "column of the vector", "position")
    plain(right, "position", "value")
    crossed = [int((np.diff(np.sign(table[:, column])) != 0).sum()) for column in shown]
    return described(
        figure,
        f"Left a heat map of {table.shape[0]} positions down and {table.shape[1]} columns of the vector across, with "
        f"values from {number(table.min())} to {number(table.max())}. Right the columns {listed(shown)} as curves over "
        f"the position; their signs change {listed(crossed)} times.",
    )


def who_gets_what(right_way: Any, by_sentence: Any) -> Figure:
    """What is added to each token, (sentences, tokens, k), in the right way and by counting sentences for positions."""
    figure, panels = subplots(2.3, 2, sharey=True)
    told = []
    for axes, added, title in (
        (panels[0], right_way, "rows go to tokens: right"),
        (panels[1], by_sentence, "rows go to sentences: wrong"),
    ):
        array = to_array(added, "what is added", ("sentences", "tokens", "k"))
        sentences, tokens, k = array.shape
        axes.imshow(
            array.transpose(0, 2, 1).reshape(sentences * k, tokens), cmap="PuOr", vmin=-1, vmax=1, aspect="auto"
        )
        for sentence in range(1, sentences):
            axes.axhline(sentence * k - 0.5, color="black", linewidth=1.5)
        axes.set_yticks([sentence * k + (k - 1) / 2 for sentence in range(sentences)],
                        [f"sentence {sentence}" for sentence in range(sentences)])  # fmt: skip
        axes.set_xticks(range(tokens), [f"token {token}" for token in range(tokens)])
        axes.set_title(title, fontsize=9)
        axes.tick_params(labelsize=8, length=2)
        alike = [words for words, axis in (("sentence", 0), ("token", 1)) if np.ptp(array, axis=axis).max() == 0]
        told.append(f"“{title}”, where {f'every {listed(alike)} gets the same' if alike else 'all numbers differ'}")
    panels[0].set_ylabel("numbers added, row by row", fontsize=9)
    sizes = f"{sentences} sentences down, {k} rows each, and {tokens} tokens across"
    return described(figure, f"Two heat maps of the numbers that are added, {sizes}: {'; '.join(told)}.")


def curves(history: Mapping[str, Sequence[float]], chance: float) -> Figure:
    """history: ``train_loss``, ``test_loss``, ``train_accuracy``, ``test_accuracy``, one number per epoch."""
    figure, (loss, accuracy) = subplots(2.8, 2)
    epochs = range(1, len(history["train_loss"]) + 1)
    for axes, what in ((loss, "loss"), (accuracy, "accuracy")):
        axes.plot(epochs, history[f"train_{what}"], "o-", color=BLUE, label="train")
        axes.plot(epochs, history[f"test_{what}"], "s--", color=ORANGE, label="test")
        axes.set_xticks(list(epochs))
        plain(axes, "epoch", what)
    accuracy.axhline(chance, color=GREY, linestyle=":", label="chance")
    accuracy.set_ylim(min(0.4, chance - 0.1), 1.02)
    loss.set_ylim(bottom=0)
    for axes in (loss, accuracy):
        axes.legend(fontsize=8, frameon=False)
    told = (f"{name.replace('_', ' ')} from {number(y[0])} to {number(y[-1])}" for name, y in history.items() if len(y))
    return described(
        figure,
        f"Two line charts over {len(epochs)} epochs, loss and accuracy, each with a curve for train and one for test: "
        f"{'; '.join(told)}. A dotted line marks chance, {number(chance)}.",
    )


def coin_tosses(accuracy: float, n: int, chance: float = 0.5) -> Figure:
    """What accuracies guessing would give on ``n`` sentences, and where the measured one lies."""
    figure, axes = subplots(2.2)
    spread = (chance * (1 - chance) / n) ** 0.5
    x = np.linspace(chance - 6 * spread, max(accuracy + 2 * spread, chance + 6 * spread), 400)
    density = np.exp(-0.5 * ((x - chance) / spread) ** 2)
    axes.fill_between(x, density, color=BLUE, alpha=0.35)
    axes.plot(x, density, color=BLUE)
    axes.axvline(accuracy, color=ORANGE, linestyle="--")
    axes.text(chance, 1.05, "guessing", color=BLUE, ha="center", fontsize=9)
    axes.text(accuracy - spread / 4, 1.05, f"measured: {accuracy:.1%}", color=ORANGE, ha="right", fontsize=9)
    axes.set(ylim=(0, 1.25), yticks=[])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    plain(axes, f"accuracy on {n:,} sentences")
    axes.spines["left"].set_visible(False)
    return described(
        figure,
        f"A bell curve of the accuracies that guessing would give on {n:,} sentences, around {chance:.0%}. A dashed "
        f"line at the measured accuracy, {accuracy:.1%}, lies {number((accuracy - chance) / spread)} standard "
        "deviations away.",
    )


def gaps(pairs: Sequence[tuple[str, float, float]], controls: Sequence[tuple[str, float, float]]) -> Figure:
    """Two values for each pair, joined by a line. Each entry: sentence with ``one/other``, value of each (0 to 1)."""
    rows = [*pairs, *controls]
    figure, axes = subplots(0.36 * len(rows) + 1.1)
    for place, (_, one, other) in enumerate(rows):
        y = len(rows) - place
        colour = BLUE if place < len(pairs) else GREY
        axes.plot([one, other], [y, y], color=colour, linewidth=1.5)
        axes.plot([one], [y], "o", color=colour, clip_on=False, zorder=3)
        axes.plot([other], [y], "s", color=colour, markerfacecolor="white", clip_on=False, zorder=3)
        axes.text(1.05, y, f"{abs(one - other):.3f}", fontsize=8, va="center", color=colour)
    axes.set_yticks(range(len(rows), 0, -1), [sentence for sentence, *_ in rows])
    axes.text(1.05, len(rows) + 0.8, "gap", fontsize=8, va="center")
    axes.axhline(len(controls) + 0.5, color=GREY, linewidth=0.8, linestyle=":")
    axes.text(0.5, len(controls) + 0.45, "controls", fontsize=8, color=GREY, va="top", ha="center")
    axes.plot([], [], "o", color=INK, label="first word")
    axes.plot([], [], "s", color=INK, markerfacecolor="white", label="second word")
    axes.legend(fontsize=8, frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    axes.set(xlim=(0, 1), ylim=(0.4, len(rows) + 0.6))
    plain(axes, "P(positive), as the checkpoint sees it")
    return described(
        figure,
        "P(positive) of sentences with one word or another at one position: in each row two points on a line from 0 "
        f"to 1, with the gap between them at its end. {_widest('pairs', pairs)}{_widest('controls', controls)}",
    )


def _widest(name: str, rows: Sequence[tuple[str, float, float]]) -> str:
    if not rows:
        return f"There are no {name}. "
    gap, sentence = max((abs(one - other), sentence) for sentence, one, other in rows)
    return f"Of {len(rows)} {name}, “{sentence}” has the widest gap, {gap:.3f}. "
