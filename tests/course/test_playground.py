"""A sentence of one's own: tokens by the function that is given, logits, one head; in a text box and without."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from matplotlib.figure import Figure

from course import parts, playground, pretrained
from course.errors import CourseError, MissingPackage, SentenceError
from course.figures.decoder import curves
from course.tokenizer import encode, load_tokenizer
from tests.claims.texts import cell

SENTENCE = "The plot is not good."


@pytest.fixture(scope="module")
def model() -> Any:
    return pretrained.load(parts.ReadyClassifier, "mini").eval()


def in_capitals(tokenizer: Any, input_ids: torch.Tensor) -> list[str]:
    """A function that nobody but its author would write, so that its tokens are known again."""
    return [token.upper() for token in tokenizer.convert_ids_to_tokens(input_ids[0].tolist())]


def unfinished(tokenizer: Any, input_ids: torch.Tensor) -> list[str]:
    raise NotImplementedError


def test_tokens_come_from_the_given_function_and_numbers_from_the_model(model: Any) -> None:
    reading = playground.read(model, in_capitals, SENTENCE, layer=1, head=3)
    assert reading.tokens == in_capitals(load_tokenizer(), encode(SENTENCE, model.config)["input_ids"])
    with torch.no_grad():
        logits = model(encode(SENTENCE, model.config)["input_ids"])
    assert reading.logits == logits[0].tolist()
    assert torch.equal(reading.weights, model.attention_probs[1][0, 3])
    assert (reading.title, reading.note) == ("layer 1, head 3", "")


@pytest.mark.parametrize("wrong", [unfinished, lambda *_: None, lambda *_: ["one"], lambda *_: [1] * 8])
def test_an_unfinished_function_shows_ids_and_a_remark(model: Any, wrong: Callable[..., Any]) -> None:
    reading = playground.read(model, wrong, SENTENCE)
    assert reading.tokens == [str(n) for n in encode(SENTENCE, model.config)["input_ids"][0].tolist()]
    assert "These are ids, not tokens" in reading.text()


@pytest.mark.parametrize("sentence", ["", "  ", None, "word " * 60])
def test_a_sentence_that_cannot_be_shown_is_refused(model: Any, sentence: Any) -> None:
    with pytest.raises(SentenceError):
        playground.read(model, in_capitals, sentence)


@pytest.mark.parametrize("place", [{"layer": 6}, {"layer": -1}, {"head": 12}])
def test_a_head_that_there_is_not_is_refused(model: Any, place: dict[str, int]) -> None:
    with pytest.raises(CourseError, match="numbered from 0 to"):
        playground.read(model, in_capitals, SENTENCE, **place)


def test_the_plain_call_prints_the_same_and_draws_one_head(model: Any, capsys: pytest.CaptureFixture[str]) -> None:
    figure = playground.look(model, in_capitals, SENTENCE, layer=0, head=2)
    assert "[CLS] THE PLOT" in capsys.readouterr().out
    assert figure.axes[0].get_title() == "layer 0, head 2"


@pytest.mark.slow
def test_what_is_shown_follows_the_text_box_and_the_menus(model: Any) -> None:
    pytest.importorskip("ipywidgets", reason="ipywidgets is not installed (the extra 'views')")
    view = playground.text_box(model, in_capitals, SENTENCE)
    box, (layer, head), shown = view.children[0], view.children[1].children, view.children[2]
    assert "THE PLOT" in shown.value and playground.START in shown.value
    box.value = "<b>Great</b>"
    assert "&lt; B &gt; GREAT" in shown.value and "<b>" not in shown.value.lower()
    layer.value, head.value = 2, 5
    assert 'alt="Attention weights of layer 2, head 5.' in shown.value
    box.value = ""
    assert shown.value == "<p>The sentence is empty: type at least one word.</p>"


def test_without_ipywidgets_one_line_says_what_to_install(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playground, "find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match="pip install ipywidgets"):
        playground.text_box(model, in_capitals, SENTENCE)


@pytest.mark.parametrize(
    ("notebook", "function"),
    [("distilbert/4_attention_visualization", "ids_to_tokens"), ("encoder_lab/3_attention_visualization", "tokens_of")],
)
def test_both_notebooks_have_both_ways_and_distilbert_takes_the_students_function(notebook: str, function: str) -> None:
    assert f"playground.text_box(model, {function}," in cell(notebook, "text-box")
    assert f"playground.look(model, {function}," in cell(notebook, "without-text-box")


def shown(text: str, place: int, factor: float, words: int) -> tuple[str, Figure]:
    if not text:
        raise ValueError("Type something.")
    return f"{text} {place} {factor:g} {words}", curves({"line": ([1, 2], [factor, place])}, "x", "y")


def test_a_panel_has_a_control_for_each_value_and_follows_all_of_them() -> None:
    widgets = pytest.importorskip("ipywidgets", reason="ipywidgets is not installed (the extra 'views')")
    view = playground.panel(shown, text="begin", place=(range(3), 1), factor=(0.0, 2.0, 0.5, 1.0), words=(1, 9, 1, 4))
    box, rest, below = view.children
    place, number, factor, count, words = rest.children
    assert playground.START in below.value and "<img" not in below.value, "nothing is drawn while it is graded"
    kinds = (widgets.Text, widgets.Dropdown, widgets.FloatSlider, widgets.IntSlider)
    assert tuple(map(type, (box, place, factor, words))) == kinds
    assert [control.description for control in (box, place, number, count)] == ["text", "place", "factor", "words"]
    place.value, factor.value, words.value, box.value = 2, 0.5, 7, "more"
    assert "<p>more 2 0.5 7</p>" in below.value and '<img alt="A line chart' in below.value
    assert (number.value, count.value) == (0.5, 7)
    number.value = 1.5
    assert "<p>more 2 1.5 7</p>" in below.value
    box.value = ""
    assert below.value == "<p>Type something.</p>"


def test_where_no_page_draws_the_controls_the_output_leads_to_the_next_cell() -> None:
    pytest.importorskip("ipywidgets", reason="ipywidgets is not installed (the extra 'views')")
    view = playground.panel(shown, text="begin", place=(range(3), 1), factor=(0.0, 2.0, 0.5, 1.0), words=(1, 9, 1, 4))
    data = view._repr_mimebundle_()
    assert data["text/plain"] == playground.NO_CONTROLS and "application/vnd.jupyter.widget-view+json" in data


def test_without_ipywidgets_a_panel_says_so_and_the_notebook_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(playground, "find_spec", lambda name: None)
    assert playground.panel(shown, text="begin") is None
    assert "pip install ipywidgets" in capsys.readouterr().out


@pytest.mark.parametrize(
    "notebook", ["numpy_attention/1_attention", "decoder/1_language_model", "decoder/2_generation",
                 "decoder/5_looking_inside"],
)  # fmt: skip
def test_beside_every_panel_stands_a_plain_call_of_the_same_function(notebook: str) -> None:
    name = re.search(r"playground\.panel\((\w+),", cell(notebook, "play"))
    assert name and f"{name[1]}(" in cell(notebook, "play-plain")
