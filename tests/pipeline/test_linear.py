"""What a student's text costs grows about as its length does, whatever the text and whoever reads it.

Every reader meets every text at two lengths, one four times the other: a reader whose time grows with the square takes
sixteen times as long, and the ratio of processor times allows nine.
"""

import time
from collections.abc import Callable

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from autograder.ci.outcome import Words
from autograder.feedback.page import notebook_body
from autograder.feedback.strip import without_hidden_tests
from autograder.model import cells
from autograder.model.plain_text import one_line, paragraph
from autograder.model.submitted_cells import SubmittedCell
from autograder.pipeline import drawings
from autograder.pipeline.mark_scheme import with_marking_guides
from autograder.pipeline.rebuild import rebuild
from autograder.pipeline.sanitize import harmless
from autograder.report.similarity import Answer, similar_pairs
from autograder.report.statistics import _kind
from tests.grading import assignment

pytestmark = pytest.mark.slow

SHORT = 8000
TEXTS: dict[str, Callable[[int], str]] = {
    "formulas": lambda n: "\\\\[" * (n // 3), "environments": lambda n: "\\begin{a}[" * (n // 10),
    "blanks": lambda n: "[x] a" + " " * n + "b", "empty lines": lambda n: "x[1]" + "\n" * n + "%y",
    "attributes": lambda n: "a." * (n // 2), "numbers": lambda n: "1." * (n // 2), "brackets": lambda n: "[" * n,
    "links": lambda n: "[a](" * (n // 4), "stars": lambda n: "[**a" * (n // 4),
    "divisions": lambda n: "<div>" * (n // 5), "comments": lambda n: "<!--" * (n // 4),
    "styles": lambda n: "<b title=1>" * (n // 24) + "<p>x</p>" * (n // 16), "quotes": lambda n: "'''" * (n // 3),
    "backticks": lambda n: "[" + " ".join("`" * k for k in range(1, int((2 * n) ** 0.5))),
    "mark schemes": lambda n: "BEGIN MARK SCHEME\n" * (n // 18), "escapes": lambda n: "\x1b[" * (n // 2),
    "call": lambda n: "figures.attention_block()" + " " * n,
}  # fmt: skip


def _notebook(text: str, kind: str) -> object:
    if kind == "markdown":
        return new_notebook(cells=[new_markdown_cell(text)])
    if kind == "code":
        return new_notebook(cells=[new_code_cell(text)])
    data = {"text/plain": text, "text/markdown": text, "text/html": text, "text/latex": text}
    return new_notebook(cells=[new_code_cell("1", outputs=[new_output("display_data", data=data)])])


READERS: dict[str, Callable[[str], object]] = {
    "saved Markdown": lambda text: harmless(_notebook(text, "markdown")),
    "saved outputs": lambda text: harmless(_notebook(text, "output")),
    "page of Markdown": lambda text: notebook_body(_notebook(text, "markdown")),
    "page of code": lambda text: notebook_body(_notebook(text, "code")),
    "page of outputs": lambda text: notebook_body(_notebook(text, "output")),
    "feedback": lambda text: without_hidden_tests(_notebook(text, "markdown")),
    "marking guide": lambda text: with_marking_guides(_notebook(text, "code"), _notebook(text, "code")),
    "similar answers": lambda text: similar_pairs([Answer(who, "p", text, "") for who in "ab"]),
    "statistics": _kind,
    "results of CI": Words([]).clean,
    "magics": cells.without_magics,
    "hidden lines": cells.split_hidden,
    "drawings": lambda text: drawings.drawing(text, "course.figures"),
    "notes": lambda text: (one_line(text), paragraph(text)),
}


def _seconds(read: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    read(text)
    return time.process_time() - started


@pytest.mark.parametrize("reader", READERS)
def test_time_grows_no_faster_than_what_was_handed_in(reader):
    read = READERS[reader]
    read("warm [up](x) $x$")
    for name, text in TEXTS.items():
        short = max(0.03, _seconds(read, text(SHORT)))
        long = _seconds(read, text(4 * SHORT))
        if long >= 9 * short:  # once more, for something else may have run in between
            long = min(long, _seconds(read, text(4 * SHORT)))
        assert long < 9 * short, f"{name}: {short:.3f} s for {SHORT} characters, {long:.3f} s for four times as many"


def test_a_notebook_of_many_cells_is_rebuilt_in_a_time_that_grows_with_their_number():
    whole = assignment("numpy_attention")
    name = next(iter(whole.source))

    def made(number: int) -> float:
        sent = [
            SubmittedCell(f"def softmax(x): return {one}\n" + "x = 1\n" * 200, "code", None) for one in range(number)
        ]
        return _seconds(lambda _: rebuild(whole.source[name], whole.release[name], sent), "")

    made(10)
    assert made(2000) < 9 * max(0.03, made(500))


def test_a_style_that_stays_open_does_not_unfold_in_every_paragraph():
    styles = "<div>" + "".join(f'<b title="{number}">' for number in range(1000)) + "</div>" + "<p>x</p>" * 1000
    output = new_output("display_data", data={"text/html": styles})
    (cell,) = harmless(new_notebook(cells=[new_code_cell("1", outputs=[output])])).cells
    assert len(str(cell.outputs)) < 2 * len(styles)


@pytest.mark.parametrize(
    "text",
    ["x = 1" + " " * 500 + "[a]\n<script>", "word " * 5000 + "<script>", "`" * 99 + "<b", "y" * 5000, "```\n" * 300],
    ids=["gap", "long", "backticks", "line", "fences"],
)
def test_a_text_that_is_shown_as_text_stays_as_it_is_when_it_is_cleaned_again(text):
    once = harmless(_notebook(text, "markdown"))
    assert harmless(once) == once


def test_an_answer_of_usual_length_is_shown_as_it_was_written():
    text = "The **rows** of $A$ sum to 1, see [the paper](https://arxiv.org/abs/1706.03762).\n\n" * 200
    assert harmless(_notebook(text, "markdown")).cells[0].source == text


def test_a_drawing_is_drawn_once_however_its_call_is_written():
    drawings._drawn.cache_clear()
    made = [drawings.drawing("figures.attention_block()" + " " * n, "course.figures") for n in range(50)]
    assert all(one is made[0] for one in made)
    assert drawings.drawing("figures.no_such_drawing()", "course.figures") is None
    assert drawings._drawn.cache_info().currsize == 1
