"""What a matplotlib figure shows, as data: the arrays in its panels, and the words around them."""

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PolyQuadMesh, QuadMesh
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from course.check.base import NotComparable


@dataclass(frozen=True)
class FigureData:
    """The panels of a figure, in the order in which they were added; colour bars are none.

    panels: (panels, rows, columns); None where there is no panel or their shapes differ
    titles, xlabels, ylabels: one a panel; the labels of the whole figure stand at the end, where there are any
    xticks, yticks: the labels of each panel's ticks, in the order of their positions
    in_place: does label i of every labelled axis stand at row, or column, i?
    has_area: is the figure both wider and higher than nothing? Otherwise it cannot be drawn.
    """

    panels: np.ndarray | None
    titles: list[str]
    xlabels: list[str]
    ylabels: list[str]
    xticks: list[list[str]]
    yticks: list[list[str]]
    in_place: bool
    has_area: bool


def read_figure(figure: Any) -> FigureData:
    """The data of a figure; pyplot forgets it afterwards, so that it is not shown a second time.

    figure: a Figure, or what plt.subplots and its like give (axes, an array of axes, a pair of figure and axes)
    Raises TypeError where it is none of these.
    """
    found = _figure(figure)
    plt.close(found)
    panels = [(axes, values) for axes in found.axes if (values := _values(axes)) is not None]
    shapes = {values.shape for _, values in panels}
    whole_x, whole_y = found.get_supxlabel(), found.get_supylabel()
    return FigureData(
        np.stack([values for _, values in panels]) if len(shapes) == 1 else None,
        [" ".join(axes.get_title(place) for place in ("left", "center", "right")).strip() for axes, _ in panels],
        [axes.get_xlabel() for axes, _ in panels] + [whole_x] * bool(whole_x),
        [axes.get_ylabel() for axes, _ in panels] + [whole_y] * bool(whole_y),
        [_ticks(axes.xaxis) for axes, _ in panels],
        [_ticks(axes.yaxis) for axes, _ in panels],
        all(_in_place(axes) for axes, _ in panels),
        bool(min(found.get_size_inches()) > 0),
    )


def _figure(value: Any) -> Figure:
    if isinstance(value, Figure):
        return value
    if isinstance(value, Axes) and isinstance(value.figure, Figure):
        return value.figure
    if isinstance(value, tuple | list | np.ndarray) and len(value):
        return _figure(np.ravel(np.asarray(value, dtype=object))[0])
    raise NotComparable(f"Expected a matplotlib Figure, but it is {type(value).__name__}: does the function return it?")


def _values(axes: Axes) -> np.ndarray | None:
    """The numbers of an axes' picture: (rows, columns); None where it holds none, or is a colour bar."""
    if axes.get_label() == "<colorbar>" or not axes.get_visible():
        return None
    for artist in _pictures(axes):
        if artist.get_array() is not None:
            values: np.ndarray = np.ma.filled(np.ma.asarray(artist.get_array(), dtype=float), np.nan)
            if values.ndim == 2:
                return values
    return None


def _pictures(axes: Axes) -> list[Any]:
    return [artist for artist in axes.get_children() if isinstance(artist, AxesImage | QuadMesh | PolyQuadMesh)]


def _ticks(axis: Axis) -> list[str]:
    return [text for _, text in _labels(axis)]


def _labels(axis: Axis) -> list[tuple[float, str]]:
    """Position and text of each tick, by position."""
    labels = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
    return sorted((float(place), label.get_text()) for place, label in labels)


def _in_place(axes: Axes) -> bool:
    """Do the labels stand at the rows and columns of the panel's picture, the first at the first?"""
    picture = _pictures(axes)[0]
    rows, columns = picture.get_array().shape[-2:]
    if isinstance(picture, AxesImage):
        left, right, bottom, top = picture.get_extent()
        first, last = (top, bottom) if picture.origin == "upper" else (bottom, top)
    else:
        corners = picture.get_coordinates()
        left, right, first, last = corners[0, 0, 0], corners[0, -1, 0], corners[0, 0, 1], corners[-1, 0, 1]
    return all(
        _cells(_labels(axis), float(start), float(end), count)
        for axis, start, end, count in ((axes.xaxis, left, right, columns), (axes.yaxis, first, last, rows))
    )


def _cells(labels: list[tuple[float, str]], start: float, end: float, count: int) -> bool:
    """True where label i lies in cell i of ``count`` between start and end; axes without words are none to judge."""
    if len(labels) != count or not any(text for _, text in labels) or start == end:
        return True
    cells = [int((place - start) / (end - start) * count // 1) for place, _ in labels]
    return sorted(cells) == list(range(count))
