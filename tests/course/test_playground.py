"""A sentence of one's own: tokens by the function that is given, logits, one head; in a text box and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from course import parts, playground, pretrained
from course.errors import CourseError, MissingPackage, SentenceError
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
    [("distilbert/4_attention_visualization", "ids_to_tokens"), ("encoder_lab/2_attention_visualization", "tokens_of")],
)
def test_both_notebooks_have_both_ways_and_distilbert_takes_the_students_function(notebook: str, function: str) -> None:
    assert f"playground.text_box(model, {function}," in cell(notebook, "text-box")
    assert f"playground.look(model, {function}," in cell(notebook, "without-text-box")
