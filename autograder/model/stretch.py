"""Stretch goals: answers that nobody grades, and the fold with a solution that students may open below their check.

``stretch = "fold"`` in ``course.toml`` asks for the folds. They are made of the instructor's solution whenever a
notebook is read for students, so that no second copy can differ from it.
"""

import re

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.model import cells

#: What ``stretch`` in ``course.toml`` may say.
CHOICES = ("fold", "none")
_MARKER = re.compile(r"(?m)^[ \t]*### (?:BEGIN|END) SOLUTION[^\n]*\n?")
_HEADING = re.compile(r"(#+) ")


def stretch_answers(notebook: NotebookNode) -> list[int]:
    """Where the answers stand in whose section no cell is graded. A section ends at a heading of its level or above."""
    graded: set[int] = set()  # sections, by the number of their heading's cell
    above: list[tuple[int, int]] = []  # (level, section) of the headings above the cell
    answers: list[tuple[int, int]] = []  # (cell, section)
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown" and (heading := _HEADING.match(cell.source)):
            above = [one for one in above if one[0] < len(heading[1])] + [(len(heading[1]), number)]
        elif cells.is_graded(cell):
            graded |= {section for _, section in above}
        elif cell.cell_type == "code" and cells.is_solution(cell) and above:
            answers.append((number, above[-1][1]))
    return [number for number, section in answers if section not in graded]


def fold_id(cell: NotebookNode) -> str:
    """The id of the fold that belongs to an answer."""
    return f"{cell.get('id') or cells.grade_id(cell)}-solution"


def add_folds(notebook: NotebookNode) -> NotebookNode:
    """Below the check of each stretch goal a fold with its solution; returns the same notebook.

    An answer without the marks of a solution, such as a student's, gets none, nor one whose cell says
    ``"course": {"fold": false}`` in its metadata: its solution would show part of a graded one.
    """
    there = {cell.get("id") for cell in notebook.cells}
    for number in reversed(stretch_answers(notebook)):
        answer = notebook.cells[number]
        wanted = answer.metadata.get("course", {}).get("fold", True)
        if not wanted or not _MARKER.search(answer.source) or fold_id(answer) in there:
            continue
        following = range(number + 1, len(notebook.cells))
        check = next((place for place in following if notebook.cells[place].cell_type == "code"), number)
        code = _MARKER.sub("", answer.source).strip()
        text = f"<details><summary>A solution</summary>\n\n```python\n{code}\n```\n\n</details>"
        notebook.cells.insert(check + 1, new_markdown_cell(text, id=fold_id(answer)))
    return notebook
