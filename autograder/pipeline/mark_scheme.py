"""What a grader reads below a written answer in the formgrader: its model answer and mark scheme."""

import re

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from autograder.model import cells

SCHEME = re.compile(r"^.*BEGIN MARK SCHEME.*\n(?P<scheme>[\s\S]*?)^.*END MARK SCHEME.*$", re.MULTILINE)
_MARKERS = re.compile(r"^.*(BEGIN|END) (SOLUTION|MARK SCHEME).*$\n?", re.MULTILINE)
#: All of it lies between the words by which feedback knows what it has to leave out.
_GUIDE = """<!-- BEGIN MARK SCHEME -->

> **For the grader** ({points:g} points). Students' feedback leaves this out.

**Model answer.** {answer}

**Points.** {scheme}

<!-- END MARK SCHEME -->"""


def with_marking_guides(notebook: NotebookNode, source: NotebookNode) -> NotebookNode:
    """A copy in which every answer that a human reads is followed by what the instructor's source says about it.

    notebook: as it is saved under ``autograded/``, which only instructors see.
    """
    guides = {cells.grade_id(cell): _guide(cell) for cell in source.cells if cells.is_manually_graded(cell)}
    guided = nbformat.from_dict(notebook)
    guided.cells = []
    for cell in notebook.cells:
        guided.cells.append(cell)
        if cells.is_manually_graded(cell) and (guide := guides.get(cells.grade_id(cell))):
            guided.cells.append(new_markdown_cell(guide, id=f"guide-{len(guided.cells)}"))
    return guided


def _guide(cell: NotebookNode) -> str:
    answer, scheme = model_answer(cell)
    return _GUIDE.format(points=cells.max_points(cell), answer=answer or "(none)", scheme=scheme or "(none)")


def model_answer(cell: NotebookNode) -> tuple[str, str]:
    """Model answer and mark scheme of the instructor's cell, as Markdown; each may be empty."""
    scheme = "\n\n".join(found["scheme"].strip() for found in SCHEME.finditer(cell.source))
    answer = "" if cells.is_task(cell) else _MARKERS.sub("", SCHEME.sub("", cell.source)).strip()
    return answer, _MARKERS.sub("", scheme)
