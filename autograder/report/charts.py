"""The report's pictures, as PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from autograder.model.verdict import SubmissionVerdict
from autograder.report.picture import ACCENT, INK, SOFT, plot_distribution
from autograder.report.statistics import ExerciseStatistics

#: An exercise that separates less than this separates hardly at all.
WEAK = 0.2
#: Of every picture, in inches: narrow enough that its words can be read on a telephone.
WIDTH = 5.6


def distribution(verdicts: Sequence[SubmissionVerdict], path: Path) -> Path:
    """How the totals lie."""
    figure = _figure(2.6)
    plot_distribution(figure.add_axes((0.1, 0.2, 0.88, 0.68)), verdicts)
    figure.savefig(path)
    return path


def exercise_chart(statistics: Sequence[ExerciseStatistics], path: Path) -> Path:
    """Per exercise the mean share of the points, and how well it tells students apart."""
    names = [one.cell.replace("_", " ") for one in statistics]
    left = 0.085 * max(len(name) for name in names) + 0.2
    height, width = 0.3 * len(names) + 0.9, (WIDTH - left) / 2 - 0.15
    figure = _figure(height)
    bottom, tall = 0.6 / height, 1 - 0.9 / height
    shares = figure.add_axes((left / WIDTH, bottom, width / WIDTH, tall))
    apart = figure.add_axes(((left + width + 0.2) / WIDTH, bottom, width / WIDTH, tall))
    _bars(shares, [one.difficulty for one in statistics], (0, 1), "mean share of the points")
    _bars(apart, [one.discrimination for one in statistics], (-0.3, 1), "discrimination")
    shares.set_yticks(range(len(names)), [name.replace("$", r"\$") for name in names], fontsize=9, color=INK)
    apart.axvline(WEAK, color="#b07a00", linewidth=1, linestyle=":")
    figure.savefig(path)
    return path


def _bars(axes: Axes, values: Sequence[float | None], limits: tuple[float, float], label: str) -> None:
    lengths = np.array([np.nan if value is None else value for value in values], dtype=float)
    lines = np.arange(len(lengths))
    axes.barh(
        lines, np.nan_to_num(lengths), height=0.62, color=[ACCENT if value >= 0 else "#b4481d" for value in lengths]
    )
    for line, value in zip(lines, lengths, strict=True):
        text = "–" if np.isnan(value) else f"{value:.2f}"
        axes.text(max(0.0, float(np.nan_to_num(value))) + 0.02, float(line), text, va="center", fontsize=8, color=INK)
    axes.set_xlim(limits[0], limits[1] + 0.15)
    axes.set_ylim(len(lengths) - 0.4, -0.6)
    axes.set_yticks([])
    axes.set_xticks([0, 0.5, 1])
    axes.set_xlabel(label, fontsize=9, color=SOFT)
    axes.tick_params(length=0, labelsize=8, colors=SOFT)
    axes.spines[:].set_visible(False)
    axes.axvline(0, color=SOFT, linewidth=0.8)


def _figure(height: float) -> Figure:
    figure = Figure(figsize=(WIDTH, height), dpi=160, facecolor="white")
    FigureCanvasAgg(figure)
    return figure
