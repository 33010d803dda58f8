"""The course's own drawings. No student's work is in them, so they are drawn once per worker and not for everybody."""

import inspect
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

#: Notebooks run side by side, and pyplot knows one current figure for all threads.
_ONE_AT_A_TIME = threading.Lock()
_CALL = re.compile(r"\s*([a-z_]{1,60})\.([a-z_]{1,60})\(\)\s*")


@dataclass(frozen=True)
class Drawing:
    """``data``: MIME type -> content; ``metadata``: MIME type -> what is said of it, such as its alt text"""

    data: dict[str, Any]
    metadata: dict[str, Any]


#: What shows a cell, given the course's module of drawings: :func:`drawing` or :func:`blank`.
Draw = Callable[[str, str], Drawing | None]


def drawing(source: str, module: str) -> Drawing | None:
    """What Jupyter shows for a cell that does nothing but call a drawing, say ``figures.bars()``.

    module: the one that holds the drawings, ``course.figures``; empty where the course has none.
    None for every other cell, and where the module cannot be imported: the cell then runs as all others do. Made by
    the trusted process, from the course's code alone.
    """
    with _ONE_AT_A_TIME:
        name = name_of_drawing(source, module)  # imports it, which is slow
        return _drawn(module, name) if name else None


def blank(source: str, module: str) -> Drawing | None:
    """In the place of :func:`drawing` where nobody will look: nothing, for the same cells."""
    name = name_of_drawing(source, module)
    return Drawing({}, {}) if name and _is_alone(module, name) else None


def name_of_drawing(source: str, module: str) -> str:
    """The drawing that a cell calls and does nothing else; empty for every other cell."""
    call = _CALL.fullmatch(source)  # most cells are no drawing
    if not module or call is None or call[1] != module.rpartition(".")[2]:
        return ""
    return call[2] if call[2] in getattr(import_drawings(module), "__all__", ()) else ""


def import_drawings(module: str) -> ModuleType | None:
    """The course's module of drawings; None where it has none, or it cannot be imported."""
    try:
        return import_module(module) if module else None
    except ImportError:
        return None


def _is_alone(module: str, name: str) -> bool:
    return not inspect.signature(getattr(import_module(module), name)).parameters


@cache  # by name: there are few drawings, whereas their cell can be written in any number of ways
def _drawn(module: str, name: str) -> Drawing | None:
    import matplotlib
    from IPython.core.pylabtools import print_figure

    if not _is_alone(module, name):
        return None
    matplotlib.use("agg")  # no other backend, which could open windows, works in every thread
    figure = getattr(import_module(module), name)()
    describe = getattr(figure, "_repr_mimebundle_", None)  # IPython asks for it, too
    metadata = describe()[1] if describe else {}
    return Drawing({"image/png": print_figure(figure, base64=True), "text/plain": repr(figure)}, metadata)
