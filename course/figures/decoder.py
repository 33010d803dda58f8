"""The drawings of the decoder: what a token sees, what it predicts, and how the model is put together."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from course.figures.canvas import FAINT, INK, Canvas
from course.figures.described import curves_text, described, listed, number
from course.figures.tutorial_plots import plain, subplots

#: Okabe and Ito's colours, with line styles beside them, so that lines are told apart without colours.
COLOURS, STYLES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7"), ("-", "--", "-.", ":")


def causal_mask(words: Sequence[str] = ("mia", "has", "a", "red", "ball")) -> Figure:
    """Queries down, keys across: the lower triangle with the diagonal is what may be seen."""
    count = len(words)
    canvas = Canvas(7.5, 0.6 + 0.5 * count)
    for row, word in enumerate(words):
        y = 0.5 * (count - row) - 0.1
        canvas.label(1.7, y, word, align="right", size=9.5)
        for column in range(count):
            seen = column <= row
            canvas.box(2.3 + 0.9 * column, y, "sees" if seen else "–", "learned" if seen else "data", 0.84, 0.42)
    for column, word in enumerate(words):
        canvas.label(2.3 + 0.9 * column, 0.5 * count + 0.3, word, size=9.5)
    canvas.label(0.1, 0.5 * count + 0.3, "query ↓   key →", align="left")
    return canvas.described(
        f"A table with {count} queries down and the same {count} words across as keys: {listed(words)}. A cell "
        "says “sees” on the diagonal and to the left of it, and holds a dash to the right."
    )


def shifted_targets(words: Sequence[str] = ("<story>", "mia", "has", "a", "red", "ball")) -> Figure:
    """Above each word the one that its logits must predict: its right neighbour. Nothing stands above the last."""
    canvas = Canvas(7.5, 1.9)
    for place, word in enumerate(words):
        x = 1.7 + 1.02 * place
        below = canvas.box(x, 0.35, word, "data", 0.95)
        last = place + 1 == len(words)
        above = canvas.box(x, 1.5, "(unknown)" if last else words[place + 1], "data" if last else "result", 0.95)
        canvas.box(x, 0.92, "logits", "learned", 0.7, 0.3)
        canvas.arrow(below.top, (x, 0.77))
        canvas.arrow((x, 1.07), above.bottom)
    for y, text in ((0.35, "what it reads"), (0.92, "what it gives"), (1.5, "what follows")):
        canvas.label(0.05, y, text, align="left", size=8.5)
    return canvas.described(
        f"{len(words)} columns, one for each word: {listed(words)}. From each word an arrow leads up to its "
        "logits, and from there to the word that follows; above the last stands “unknown”."
    )


def decoder_model() -> Figure:
    """Left the whole model, right one block, each from below to above."""
    canvas = Canvas(7.5, 4.6)
    model = (
        (0.3, "ids", "data"),
        (1.1, "word + position vectors", "learned"),
        (1.9, "block 0", "compute"),
        (2.6, "block 1", "compute"),
        (3.4, "final_norm", "norm"),
        (4.2, "logits: · each word's vector", "result"),
    )
    canvas.stack(1.6, model, 2.3)
    block = (
        (0.3, "x", "data"),
        (1.0, "norm_1", "norm"),
        (1.65, "causal attention, out", "learned"),
        (2.3, "+", "data"),
        (2.95, "norm_2", "norm"),
        (3.6, "mlp", "learned"),
        (4.25, "+", "data"),
    )
    x = 5.0
    right = canvas.stack(x, block, 1.9, 0.38)
    canvas.skip(x, 0.62, x + 1.35, right[3])
    canvas.skip(x, 2.6, x + 1.35, right[6])
    canvas.frame(5.05, 2.54, 3.8, 3.96, "one block")
    canvas.line((2.75, 1.9), (3.15, 0.62))
    canvas.line((2.75, 1.9), (3.15, 4.46))
    return canvas.described(
        "Two flow charts from bottom to top. Left the whole model: ids, word and position vectors, block 0, "
        "block 1, final_norm, logits. Right one block: norm_1, causal attention, plus; norm_2, mlp, plus; a "
        "skip leads past each norm and sublayer to the plus."
    )


def curves(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    xlabel: str,
    ylabel: str,
    levels: Mapping[str, float] | None = None,
    log: bool = False,
) -> Figure:
    """Several curves with one pair of axes. lines: name -> x and y; levels: dotted lines, name -> height;
    log: whether x has a logarithmic scale"""
    figure, axes = subplots(2.8)
    for (name, (x, y)), colour, style in zip(lines.items(), COLOURS, STYLES, strict=False):
        axes.plot(x, y, style, color=colour, label=name, linewidth=1.6)
    for name, height in (levels or {}).items():
        axes.axhline(height, color=FAINT, linewidth=0.8, linestyle=":")
        axes.annotate(name, (1.0, height), (-2, 2), ("axes fraction", "data"), "offset points", ha="right", fontsize=8)
    axes.set_xscale("log" if log else "linear")
    plain(axes, xlabel, ylabel)
    if len(lines) > 1:
        axes.legend(frameon=False)
    dotted = (f"“{name}” at {number(height)}" for name, height in (levels or {}).items())
    below = f" Dotted lines: {listed(dotted)}." if levels else ""
    return described(figure, curves_text(lines, xlabel, ylabel) + below)


def bars(values: Mapping[str, Sequence[float]], words: Sequence[str], ylabel: str) -> Figure:
    """One panel for each distribution over the same words, side by side, with one scale."""
    figure, panels = subplots(2.5, len(values), sharey=True, squeeze=False)
    for axes, (name, heights), colour in zip(panels[0], values.items(), COLOURS * 2, strict=False):
        axes.bar(range(len(words)), heights, color=colour)
        axes.set_xticks(range(len(words)), words, rotation=90, fontsize=8)
        axes.set_title(name, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel(ylabel)
    highest = []
    for name, heights in values.items():
        height, word = max(zip(heights, words, strict=True))
        highest.append(f"“{name}”: {word}, {number(height)}")
    sort = f"{len(values)} bar charts side by side, upwards {ylabel}, with a bar for each of {len(words)} words."
    return described(figure, f"{sort} The highest bar of each: {'; '.join(highest)}.")


def rows_of_bars(rows: Mapping[str, Sequence[float]], titles: Sequence[str]) -> Figure:
    """Lying bars, one panel for each measure, all with the same rows. rows: name -> one number for each title"""
    figure, panels = subplots(0.7 + 0.3 * len(rows), len(titles), sharey=True)
    for place, (axes, title, colour) in enumerate(zip(panels, titles, COLOURS, strict=False)):
        shown = axes.barh(range(len(rows)), [numbers[place] for numbers in rows.values()], color=colour)
        axes.bar_label(shown, fmt="%.2f", padding=3, fontsize=8, color=INK)
        axes.margins(x=0.15)
        axes.set_title(title, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(rows)), list(rows), fontsize=9)
    panels[0].invert_yaxis()
    told = (f"{name}: {listed(number(value) for value in numbers)}" for name, numbers in rows.items())
    return described(figure, f"Lying bars in {len(titles)} panels, {listed(titles)}. {'; '.join(told)}.")
