"""Every figure says in words what it shows, and the words come with the picture."""

import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from autograder.feedback.page import notebook_body
from autograder.pipeline.drawings import drawing
from course import attention_html, figures
from course.figures.described import MIN_CHARACTERS, alt_text, attention_text, curves_text, described, number

TOKENS = ["[CLS]", "good", "film", ".", "[SEP]"]
WEIGHTS = torch.rand(2, 5, 5, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)
HISTORY = {f"{part}_{what}": [0.6, 0.7] for part in ("train", "test") for what in ("loss", "accuracy")}
ROWS = [("a good/bad film", 0.9, 0.1), ("a red/blue film", 0.5, 0.4)]
#: Arguments of the figures that need some; one that needs some and is not here fails the first test.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "cache.step_times": ({"one block": ((16, 64), {"whole": [1.0, 4.2], "cached": [0.9, 1.1]})},),
    "decoder.bars": ({"T = 1": [0.7, 0.3], "T = 2": [0.6, 0.4]}, ["cat", "dog"], "probability"),
    "decoder.rows_of_bars": ({"greedy": [0.9, 0.31], "drawn": [0.1, 0.44]}, ["repetition", "surprisal"]),
    "decoder.curves": ({"loss": (range(3), [4.0, 1.5, 2.0])}, "step", "loss", {"even": 4.25}),
    "lab.lines": ({"one": [0.1, 0.2], "two": [[0.3, 0.01], [0.4, 0.02]]}, "layer", "accuracy"),
    "lab.losses": ({"AdamW": [0.7, 0.4], "SGD": [0.7, 0.6]},),
    "lab.two_effects": ([[0.1, -0.2], [0.3, 0.0]], [[0.2, -0.1], [0.1, 0.1]], ["layer 0", "layer 1"], ["0", "1"]),
    "heatmaps.attention_heatmaps": (WEIGHTS, TOKENS),
    "heatmaps.head_grid": (WEIGHTS, TOKENS),
    "modern.effects": ([[0.5, -1.5]], ["layer 0"], ["head 0", "head 1"], "head", "change"),
    "modern.scores_by_distance": ({"alike": torch.arange(4.0)},),
    "neurons.neuron_view": (torch.rand(3, 5, 4), torch.rand(3, 5, 4), TOKENS, 1),
    "tutorial_plots.coin_tosses": (0.7, 1000),
    "tutorial_plots.curves": (HISTORY, 0.5),
    "tutorial_plots.gaps": (ROWS[:1], ROWS[1:]),
    "tutorial_plots.position_table": (torch.rand(6, 8),),
    "tutorial_plots.weight_bars": ({"river bank": torch.tensor([0.4, 0.6])}, "bank"),
    "tutorial_plots.who_gets_what": (torch.rand(1, 5, 6).expand(3, 5, 6), torch.rand(3, 1, 6).expand(3, 5, 6)),
}


def drawn() -> Iterator[Any]:
    """The public functions of ``course/figures`` that give a figure."""
    for module in pkgutil.iter_modules(figures.__path__):
        found = importlib.import_module(f"course.figures.{module.name}")
        for name, function in inspect.getmembers(found, inspect.isfunction):
            gives = inspect.signature(function).return_annotation in ("Figure", Figure)
            if function.__module__ == found.__name__ and name[0] != "_" and name != "described" and gives:
                yield pytest.param(function, id=f"{module.name}.{name}")


@pytest.mark.slow
@pytest.mark.parametrize("draw", drawn())
def test_every_figure_of_the_course_says_what_it_shows(draw: Callable[..., Figure], request: Any) -> None:
    needed = [one for one in inspect.signature(draw).parameters.values() if one.default is one.empty]
    name = request.node.callspec.id
    assert not needed or name in ARGUMENTS, f"write example arguments of {name} into ARGUMENTS"
    text = alt_text(draw(*ARGUMENTS.get(name, ())))
    assert len(text) >= MIN_CHARACTERS and text.endswith("."), text
    assert len(text) <= 500, "one or two sentences"


def test_the_examples_are_of_figures_that_there_are() -> None:
    assert set(ARGUMENTS) <= {one.id for one in drawn()}


def test_a_figure_without_words_is_told_from_one_with_too_few() -> None:
    assert alt_text(Figure()) == ""
    with pytest.raises(ValueError, match=r"20 characters or more.*'a figure'"):
        described(Figure(), "a figure")
    assert alt_text(described(Figure(), "One line,\n   and   another one.")) == "One line, and another one."


def test_a_described_figure_can_still_be_copied() -> None:
    assert alt_text(pickle.loads(pickle.dumps(figures.pipeline()))) == alt_text(figures.pipeline())


def test_heat_maps_are_told_by_where_the_largest_weights_lie() -> None:
    same, before = np.eye(5), np.eye(5, k=-1)
    before[0, 0], first = 1.0, np.zeros((5, 5))
    first[:, 4] = 1.0
    text = attention_text(np.stack([same, before, first]), TOKENS, ["a", "b", "c"])
    assert text.startswith("3 heat maps of attention weights, with 5 queries")
    assert "a: the token itself for 5 of 5; b: the token before for 4 of 5; c: “[SEP]” (position 4) for 5 of 5" in text
    one = attention_text(before[None], TOKENS, ["layer 0"])
    assert one.startswith("Attention weights of layer 0. Largest weight of each query: “[CLS]” to “[CLS]”, ")
    assert one.endswith("“film” to “good”, “.” to “film”, “[SEP]” to “.”.")
    many = attention_text(np.eye(30)[None], [str(place) for place in range(30)], ["weights"])
    assert "30 queries down" in many and "weights: the token itself for 30 of 30" in many
    scattered = np.eye(30)[np.random.default_rng(0).permutation(30)]
    assert "no place for more than" in attention_text(scattered[None], ["a"] * 30, ["weights"])


def test_curves_are_told_by_their_ends_and_their_range() -> None:
    text = curves_text({"loss": (range(3), [4.0, 1.5, 2.0])}, "step", "loss")
    assert "across step from 0 to 2" in text and "begins at 4, ends at 2 and lies between 1.5 and 4." in text
    assert curves_text({"loss": ((), ())}, "step", "loss") == "An empty line chart of loss over step."
    assert (number(12345.6), number(0.12345), number(float("nan"))) == ("12,346", "0.123", "nan")


def test_the_words_depend_on_what_was_given() -> None:
    text = alt_text(figures.neuron_view(torch.eye(5)[None], torch.eye(5)[None], TOKENS, head=0, query=2))
    assert "query “film”" in text and "Highest: “film”, 0.45" in text
    right, wrong = ARGUMENTS["tutorial_plots.who_gets_what"]
    plots = importlib.import_module("course.figures.tutorial_plots")
    text = alt_text(plots.who_gets_what(right, wrong))
    assert "right”, where every sentence gets the same" in text and "wrong”, where every token gets the same" in text
    assert text != alt_text(plots.who_gets_what(right, right))


@pytest.mark.slow
def test_the_words_are_saved_with_the_picture_and_shown_in_feedback() -> None:
    own = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    words = "A line that rises from 1 to 2."
    notebook = new_notebook(
        cells=[
            new_code_cell("from course import figures\nfigures.pipeline()"),
            new_code_cell(own, metadata={"alt": words}),
            new_code_cell(own),
        ]
    )
    NotebookClient(notebook, kernel_name="python3").execute()
    (drawing,) = notebook.cells[0].outputs
    assert drawing.metadata["image/png"]["alt"] == alt_text(figures.pipeline())
    page = notebook_body(nbformat.from_dict(notebook))
    assert f'alt="{alt_text(figures.pipeline())}"' in page
    assert page.count(f'alt="{words}"') == page.count('alt="the figure that this cell drew"') == 1


def test_a_drawing_that_is_made_once_for_everybody_has_its_words() -> None:
    made = drawing("figures.pipeline()", "course.figures")
    assert made is not None and made.metadata["image/png"]["alt"] == alt_text(figures.pipeline())


@pytest.mark.skipif(not all(map(attention_html._installed, attention_html.PACKAGES)), reason="bertviz is not installed")
def test_the_interactive_views_are_labelled() -> None:
    attention = [WEIGHTS[None], WEIGHTS[None]]
    label = 'role="group" aria-label="Model view of attention: 2 rows of layers, 2 heads in each'
    assert label in figures.model_view(attention, TOKENS).data
    assert 'aria-label="Head view of attention, layer 1 at first' in figures.head_view(attention, TOKENS, layer=1).data
