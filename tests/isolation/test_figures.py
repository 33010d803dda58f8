"""A kernel prints figures with one drawing in the place of two, and they are the same to the byte."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from autograder.kernel import warm_process
from tests.isolation.conftest import Go, cell, text

Draw = Callable[[Figure], object]
#: name -> what draws into a new figure.
FLAT: dict[str, Draw] = {}
OTHER: dict[str, Draw] = {}


def flat(draw: Draw) -> Draw:
    return FLAT.setdefault(draw.__name__, draw)


def other(draw: Draw) -> Draw:
    return OTHER.setdefault(draw.__name__, draw)


@flat
def attention_weights(figure: Figure) -> None:
    figure.set_size_inches(5, 7)
    for panel in figure.subplots(2, 2).flat:
        image = panel.imshow(np.arange(16.0).reshape(4, 4), vmin=0)
        panel.set_xticks(range(4), ["[CLS]", "a", "##long", "[SEP]"], rotation=90)
        panel.set_ylabel("query")
        figure.colorbar(image, ax=panel, shrink=0.8)


@flat
def text_and_legend_outside(figure: Figure) -> None:
    axes = figure.subplots()
    axes.plot([1, 5, 2], label="loss")
    axes.legend(loc="upper left", bbox_to_anchor=(1.05, 1))
    axes.text(-0.4, 0.5, "outside", transform=axes.transAxes)
    axes.annotate("here", (1, 5), (3, 9), arrowprops={"arrowstyle": "->"}, annotation_clip=False)


@flat
def a_legend_where_there_is_room(figure: Figure) -> None:
    axes = figure.subplots()
    axes.hist([1, 1, 2, 5], label="count")
    axes.legend(loc="best")


@flat
def constrained(figure: Figure) -> None:
    figure.set_layout_engine("constrained")
    panels = figure.subplots(2, 2, sharex=True)
    figure.colorbar(next(panel.imshow([[1, 2], [3, 4]]) for panel in panels.flat), ax=panels)
    figure.suptitle("weights")
    figure.supxlabel("key")


@flat
def tight(figure: Figure) -> None:
    figure.set_layout_engine("tight")
    for panel in figure.subplots(2, 2).flat:
        panel.set_xlabel("a label that needs room")


@flat
def logarithmic_twins(figure: Figure) -> None:
    axes = figure.subplots()
    axes.loglog([1, 10, 1000], [1e-8, 3, 1e9])
    axes.twinx().plot([1, 1000], [1e6, 2e6])
    axes.inset_axes((0.8, 0.8, 0.5, 0.5)).plot([1, 2])


@flat
def pie_and_table(figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    left.pie([1, 2, 3], labels=["a", "a very long label of a piece", "c"], autopct="%d")
    right.axis("off")
    right.table([["1", "2"]], colLabels=["a long head", "b"], loc="center")


@flat
def boxes_and_contours(figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    left.boxplot([[1, 2, 3], [2, 3, 9]])
    left.set_xlabel("wrapped " * 30, wrap=True)
    figure.colorbar(right.contourf(np.arange(16.0).reshape(4, 4) ** 2))


@flat
def dates(figure: Figure) -> None:
    figure.subplots().plot(np.array(["2026-01-01", "2026-05-01"], dtype="datetime64"), [1e-9, 3e-9])
    figure.autofmt_xdate()


@flat
def words_alone(figure: Figure) -> None:
    figure.text(0.5, 0.5, "no axes")
    figure.add_artist(plt.Line2D([0, 1], [0, 1]))


@other
def large_markers(figure: Figure) -> None:
    figure.subplots().scatter([1, 2], [3, 4], s=900, clip_on=False)


@other
def polar(figure: Figure) -> None:
    figure.add_subplot(projection="polar").plot([1, 2, 3])


@other
def in_three_dimensions(figure: Figure) -> None:
    figure.add_subplot(projection="3d").plot([1, 2, 3], [1, 2, 3], [1, 2, 3])


@other
def figures_in_figures(figure: Figure) -> None:
    for part in figure.subfigures(1, 2):
        part.subplots().plot([1, 2])


def new(draw: Draw) -> Figure:
    figure = Figure()
    FigureCanvasAgg(figure)
    draw(figure)
    return figure


@pytest.mark.parametrize("draw", [*FLAT.values(), *OTHER.values()], ids=[*FLAT, *OTHER])
def test_the_picture_is_the_same_to_the_byte(draw: Draw) -> None:
    ours, stock = new(draw), new(draw)
    for _ in range(2):  # shown in two cells
        printed = warm_process.print_figure(ours)
        assert printed == warm_process._print_twice(stock)
        assert printed is None or printed.startswith(b"\x89PNG")


@pytest.mark.parametrize("how", [{"fmt": "svg"}, {"fmt": "pdf"}, {"fmt": "retina"}, {"bbox_inches": None}])
@pytest.mark.parametrize("name", ["attention_weights", "constrained"])
def test_it_is_the_same_in_every_format_and_without_the_tight_box(
    name: str, how: dict[str, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # files of these formats say when they were made
    monkeypatch.setitem(plt.rcParams, "svg.hashsalt", "the same")
    printed = warm_process.print_figure(new(FLAT[name]), **how)
    assert printed == warm_process._print_twice(new(FLAT[name]), **how)
    assert len(printed) > 5000


@pytest.mark.parametrize("name", FLAT)
def test_flat_axes_are_drawn_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Axes] = []
    draw = Axes.draw

    def counted(axes: Axes, renderer: object) -> None:
        drawn.append(axes)
        draw(axes, renderer)  # type: ignore[arg-type]

    monkeypatch.setattr(Axes, "draw", counted)
    warm_process.print_figure(new(FLAT[name]))
    assert len(drawn) == len({id(axes) for axes in drawn})


def test_a_figure_that_cannot_be_drawn_raises_as_before_and_keeps_its_own_way_to_draw() -> None:
    figure = new(attention_weights)
    figure.axes[0].set_title("$\\frac$")  # no formula
    with pytest.raises(ValueError, match="frac"):
        warm_process.print_figure(figure)
    assert "draw" not in vars(figure)


def test_kernels_print_figures_so(go: Go) -> None:
    ran = go(cell("import IPython.core.pylabtools as shown; print(shown.print_figure.__module__)"))
    assert text(ran.notebook) == "autograder.kernel.warm_process\n"


def test_a_kernel_draws_a_figure_once_for_the_page_and_never_for_a_screen(go: Go) -> None:
    count = (
        "import matplotlib.pyplot as plt\nfrom matplotlib.axes import Axes\ndraw, drawn = Axes.draw, []\n"
        "Axes.draw = lambda axes, *rest: (drawn.append(axes), draw(axes, *rest))\nplt.plot([1, 2]);"
    )
    ran = go(cell(count), cell("print(len(drawn), plt.get_fignums())"))
    assert ran.notebook.cells[1].outputs[0].text == "1 []\n"
    assert "image/png" in ran.notebook.cells[0].outputs[0].data
