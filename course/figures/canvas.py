"""Boxes, arrows and labels, measured in inches, for the course's drawings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from course.figures.described import described

Point = tuple[float, float]
Colour = tuple[float, float, float, float]

INK = "#222222"
FAINT = "#666666"
# Pale tones of the Okabe-Ito palette, which every kind of colour vision tells apart.
FILL = {
    "data": "#ffffff",
    "learned": "#cfe3f2",
    "compute": "#fbe3c0",
    "norm": "#cdeadf",
    "result": "#f3d5e4",
}


@dataclass(frozen=True)
class Box:
    """A rectangle, by its centre; ``top``, ``left`` and so on are the middles of its edges."""

    x: float
    y: float
    width: float
    height: float

    @property
    def top(self) -> Point:
        return self.x, self.y + self.height / 2

    @property
    def bottom(self) -> Point:
        return self.x, self.y - self.height / 2

    @property
    def left(self) -> Point:
        return self.x - self.width / 2, self.y

    @property
    def right(self) -> Point:
        return self.x + self.width / 2, self.y


class Canvas:
    """An empty figure of the given inches; the origin is its lower left corner."""

    def __init__(self, width: float, height: float) -> None:
        self.figure: Figure = plt.figure(figsize=(width, height), facecolor="white")
        plt.close(self.figure)  # shown as the value of its cell, and not a second time by pyplot
        self.axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set(xlim=(0.0, width), ylim=(0.0, height))
        self.axes.set_axis_off()

    def described(self, text: str) -> Figure:
        """The finished figure, with its alt text."""
        return described(self.figure, text)

    def box(self, x: float, y: float, text: str, kind: str, width: float = 1.1, height: float = 0.42) -> Box:
        """A rounded box around ``text``; ``kind`` is a key of FILL."""
        self._rectangle(Box(x, y, width, height), FILL[kind], "solid")
        self.axes.text(x, y, text, ha="center", va="center", fontsize=9, color=INK, linespacing=1.25)
        return Box(x, y, width, height)

    def frame(self, x: float, y: float, width: float, height: float, text: str) -> Box:
        """A dashed frame around other boxes, its name in the upper left corner."""
        self._rectangle(Box(x, y, width, height), "none", "dashed")
        corner = (x - width / 2 + 0.06, y + height / 2 - 0.06)
        self.axes.text(*corner, text, ha="left", va="top", fontsize=9, color=FAINT, style="italic")
        return Box(x, y, width, height)

    def circle(self, x: float, y: float, text: str) -> Box:
        """A small round sign, such as + or ×."""
        box = Box(x, y, 0.24, 0.24)
        self.axes.add_patch(plt.Circle((x, y), 0.12, facecolor="white", edgecolor=INK, linewidth=1.0, zorder=3))
        self.axes.text(x, y - 0.005, text, ha="center", va="center", fontsize=10, color=INK, zorder=4)
        return box

    def square(self, x: float, y: float, side: float, fill: Colour, text: str) -> None:
        """A square of any colour; its text is black or white, whichever can be read on it."""
        corner = (x - side / 2, y - side / 2)
        self.axes.add_patch(Rectangle(corner, side, side, facecolor=fill, edgecolor="white", linewidth=1.0))
        red, green, blue, _ = fill
        ink = "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.4 else "white"  # how bright the eye finds it
        self.axes.text(x, y, text, ha="center", va="center", fontsize=8.5, color=ink)

    def label(self, x: float, y: float, text: str, align: str = "center", size: float = 8.0) -> None:
        self.axes.text(x, y, text, ha=align, va="center", fontsize=size, color=FAINT, linespacing=1.2)

    def arrow(self, *points: Point) -> None:
        """An arrow through the points, with a head at the last one."""
        self.line(*points[:-1])
        head = FancyArrowPatch(*points[-2:], arrowstyle="-|>", mutation_scale=9, color=INK, shrinkA=0, shrinkB=0)
        self.axes.add_patch(head)

    def line(self, *points: Point) -> None:
        self.axes.plot([x for x, _ in points], [y for _, y in points], color=INK, linewidth=1.0)

    def stack(self, x: float, rows: Iterable[tuple[float, str, str]], width: float, height: float = 0.42) -> list[Box]:
        """Boxes below each other, with an arrow upwards from each to the next. rows: height, text and kind of each"""
        boxes = [self.box(x, y, text, kind, width, height) for y, text, kind in rows]
        self.chain(boxes)
        return boxes

    def skip(self, x: float, start: float, to: float, end: Box, text: str = "skip") -> None:
        """An arrow from (x, start) around other boxes, at ``to``, into the right side of a box further up."""
        self.arrow((x, start), (to, start), (to, end.y), end.right)
        self.label(to + 0.08, (start + end.y) / 2, text, align="left")

    def chain(self, boxes: Sequence[Box]) -> None:
        """Arrows upwards from each box to the next."""
        for lower, upper in pairwise(boxes):
            self.arrow(lower.top, upper.bottom)

    def _rectangle(self, box: Box, fill: str, line: str) -> None:
        corner = (box.x - box.width / 2, box.y - box.height / 2)
        rounded, edge = "round,pad=0,rounding_size=0.06", INK if line == "solid" else FAINT
        style = {"facecolor": fill, "edgecolor": edge, "linestyle": line}
        self.axes.add_patch(FancyBboxPatch(corner, box.width, box.height, rounded, **style))  # type: ignore[arg-type]
