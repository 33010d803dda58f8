"""What readers have to know stands where they need it.

What costs points in many exercises is in each of their texts (changes in place, numbers that overflow), a term is
explained before the main line uses it, and a ± says which error it is.
"""

import re
from functools import cache

import nbformat
import pytest

from autograder.model import cells
from autograder.model.cells import references_of
from autograder.model.course_file import read_course_file
from autograder.references import loader
from tests.grading import REFERENCES, ROOT

IN_PLACE = re.compile(r"\bin place\b|\b[Cc]hange (?:no|none)\b|\b[Dd]o not change the (?:array|tensor|weight|scores)")
OVERFLOW = re.compile(r"\boverflow|\blarge (?:scores|logits)\b|rounded to 0|\bnan\b")


@cache
def texts() -> dict[str, str]:
    """Exercise -> the Markdown from its heading to its check, and the answer cell's comments."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "source").glob("*/*.ipynb")):
        text = ""
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                text = cell.source if cell.source.startswith(("## ", "# ")) else f"{text}\n{cell.source}"
            elif cells.is_solution(cell):
                text += "\n" + re.sub(r"(?s)### BEGIN SOLUTION.*?### END SOLUTION", "", cell.source)
            for name in references_of(cell.source):
                found[name] = text
    return found


def mistakes(exercise: str) -> set[str]:
    return {mistake.id for mistake in loader.exercise(REFERENCES.folder, exercise).mistakes}


@pytest.mark.parametrize("exercise", sorted(texts()))
def test_an_exercise_that_forbids_changes_in_place_says_so(exercise: str) -> None:
    if "CHANGED" in mistakes(exercise):
        assert IN_PLACE.search(texts()[exercise]), texts()[exercise][-600:]


@pytest.mark.parametrize("exercise", sorted(texts()))
def test_an_exercise_whose_numbers_may_overflow_says_so(exercise: str) -> None:
    if any("overflow" in name for name in mistakes(exercise)):
        assert OVERFLOW.search(texts()[exercise]), texts()[exercise][-600:]


#: Term -> the cell of the main line that says what it is.
TERMS = {
    "logits?": "distilbert/1_embedding whole-model",
    "GELU": "distilbert/2_attention_block block",
    "ReLU": "distilbert/2_attention_block block",
    "cross-entropy": "distilbert_lab/1_training loss-text",
    "dropout": "distilbert_lab/1_training exercise-fit",
    "epochs?": "distilbert_lab/1_training exercise-fit",
    "standard errors?|±": "distilbert_lab/2_distillation train-text",
    "residual stream": "decoder/1_language_model block-text",
    "perplexity": "decoder/1_language_model perplexity-text",
}


def main_line() -> list[tuple[str, str]]:
    """Each step's cells in order, as (notebook and id, text): what students read, solutions and titles left out."""
    found = []
    for step in read_course_file(ROOT).main_line.steps:
        for cell in nbformat.read(ROOT / "source" / f"{step}.ipynb", as_version=4).cells[1:]:
            text = re.sub(r"(?s)### BEGIN (\w+).*?### END \1\w*|^import.*|^from.*", "", cell.source)
            found.append((f"{step} {cell.id}", text))
    return found


@pytest.mark.parametrize("term", TERMS)
def test_no_step_of_the_main_line_uses_a_term_before_it_is_explained(term: str) -> None:
    words = re.compile(rf"(?<![\w.])(?:{term})(?![\w(])")
    first = next(place for place, text in main_line() if words.search(text))
    assert first == TERMS[term]


def test_every_plus_minus_says_which_error_it_is() -> None:
    books = {path.stem: nbformat.read(path, as_version=4) for path in sorted((ROOT / "source").glob("*/*.ipynb"))}
    cells_with = [
        (name, cell.id, cell.source) for name, book in books.items() for cell in book.cells if "±" in cell.source
    ]
    assert [place[:2] for place in cells_with if not re.search(r"over reviews|paired", place[2])] == []
