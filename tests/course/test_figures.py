"""The pictures: what stands in them, and that it can be read."""

from itertools import combinations

import numpy as np
import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from course import figures
from course.errors import CourseError

TOKENS = ["[CLS]", "good", "film", ".", "[SEP]"]
SCHEMATICS = (
    figures.pipeline,
    figures.pipeline_embedding,
    figures.pipeline_model,
    figures.embedding_sum,
    figures.attention_block,
    figures.multi_head,
    figures.attention_in_numpy,
    figures.attention_in_distilbert,
    figures.attention_in_encoder_lab,
    figures.pre_and_post_norm,
)


def attention(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)


def texts(figure: Figure) -> list[tuple[Text, tuple[float, ...]]]:
    """Every visible text with its box in pixels: left, bottom, right, top."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text, tuple(text.get_window_extent(canvas.get_renderer()).extents)) for text in found]


@pytest.mark.parametrize("draw", SCHEMATICS, ids=lambda draw: draw.__name__)
def test_a_drawing_fits_the_notebook_and_its_texts_can_be_read(draw: type) -> None:
    figure = draw()
    width, height = figure.get_size_inches() * figure.dpi
    assert figure.get_size_inches()[0] == 7.5
    found = texts(figure)
    for text, (left, bottom, right, top) in found:
        assert float(text.get_fontsize()) >= 8
        assert left >= 0 and bottom >= 0 and right <= width and top <= height, text.get_text()
    for (one, a), (other, b) in combinations(found, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, f"{one.get_text()!r} and {other.get_text()!r} overlap"


def test_each_layer_has_a_panel_with_the_weights_it_was_given() -> None:
    weights = attention(4, 5, 5)
    figure = figures.attention_heatmaps(weights, TOKENS)
    panels = [axes for axes in figure.axes if axes.images]
    assert [axes.get_title() for axes in panels] == ["layer 0", "layer 1", "layer 2", "layer 3"]
    for axes, layer in zip(panels, weights, strict=True):
        np.testing.assert_allclose(np.asarray(axes.images[0].get_array()), layer.numpy())
        # asked of the formatter, for inner panels have labels that are not shown
        assert axes.xaxis.get_major_formatter().format_ticks(list(axes.get_xticks())) == TOKENS
        assert axes.yaxis.get_major_formatter().format_ticks(list(axes.get_yticks())) == TOKENS


def test_keys_run_along_x_and_queries_along_y_and_the_colours_have_a_bar() -> None:
    figure = figures.attention_heatmaps(attention(2, 5, 5), TOKENS, titles=["first", "second"])
    panels = [axes for axes in figure.axes if axes.images]
    assert (panels[0].get_xlabel(), panels[0].get_ylabel()) == ("key", "query")
    assert panels[1].get_title() == "second"
    (bar,) = (axes for axes in figure.axes if axes not in panels)
    assert bar.get_ylabel() == "attention weight (brightness: its square root)"


def test_the_heads_of_a_layer_may_come_with_their_batch_of_one() -> None:
    figure = figures.head_grid(attention(1, 12, 5, 5), TOKENS)
    assert sum(bool(axes.images) for axes in figure.axes) == 12


def test_layers_may_come_as_a_list_or_as_the_models_dictionary() -> None:
    weights = attention(3, 5, 5)
    for given in (list(weights), {2: weights[2], 0: weights[0], 1: weights[1]}):
        first, *_, last = [axes for axes in figures.attention_heatmaps(given, TOKENS).axes if axes.images]
        np.testing.assert_allclose(np.asarray(first.images[0].get_array()), weights[0].numpy())
        np.testing.assert_allclose(np.asarray(last.images[0].get_array()), weights[2].numpy())


def test_a_long_sentence_keeps_its_labels_legible() -> None:
    tokens = [f"word{i}" for i in range(120)]
    figure = figures.attention_heatmaps(attention(6, 120, 120), tokens)
    labels = figure.axes[0].get_yticklabels()
    assert 10 < len(labels) <= 24 and all(float(label.get_fontsize()) >= 5 for label in labels)


@pytest.mark.parametrize(
    ("weights", "tokens", "message"),
    [
        (attention(5, 5), TOKENS, r"axes \(layers, queries, keys\), but has shape \(5, 5\)"),
        (attention(6, 12, 5, 5), TOKENS, r"but has shape \(6, 12, 5, 5\)"),
        (attention(6, 12, 5), TOKENS, r"as many queries as keys"),
        (attention(6, 5, 5), TOKENS[1:], "4 tokens"),
        (attention(6, 5, 5) * torch.nan, TOKENS, "150 are not"),
    ],
)
def test_wrong_shapes_are_refused_in_one_line(weights: torch.Tensor, tokens: list[str], message: str) -> None:
    with pytest.raises(CourseError, match=f"(?i){message}") as error:
        figures.attention_heatmaps(weights, tokens)
    assert "\n" not in str(error.value)


def test_the_neuron_view_shows_the_products_and_their_sum_the_scaled_score() -> None:
    queries, keys = torch.randn(3, 5, 4), torch.randn(3, 5, 4)
    figure = figures.neuron_view(queries, keys, TOKENS, head=1, query=2)
    *_, product, total = figure.axes
    np.testing.assert_allclose(np.asarray(product.images[0].get_array()), queries[1, 2] * keys[1] / 2, rtol=1e-6)
    lengths = [bar.get_width() for bar in total.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(lengths, keys[1] @ queries[1, 2] / 2, rtol=1e-4, atol=1e-5)
    assert "film" in figure.get_suptitle()


@pytest.mark.parametrize(("head", "query", "message"), [(3, 0, "head must lie between 0 and 2"), (0, -1, "query must")])
def test_a_head_or_position_that_is_not_there_is_named(head: int, query: int, message: str) -> None:
    with pytest.raises(CourseError, match=message):
        figures.neuron_view(torch.randn(3, 5, 4), torch.randn(3, 5, 4), TOKENS, head=head, query=query)


@pytest.mark.slow
def test_a_figure_appears_once_in_a_notebook() -> None:
    cell = new_code_cell("from course import figures\nfigures.pipeline()")
    notebook = new_notebook(cells=[cell])
    NotebookClient(notebook, kernel_name="python3").execute()
    assert [("image/png" in output.get("data", {})) for output in cell.outputs] == [True]
