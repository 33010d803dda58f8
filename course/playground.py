"""Pictures that follow text boxes, menus and sliders; and a sentence of your own: tokens, one head's weights, logits.

The controls need ipywidgets. Everything that it shows is one piece of HTML, picture included: JupyterLab, VS Code and
Colab show that in the same way.
"""

import base64
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from course.errors import CourseError, MissingPackage, SentenceError
from course.figures.described import alt_text
from course.figures.heatmaps import head_grid
from course.tokenizer import encode, load_tokenizer

if TYPE_CHECKING:
    from torch import Tensor

#: What the two logits stand for, in the order in which the model gives them.
CLASSES = ("negative", "positive")
MAX_TOKENS = 40  # more labels than that cannot be read

START = "Change something, in a text box with Enter: the picture follows."
#: What is shown where no page draws the controls; ipywidgets cuts it off after 110 characters.
NO_CONTROLS = "The controls cannot be shown here (ipywidgets is not running). The next cell shows the same."

IdsToTokens = Callable[[Any, "Tensor"], Sequence[str]]
Show = Callable[..., tuple[str, Figure]]
#: A text; or (the values of a menu, the first one chosen); or (least, most, step, first value) of a slider.
Control = str | tuple[Any, Any] | tuple[float, float, float, float]


@dataclass(frozen=True)
class Reading:
    """What a model makes of one sentence. ``weights``: one head's (queries, keys); ``note``: empty, or a remark"""

    tokens: list[str]
    logits: list[float]
    weights: "Tensor"
    title: str
    note: str = ""

    def text(self) -> str:
        """Three lines at most: tokens, logits, remark."""
        judged = ", ".join(f"{name} {logit:.2f}" for name, logit in zip(CLASSES, self.logits, strict=True))
        positive = (1 + math.tanh((self.logits[1] - self.logits[0]) / 2)) / 2
        lines = [f"tokens: {' '.join(self.tokens)}", f"logits: {judged} (positive with {positive:.1%})", self.note]
        return "\n".join(line for line in lines if line)

    def figure(self) -> Figure:
        return head_grid(self.weights[None], self.tokens, [self.title])


def read(model: Any, ids_to_tokens: IdsToTokens, sentence: str, layer: int = 0, head: int = 0) -> Reading:
    """Run the model on a sentence.

    model: ``input_ids`` (1, tokens) -> logits (1, 2); keeps ``attention_probs``, layer -> (1, heads, tokens, tokens)
    ids_to_tokens: called with the tokenizer and ``input_ids``; where it fails, the ids are shown in place of tokens
    Raises SentenceError for a sentence that is empty or too long, CourseError for a layer or head that there is not.
    """
    if not isinstance(sentence, str) or not sentence.strip():
        raise SentenceError("The sentence is empty: type at least one word.")
    input_ids = encode(sentence, model.config)["input_ids"]  # (1, tokens)
    if input_ids.shape[1] > MAX_TOKENS:
        raise SentenceError(f"The sentence has {input_ids.shape[1]} tokens, and the picture has room for {MAX_TOKENS}.")
    import torch  # notebooks that need no torch draw with panels, too

    with torch.no_grad():
        logits = model(input_ids)  # (1, 2)
    layers = model.attention_probs
    _check_place("layer", layer, len(layers))
    _check_place("head", head, layers[layer].shape[1])
    tokens, note = _tokens(ids_to_tokens, load_tokenizer(), input_ids)
    weights = layers[layer][0, head].detach()  # (queries, keys)
    return Reading(tokens, logits[0].tolist(), weights, f"layer {layer}, head {head}", note)


def look(model: Any, ids_to_tokens: IdsToTokens, sentence: str, layer: int = 0, head: int = 0) -> Figure:
    """Print tokens and logits, and give back a picture of one head's weights. Arguments as for ``read``."""
    reading = read(model, ids_to_tokens, sentence, layer, head)
    print(reading.text())
    return reading.figure()


def text_box(model: Any, ids_to_tokens: IdsToTokens, sentence: str, layer: int = 0, head: int = 0) -> Any:
    """A text box and two menus; what is below them follows. Arguments as for ``read``.

    The first picture is drawn when something is changed: grading runs this cell for everybody, and nobody looks at it.
    Raises MissingPackage where ipywidgets is not installed.
    """
    first = read(model, ids_to_tokens, sentence, layer, head)
    layers = model.attention_probs

    def show(sentence: str, layer: int, head: int) -> tuple[str, Figure]:
        reading = read(model, ids_to_tokens, sentence, layer, head)
        return reading.text(), reading.figure()

    places = {"layer": (range(len(layers)), layer), "head": (range(layers[layer].shape[1]), head)}
    return _panel(show, {"sentence": sentence, **places}, f"{first.text()}\n{START}")


def panel(show: Show, **controls: Control) -> Any:
    """Controls, and below them what ``show`` makes of their values; it is called when one is changed.

    show: takes the values by name -> a text and a figure
    controls: a text makes a text box; (numbers, start) a menu; (least, most, step, start) a slider
    Where ipywidgets is not installed, this says so and gives None: the plain call of ``show`` needs nothing.
    """
    try:
        return _panel(show, controls, START)
    except MissingPackage as message:
        print(message)
        return None


def _panel(show: Show, controls: Mapping[str, Control], text: str) -> Any:
    """The widget, with ``text`` below the controls at first: grading runs this for everybody, and nobody looks.

    Raises MissingPackage.
    """
    if find_spec("ipywidgets") is None:
        raise MissingPackage(
            "The text box needs the package ipywidgets. Install it with\n    pip install ipywidgets\n"
            "and restart the notebook; or use the next cell, which shows the same."
        )
    import ipywidgets as widgets

    made = {name: _control(widgets, name, control) for name, control in controls.items()}
    shown = widgets.HTML(_lines(text))

    def follow(_: Any) -> None:
        try:
            shown.value = _page(*show(**{name: widget.value for name, widget in made.items()}))
        except (CourseError, ValueError) as error:
            shown.value = _lines(str(error))

    for widget in made.values():
        widget.observe(follow, names="value")
    boxes = [widget for widget in made.values() if isinstance(widget, widgets.Text)]
    rest = widgets.HBox([
        one for name, widget in made.items() if widget not in boxes for one in (*_field(widgets, name, widget), widget)
    ])  # fmt: skip

    class Panel(widgets.VBox):
        def __repr__(self) -> str:
            return NO_CONTROLS

    return Panel([*boxes, rest, shown])


def _control(widgets: Any, name: str, control: Control) -> Any:
    if isinstance(control, str):
        wide = widgets.Layout(width="95%")
        return widgets.Text(control, description=name, continuous_update=False, layout=wide)
    if len(control) == 2:
        return widgets.Dropdown(options=control[0], value=control[1], description=name)
    least, most, step, start = control
    kind = widgets.IntSlider if isinstance(step, int) else widgets.FloatSlider
    return kind(start, min=least, max=most, step=step, readout=False, continuous_update=False)


def _field(widgets: Any, name: str, slider: Any) -> list[Any]:
    """A field with a slider's number and name: ipywidgets gives a slider's handle no name that is read aloud."""
    if not isinstance(slider, widgets.IntSlider | widgets.FloatSlider):
        return []
    kind = widgets.BoundedIntText if isinstance(slider, widgets.IntSlider) else widgets.BoundedFloatText
    sizes = {size: getattr(slider, size) for size in ("min", "max", "step")}
    field = kind(slider.value, description=name, layout=widgets.Layout(width="170px"), **sizes)
    widgets.link((slider, "value"), (field, "value"))
    return [field]


def _tokens(ids_to_tokens: IdsToTokens, tokenizer: Any, input_ids: "Tensor") -> tuple[list[str], str]:
    """(one label for each position, a remark where these are ids)"""
    ids = [str(number) for number in input_ids[0].tolist()]
    name = getattr(ids_to_tokens, "__name__", "the function for tokens")
    try:
        tokens = list(ids_to_tokens(tokenizer, input_ids))
    except Exception as error:  # the student's function may fail in any way; the rest is shown nevertheless
        return ids, f"These are ids, not tokens: {name} raises {type(error).__name__}."
    if len(tokens) != len(ids) or not all(isinstance(token, str) for token in tokens):
        return ids, f"These are ids, not tokens: {name} must give {len(ids)} texts here, one for each id."
    return tokens, ""


def _check_place(what: str, number: int, count: int) -> None:
    if number not in range(count):
        raise CourseError(f"There is no {what} {number!r}: this model's are numbered from 0 to {count - 1}.")


def _page(text: str, figure: Figure) -> str:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=80)
    data = base64.b64encode(picture.getvalue()).decode()
    return f'{_lines(text)}<img alt="{escape(alt_text(figure))}" src="data:image/png;base64,{data}">'


def _lines(text: str) -> str:
    return f"<p>{'<br>'.join(escape(line) for line in text.splitlines())}</p>"
