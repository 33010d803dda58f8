"""What the notebooks say: the text of a cell, the numbers in a sentence, the output of demonstration cells."""

import contextlib
import io
import re
from typing import Any

import nbformat
import pytest

from tests.grading import ROOT


def cell(notebook: str, cell_id: str) -> str:
    """The source of one cell, on one line; notebook: ``distilbert/1_embedding``"""
    book = nbformat.read(ROOT / "source" / f"{notebook}.ipynb", as_version=4)
    return next(one.source for one in book.cells if one.id == cell_id)


def numbers(notebook: str, cell_id: str, sentence: str) -> list[float]:
    """The numbers where ``sentence`` has a ``#``; fails where the cell does not say this sentence."""
    text = " ".join(cell(notebook, cell_id).split())
    pattern = re.escape(sentence).replace(r"\#", r"(-?[\d,]*\.?\d+)").replace(r"\ ", r"\s+")
    found = re.search(pattern, text)
    assert found, f"{notebook}, cell {cell_id}, no longer says {sentence!r}"
    return [float(number.replace(",", "")) for number in found.groups()]


def says(notebook: str, cell_id: str, sentence: str) -> None:
    """Fails where the cell no longer says this sentence, so that a test is not kept for a text that has gone."""
    assert numbers(notebook, cell_id, sentence) == []


def tells(notebook: str, cell_id: str, sentence: str, *values: float, **tolerance: float) -> None:
    """Fails unless these are the numbers where ``sentence`` has a ``#``; tolerance: of ``pytest.approx``, else none."""
    told = numbers(notebook, cell_id, sentence)
    assert told == ([pytest.approx(value, **tolerance) for value in values] if tolerance else [*values])


def run(notebook: str, *cell_ids: str, given: dict[str, Any]) -> str:
    """Run these cells with the names ``given`` (which is changed), and return what they print."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell_id in cell_ids:
            exec(compile(cell(notebook, cell_id), cell_id, "exec"), given)
    return printed.getvalue()


def printed_numbers(text: str) -> list[float]:
    """All numbers in a printed text, in order."""
    return [float(number.replace(",", "")) for number in re.findall(r"-?\d[\d,]*\.?\d*", text)]
