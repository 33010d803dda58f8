"""summary.md read by an independent Markdown parser: one table a notebook, and nothing that a text could add."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from autograder.ci.outcome import Disclosure, failed_outcome, printable
from autograder.ci.results import summary_md
from tests.ci.outcomes import HELD, HOSTILE, broken, every_status, with_text

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def tables(text: str) -> list[list[list[str]]]:
    """Per table its rows, per row the cells' text as it is displayed."""
    found: list[list[list[str]]] = []
    for token, following in zip(tokens := MARKDOWN.parse(text), [*tokens[1:], None], strict=True):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("td_open", "th_open"):
            found[-1][-1].append("".join(_shown(child) for child in following.children or []))
    return found


def _shown(token) -> str:
    return "\n" if token.content == "<br>" else token.content


def structure(text: str) -> list[str]:
    """The kinds of everything in the page but plain text and our own line breaks."""
    kinds = []
    for token in MARKDOWN.parse(text):
        children = token.children or []
        kinds += [token.type] + [
            child.type for child in children if child.type not in ("text", "text_special") and child.content != "<br>"
        ]
    return [kind for kind in kinds if kind != "inline"]


def test_a_table_for_each_notebook_with_points_result_and_what_to_look_at():
    first, second = tables(summary_md(every_status(), Disclosure.NOW))
    assert first[0] == ["exercise", "points", "result", "what to look at"]
    assert first[1][:3] == ["Embeddings", "5 of 5", "all right"]
    assert first[2][1:] == ["2.5 of 5", "partly right", "The second half is missing.\nLook at the loop."]
    assert second[3][1:3] == ["– of 5", "waits to be read by a person"]


def test_the_total_and_what_a_person_has_yet_to_give_stand_on_top():
    assert "**7.5 of 35 points**, and up to 5 more" in summary_md(every_status(), Disclosure.NOW)


@pytest.mark.parametrize("disclosure", HELD)
def test_while_results_are_held_back_there_is_not_one_point(disclosure):
    text = summary_md(every_status(), disclosure)
    first, second = tables(text)
    assert first[0] == ["exercise", "visible check", "what it says"]
    assert [row[1] for row in first[1:]] == ["passes", "not right yet", "passes"]
    assert second[1][1] == "said nothing; run it yourself"
    assert "points**" not in text and " of 5" not in text and "Which axis" not in text


@pytest.mark.parametrize(
    "outcome", [broken(), failed_outcome("ada", "distilbert", "no notebook")], ids=["partly", "no"]
)
@pytest.mark.parametrize("disclosure", Disclosure)
def test_a_failure_of_the_grader_is_called_no_mark(outcome, disclosure):
    text = summary_md(outcome, disclosure)
    assert "**Not graded:** " in text and "This is no mark." in text
    assert "points**" not in text


@pytest.mark.parametrize("disclosure", [Disclosure.NOW, Disclosure.AFTER_DUE_DATE])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_text_shows_what_it_says_and_does_nothing_else(text, disclosure):
    page = summary_md(with_text(printable(text)), disclosure)
    assert structure(page) == structure(summary_md(with_text("harmless"), disclosure))
    ((_, row),) = tables(page)
    said = [line.strip() for line in printable(text).split("\n") if line.strip()]
    assert row[-1].removeprefix("seen: ").split("\n") == said
    assert "<script" not in page and "javascript:a" not in page and "://" not in page


def test_a_long_text_is_cut_so_that_the_page_fits_githubs_limit():
    assert len(summary_md(with_text("x|" * 100_000), Disclosure.NOW).encode()) < 20_000
