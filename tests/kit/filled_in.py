"""What an author writes into the stubs of ``autograder new signals/median``."""

from __future__ import annotations

from pathlib import Path

import nbformat

EXERCISE = '''"""The median. Expected answers: by the standard library."""

import statistics

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant


def cases(generator: np.random.Generator) -> list[Case]:
    return [_case(generator.normal(size=size)) for size in (5, 8, 13)]


def _case(values: np.ndarray) -> Case:
    return Case(inputs={"values": values}, expected={"median": np.array(statistics.median(values.tolist()))})


HEAD = "def median(values):"
MISTAKES = [
    Mistake("mean", "This is the mean.", "The median is the value in the middle.", ("np.median", "np.mean")),
]
RIGHT = {"a percentile": variant(HEAD, "return np.percentile(values, 50)")}
EXERCISE = Exercise(cases, mistakes=MISTAKES, right=RIGHT, given=("values",), shows=("the middle one",))
'''
TITLE = "# 1 · Smoothing a signal\n\n1 notebook · 3 points · about 15 minutes"
TEXT = "## Exercise · Median\n\n| points | time |\n|---|---|\n| 1 | 5 minutes |\n\nThe value in the middle."
ANSWER = '''def median(values):
    """The value in the middle of (n,) values; of an even number, the mean of the two in the middle."""
    ### BEGIN SOLUTION
    return np.median(values)
    ### END SOLUTION'''


def fill_in(course: Path) -> None:
    """Every stub of ``signals/median`` with what an author would have written."""
    (course / "exercises" / "signals" / "median.py").write_text(EXERCISE, encoding="utf-8")
    path = course / "source" / "signals" / "1_smoothing.ipynb"
    notebook = nbformat.read(path, as_version=4)
    texts = {"title": TITLE, "median_text": TEXT, "median_answer": ANSWER}
    for cell in notebook.cells:
        cell.source = texts.get(cell.id, cell.source)
    nbformat.write(notebook, path)


def hand_in(course: Path, student: str, answers: dict[str, str]) -> None:
    """The released notebook, as a student hands it in: ``answers`` (cell id -> body of the function) filled in."""
    notebook = nbformat.read(course / "release" / "signals" / "1_smoothing.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.id in answers:
            cell.source = cell.source.replace("raise NotImplementedError()", answers[cell.id])
    path = course / "submitted" / student / "signals" / "1_smoothing.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
