"""The visible checks of notebook 4, where sample answers do not show it."""

import matplotlib
import pytest

from course.check import distilbert as check
from tests.course_checks import distilbert_cells as cells
from tests.course_checks.test_distilbert_checks import said

matplotlib.use("Agg")
DRAW = """
figure, panels = plt.subplots(1, len(attention_per_layer))
for i, panel in enumerate(panels.flat):
    panel.imshow(attention_per_layer[i])
    panel.set_title(f"layer {i}")
    panel.set_xlabel("key"); panel.set_ylabel("query")
    panel.set_xticks(range(len(tokens)), tokens); panel.set_yticks(range(len(tokens)), tokens)
RETURN
"""


@pytest.mark.parametrize("returned", ["return figure", "return plt.gcf()", "return panels"])
def test_a_checked_figure_is_closed_so_that_the_notebook_does_not_show_it(returned: str) -> None:
    others = cells.plt.get_fignums()  # of tests that ran before in this process
    check.figure(cells.function("plot_attention", DRAW.replace("RETURN", returned), "attention_per_layer, tokens"))
    assert cells.plt.get_fignums() == others


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("RETURN", "plt.show()", "return figure, as the last line"),
        ('f"layer {i}"', '"attention"', "Yours are 'attention'"),
        ('panel.set_xlabel("key"); panel.set_ylabel("query")', "pass", "Yours have no label"),
        ("attention_per_layer[i]", "attention_per_layer[i] * 2", "every number is 2 times"),
    ],
)
def test_a_wrong_figure_is_told_what_it_shows(old: str, new: str, words: str) -> None:
    body = DRAW.replace(old, new).replace("RETURN", "return figure")
    drawn = cells.function("plot_attention", body, "attention_per_layer, tokens")
    assert words in said(check.figure, drawn)
    cells.plt.close("all")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return input_ids", "a token is text"),
        ("return tokenizer.batch_decode(input_ids)", "1 tokens went out"),
        ("return tokenizer.convert_ids_to_tokens(input_ids)", "stopped with"),
    ],
)
def test_wrong_tokens_are_told_why(body: str, words: str) -> None:
    assert words in said(check.tokens, cells.function("ids_to_tokens", body, "tokenizer, input_ids"))
