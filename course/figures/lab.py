"""The measurements of the DistilBERT lab as pictures. Okabe and Ito's colours, and never colour alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from course.figures.arrays import to_array
from course.figures.described import described, number
from course.figures.tutorial_plots import BLUE, GREEN, GREY, ORANGE, PURPLE, plain, subplots

STYLES = ((BLUE, "-", "o"), (ORANGE, "--", "s"), (GREEN, "-.", "^"), (PURPLE, ":", "D"))


def lines(
    curves: Mapping[str, Any], xlabel: str, ylabel: str, start: int = 0, log: bool = False, level: float | None = None
) -> Figure:
    """One line per name. curves: name -> its values (points,), or (points, 2): means and standard errors

    start: the number of the first point. level: a dotted line at this height, what chance would give.
    """
    figure, axes = subplots(2.8)
    told = []
    for (name, values), (colour, style, marker) in zip(curves.items(), STYLES, strict=False):
        table = np.asarray(values, dtype=float)
        y, error = (table[:, 0], table[:, 1]) if table.ndim == 2 else (table, None)
        x = range(start, start + len(y))
        points = marker if len(y) <= 20 else ""
        axes.errorbar(
            x, y, yerr=error, color=colour, linestyle=style, marker=points, markersize=4, capsize=3, label=name
        )
        told.append(f"{name} from {number(y[0])} to {number(y[-1])}")
    if level is not None:
        axes.axhline(level, color=GREY, linestyle=":", linewidth=1)
        told.append(f"a dotted line at {number(level)}")
    if log:
        axes.set_yscale("log")
    if len(curves) > 1:
        axes.legend(fontsize=8, frameon=False)
    plain(axes, xlabel, ylabel)
    scale = ", on a logarithmic scale" if log else ""
    return described(figure, f"A line chart of {ylabel} over {xlabel}{scale}: {'; '.join(told)}.")


def losses(curves: Mapping[str, Any], log: bool = False) -> Figure:
    """curves: name -> the mean loss of every epoch"""
    return lines(curves, "epoch", "mean training loss", start=1, log=log)


def two_effects(direct: Any, knocked_out: Any, rows: Sequence[str], columns: Sequence[str]) -> Figure:
    """Two tables (layers, heads) side by side, one colour scale"""
    figure, panels = subplots(2.6, 2, sharey=True)
    told = []
    tables = [to_array(table, "the effects", ("layers", "heads")) for table in (direct, knocked_out)]
    bound = max(np.abs(table).max() for table in tables)
    for axes, table, title in zip(panels, tables, ("direct", "knocked out"), strict=True):
        image = axes.imshow(table, cmap="PuOr_r", vmin=-bound, vmax=bound, aspect="auto")
        axes.set_title(title, fontsize=9)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_xlabel("head", fontsize=9)
        axes.tick_params(labelsize=8, length=2)
        layer, head = (int(place) for place in np.unravel_index(np.abs(table).argmax(), table.shape))
        told.append(f"“{title}”, largest {number(table[layer, head])} at {rows[layer]}, head {columns[head]}")
    figure.colorbar(image, ax=panels, shrink=0.8).ax.tick_params(labelsize=8)
    return described(figure, f"Two heat maps of {len(rows)} layers and {len(columns)} heads: {'; '.join(told)}.")
