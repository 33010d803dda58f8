"""The class at a glance, as a picture: who has what share of which exercise, and how the totals lie.

Colours are cividis, which reads the same with every kind of colour vision; what nobody has decided yet is hatched.
"""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from autograder.model.verdict import CellVerdict, SubmissionVerdict

INK, SOFT, ACCENT = "#1d2228", "#5b6570", "#1b6b9c"
#: Up to so many students each row is labelled, and up to so many its cells carry their points.
NAMED, NUMBERED = 60, 30


def class_picture(verdicts: Sequence[SubmissionVerdict], path: Path) -> Path:
    """Write the picture of a class as a PNG: students x exercises, totals beside them, their distribution below.

    verdicts: one per student, for one assignment; at least one. Written to ``path``, which is returned.
    """
    if not verdicts:
        raise ValueError("a class picture needs at least one graded submission")
    ordered = sorted(verdicts, key=lambda verdict: (-verdict.points, verdict.student))
    columns = exercises(ordered)
    shares, waiting = shares_of(ordered, columns)
    row = 0.3 if len(ordered) <= NUMBERED else max(6.5 / len(ordered), 0.035 if len(ordered) > NAMED else 0.16)
    names = max(len(_short(verdict.student)) for verdict in ordered) if len(ordered) <= NAMED else 4
    widths = 0.085 * names + 0.4, max(0.5 * len(columns), 3.2), 2.2, 0.3
    heights = 0.45, row * len(ordered), 0.085 * max(len(cell) for _, cell in columns) + 0.6, 1.5, 0.55
    figure = Figure(figsize=(sum(widths) + 0.25, sum(heights)), dpi=110, facecolor="white")
    FigureCanvasAgg(figure)

    def room(column: int, line: int, span: int = 1) -> Axes:
        width, height = figure.get_size_inches()
        left, bottom = sum(widths[:column]), height - sum(heights[: line + 1])
        box = (left / width, bottom / height, sum(widths[column : column + span]) / width, heights[line] / height)
        return figure.add_axes(box)

    grid, totals, spread = room(1, 1), room(2, 1), room(1, 3, span=2)
    _grid(grid, shares, waiting, ordered, columns)
    _totals(totals, ordered)
    plot_distribution(spread, ordered)
    width, height = figure.get_size_inches()
    _legend(figure, grid, 1 - (sum(heights[:3]) - 0.12) / height, bool(waiting.any()))
    figure.text(
        0.12 / width, 1 - 0.12 / height, f"{ordered[0].assignment}: {len(ordered)} submissions", color=INK,
        fontsize=12, fontweight="bold", va="top",
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    return path


def exercises(verdicts: Sequence[SubmissionVerdict]) -> list[tuple[str, str]]:
    """(notebook, cell) of every graded cell, in order; those without points only where none has any."""
    cells = {(notebook.notebook, cell.cell): cell.max_points for one in verdicts for notebook in one.notebooks
             for cell in notebook.cells}  # fmt: skip
    return [place for place, most in cells.items() if most] or list(cells)


def shares_of(
    verdicts: Sequence[SubmissionVerdict], columns: Sequence[tuple[str, str]]
) -> tuple[np.ndarray, np.ndarray]:
    """(students, exercises) shares from 0 to 1, and where nobody has decided yet (True); missing exercises are nan."""
    shares = np.full((len(verdicts), len(columns)), np.nan)
    waiting = np.zeros(shares.shape, dtype=bool)
    place = {column: index for index, column in enumerate(columns)}
    for line, verdict in enumerate(verdicts):
        for notebook in verdict.notebooks:
            for cell in notebook.cells:
                column = place.get((notebook.notebook, cell.cell))
                if column is not None:
                    waiting[line, column] = cell.points is None
                    shares[line, column] = share(cell)
    return shares, waiting


def share(cell: CellVerdict) -> float:
    """The share of a cell's points; for one without points whether it is right. nan where nobody has decided yet."""
    if cell.points is None:
        return float("nan")
    return cell.points / cell.max_points if cell.max_points else float(cell.status == "passed")


def _short(name: str) -> str:
    return name if len(name) <= 22 else f"{name[:21]}…"


def _plain(name: str) -> str:
    """A name as it stands; matplotlib would take a pair of dollar signs for a formula."""
    return _short(name).replace("$", r"\$")


def _grid(
    axes: Axes, shares: np.ndarray, waiting: np.ndarray, ordered: Sequence[SubmissionVerdict],
    columns: Sequence[tuple[str, str]],
) -> None:  # fmt: skip
    students = len(ordered)
    colours = matplotlib.colormaps["cividis"].with_extremes(bad="#eceded")
    image = axes.imshow(np.clip(shares, 0, 1), cmap=colours, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    for line, column in np.argwhere(waiting):
        corner = (column - 0.5, line - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, hatch="////", edgecolor=SOFT, linewidth=0))
    if students <= NUMBERED:
        _numbers(axes, image, ordered, columns, shares)
        axes.set_yticks(np.arange(students + 1) - 0.5, minor=True)
        axes.grid(which="minor", axis="y", color="white", linewidth=1.5)
    labels = [_plain(cell.replace("_", " ")) for _, cell in columns]
    axes.set_xticks(range(len(columns)), labels, rotation=90, fontsize=9)
    if students <= NAMED:
        axes.set_yticks(range(students), [_plain(verdict.student) for verdict in ordered], fontsize=9)
    else:
        ranks = range(24, students, 25)
        axes.set_yticks([0, *ranks], [str(rank + 1) for rank in (0, *ranks)], fontsize=8)
        axes.set_ylabel("rank", fontsize=9, color=SOFT)
    axes.tick_params(which="both", length=0, colors=INK)
    axes.spines[:].set_visible(False)
    for column in range(1, len(columns)):
        same = columns[column][0] == columns[column - 1][0]
        axes.axvline(column - 0.5, color="white", linewidth=1.5 if same else 5)


def _numbers(axes: Axes, image: AxesImage, ordered: Sequence[SubmissionVerdict], columns: Sequence[tuple[str, str]],
             shares: np.ndarray) -> None:  # fmt: skip
    for line, verdict in enumerate(ordered):
        cells = {(notebook.notebook, cell.cell): cell for notebook in verdict.notebooks for cell in notebook.cells}
        for column, name in enumerate(columns):
            cell = cells.get(name)
            if cell is not None and cell.points is not None:
                dark = np.mean(to_rgb(image.cmap(shares[line, column]))) < 0.5
                axes.text(column, line, f"{round(cell.points, 1):g}", ha="center", va="center", fontsize=8,
                          color="white" if dark else INK)  # fmt: skip


def _totals(axes: Axes, ordered: Sequence[SubmissionVerdict]) -> None:
    students, top = len(ordered), max(verdict.max_points for verdict in ordered)
    lines = np.arange(students)
    axes.barh(lines, [verdict.points for verdict in ordered], height=0.7 if students <= NAMED else 1.0, color=ACCENT,
              antialiased=students <= NAMED)  # fmt: skip
    axes.set_ylim(students - 0.5, -0.5)
    axes.set_xlim(0, top * (1.22 if students <= NAMED else 1.0) or 1)
    if students <= NAMED:
        for line, verdict in enumerate(ordered):
            more = " so far" if _undecided(verdict) else ""
            text = "not graded" if _failed(verdict) else f"{round(verdict.points, 1):g}{more}"
            axes.text(verdict.points + 0.02 * top, line, text, va="center", fontsize=8, color=INK)
    axes.set_yticks([])
    axes.set_xticks([0, top])
    axes.set_xlabel(f"points of {top:g}", fontsize=9, color=SOFT)
    axes.tick_params(length=0, labelsize=8, colors=SOFT)
    axes.spines[:].set_visible(False)
    axes.axvline(0, color=SOFT, linewidth=0.8)


def _undecided(verdict: SubmissionVerdict) -> bool:
    return any(cell.points is None for notebook in verdict.notebooks for cell in notebook.cells)


def _failed(verdict: SubmissionVerdict) -> bool:
    return any(notebook.status == "infrastructure" for notebook in verdict.notebooks)


def plot_distribution(axes: Axes, ordered: Sequence[SubmissionVerdict]) -> None:
    """Of the points so far; submissions on which the grader failed are left out."""
    points = np.array([verdict.points for verdict in ordered if not _failed(verdict)])
    top = max(verdict.max_points for verdict in ordered) or 1.0
    axes.hist(np.clip(points, 0, top), bins=min(20, max(5, int(top))), range=(0, top), color=ACCENT, rwidth=0.92)
    if points.size:
        middle = float(np.median(points))
        axes.axvline(middle, color="#b07a00", linewidth=2)
        left = middle > 0.6 * top
        axes.text(
            middle + (0.02 if left else -0.02) * top, 1.02, f"median {round(middle, 1):g}", color="#8a5f00",
            fontsize=9, va="bottom", ha="right" if left else "left", transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.set_xlim(0, top)
    so_far = " so far" if any(map(_undecided, ordered)) else ""
    axes.set_xlabel(f"total points{so_far}", fontsize=9, color=SOFT)
    axes.set_ylabel("students", fontsize=9, color=SOFT)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=4))
    axes.tick_params(length=0, labelsize=8, colors=SOFT)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(SOFT)


def _legend(figure: Figure, grid: Axes, top: float, waiting: bool) -> None:
    colours = matplotlib.colormaps["cividis"]
    shown = ((0.0, "none"), (0.5, "half"), (1.0, "all"))
    patches = [Patch(facecolor=colours(value), label=label) for value, label in shown]
    if waiting:
        patches.append(Patch(facecolor="#eceded", hatch="////", edgecolor=SOFT, linewidth=0, label="not decided yet"))
    box = grid.get_position()
    figure.legend(handles=patches, loc="lower left", bbox_to_anchor=(box.x0, top), ncols=4, frameon=False, fontsize=8,
                  title="share of the points", title_fontsize=8, alignment="left", labelcolor=SOFT,
                  borderpad=0, handlelength=1.2, columnspacing=1.2)  # fmt: skip
