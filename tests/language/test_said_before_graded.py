"""What costs points in many exercises stands in each of their texts: changes in place, and numbers that overflow."""

import re
from functools import cache

import nbformat
import pytest

from autograder.model import cells
from autograder.model.cells import references_of
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
