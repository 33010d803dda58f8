"""Figures as Jupyter prints them, drawn once: the same picture in less time.

For Jupyter's tight box, matplotlib draws every figure twice, the first time on nothing, only to learn where all lies.
Flat axes know that without having been drawn.
"""

from __future__ import annotations

import contextlib
from typing import Any

from IPython.core import pylabtools

_print_twice = pylabtools.print_figure


def print_once() -> None:
    """Let the shell of this process print figures so, from now on."""
    pylabtools.print_figure = print_figure


def print_figure(fig: Any, fmt: Any = "png", bbox_inches: Any = "tight", base64: Any = False, **kwargs: Any) -> Any:
    """As :func:`IPython.core.pylabtools.print_figure`, which it calls; arguments and value are the same."""
    if bbox_inches != "tight" or not _knows_its_places(fig):  # without the tight box it is drawn once anyway
        return _print_twice(fig, fmt, bbox_inches, base64, **kwargs)

    def arrange(renderer: object) -> None:
        del fig.draw  # from now on it draws
        engine = fig.get_layout_engine()
        if fig.axes and engine is not None:
            with contextlib.suppress(ValueError):  # as matplotlib does: the figure is printed without a layout
                engine.execute(fig)

    fig.draw = arrange
    try:
        return _print_twice(fig, fmt, bbox_inches, base64, **kwargs)
    finally:
        vars(fig).pop("draw", None)


def _knows_its_places(fig: Any) -> bool:
    """Whether drawing moves nothing: all axes are flat, and no marker gets its size by being drawn."""
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

    if type(fig) is not Figure or "draw" in vars(fig) or fig.subfigs:
        return False
    return all(
        type(axes) is Axes and not any(isinstance(one, PathCollection) for one in axes.collections) for axes in fig.axes
    )
