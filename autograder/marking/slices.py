"""What a person reads of one student's notebook to mark one exercise: the answer's cells, as they ran."""

import hashlib
import json
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.feedback.page import notebook_body
from autograder.model import cells
from autograder.pipeline.markdown import SHOWN_AS_TEXT


def answer_cells(notebook: NotebookNode, exercise: str, elsewhere: bool = False) -> list[NotebookNode]:
    """The student's cells that answer a graded cell; empty where nothing of the student's is there.

    notebook: as it is saved under ``autograded/``. Of a test that waits for a person the cells since the test before.
    elsewhere: the answer does not stand in its own cell, so whatever the student added is taken.
    """
    found = [index for index, cell in enumerate(notebook.cells) if cells.grade_id(cell) == exercise]
    if not found:
        return []
    place, all_cells = found[0], notebook.cells
    graded = all_cells[place]
    if cells.is_autograded(graded):
        before = [index for index in range(place) if cells.is_graded(all_cells[index])]
        start = before[-1] + 1 if before else 0
        return [cell for cell in all_cells[start:place] if _is_added(cell) or cells.is_solution(cell)] + [graded]
    own = [] if cells.is_task(graded) else [graded]
    above = list(_added(all_cells[:place][::-1]))[::-1]
    chosen = above + own + list(_added(all_cells[place + 1 :]))
    if elsewhere:
        chosen += [cell for cell in all_cells if _is_added(cell) and not any(cell is one for one in chosen)]
    return [cell for cell in chosen if cell.source.strip() or cell.get("outputs")]


def _added(following: Sequence[NotebookNode]) -> Iterator[NotebookNode]:
    """The student's own cells from the first on, up to one of the instructor's."""
    for cell in following:
        if _is_added(cell):
            yield cell
        elif not cell.get("id", "").startswith("guide-"):
            return


def _is_added(cell: NotebookNode) -> bool:
    return not cells.grade_id(cell) and bool(cell.get("id", "").startswith("extra-"))


def text_of(answer: Sequence[NotebookNode]) -> str:
    """The words of an answer, what its code printed included."""
    parts = (part for cell in answer for part in (cell.source, *_printed(cell)))
    return "\n\n".join(text for part in parts if (text := part.removeprefix(SHOWN_AS_TEXT).strip()))


def _printed(cell: NotebookNode) -> Iterator[str]:
    for output in cell.get("outputs", []):
        text = output.get("text") or output.get("data", {}).get("text/plain") or ""
        yield text if isinstance(text, str) else "".join(text)


def digest_of(answer: Sequence[NotebookNode]) -> str:
    """Of all that a page shows of the answer: two answers with the same digest look the same."""
    shown = [
        [cell.cell_type, cell.source, cell.get("attachments", {}), [_shown(one) for one in cell.get("outputs", [])]]
        for cell in answer
    ]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:32]


def _shown(output: NotebookNode) -> dict[str, object]:
    return {key: value for key, value in output.items() if key != "execution_count"}


def rendered(answer: Sequence[NotebookNode]) -> str:
    """The cells as inert HTML. Nothing that a cell says of itself counts: all are cleaned as a student's are."""
    made = []
    for cell in answer:
        if cell.cell_type == "code":
            made.append(new_code_cell(cell.source, outputs=cell.get("outputs", [])))
        else:
            attachments = {"attachments": cell.attachments} if cell.get("attachments") else {}
            made.append(new_markdown_cell(cell.source, **attachments))
    return notebook_body(new_notebook(cells=made))
