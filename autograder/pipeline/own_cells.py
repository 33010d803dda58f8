"""The cells of a submission that are the student's own: which they are, and where the rebuilt notebook has them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection
from functools import lru_cache

import nbformat
from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.submitted_cells import SubmittedCell
from autograder.pipeline.find_answers import FoundAnswers, standing
from autograder.plain.names import Names, names_of

MAX_EXTRA_CELLS = 500
MAX_EXTRA_CHARACTERS = 1_000_000


def _extra(sent: SubmittedCell, name: str) -> NotebookNode:
    make = nbformat.v4.new_code_cell if sent.cell_type == "code" else nbformat.v4.new_markdown_cell
    # ids of at most 64 characters from a small alphabet: the notebook format wants it so
    cell = make(sent.source, id="".join(c if c.isalnum() else "-" for c in name)[:64])
    if sent.attachments and cell.cell_type == "markdown":
        cell.attachments = {name: dict(kinds) for name, kinds in sent.attachments.items()}
    return cell


def own_cells(
    release: NotebookNode, found: FoundAnswers, ours: Collection[str], notes: list[str]
) -> list[SubmittedCell]:
    """The cells that the student added, and those of the instructor's without a mark that the student changed."""
    released = {cell.source.strip() for cell in release.cells}
    taken = {answer.text.strip() for answer in found.answers.values()}
    own: list[SubmittedCell] = []
    characters = 0
    for sent in found.cells:
        text = sent.source.strip()
        if sent.grade_id in ours or not text or text in released:
            continue
        if text in taken and id(sent) not in found.kept:
            continue
        characters += len(sent.source)
        if len(own) == MAX_EXTRA_CELLS or characters > MAX_EXTRA_CHARACTERS:
            notes.append(
                f"extra cells were left out: at most {MAX_EXTRA_CELLS} with {MAX_EXTRA_CHARACTERS} characters are run"
            )
            break
        own.append(sent)
    return own


def placed(
    source: NotebookNode, own: list[SubmittedCell], submitted: list[SubmittedCell]
) -> dict[int, list[NotebookNode]]:
    """Index of the source's cell (-1: none) -> the student's own cells behind it.

    They stand where the student had them between cells of the instructor's. What took the place of an instructor's
    cell runs after it, but before it where that binds what a test uses: a test compares with the instructor's values.
    Nothing moves past the next marked cell, unless it stood after an instructor's cell that lies beyond.
    """
    places = [index for index, cell in enumerate(source.cells) if cells.grade_id(cell)]
    in_order = standing(source, submitted)
    ends = [*places, len(source.cells)]
    coming = [*in_order.values(), len(source.cells)]
    left = {id(sent) for sent in own}
    found: dict[int, list[NotebookNode]] = defaultdict(list)
    numbers: Counter[str] = Counter()
    waiting: list[NotebookNode] = []
    behind, marked = -1, "start"
    for index, sent in enumerate(submitted):
        end = ends[bisect_right(ends, behind)]
        if id(sent) in left:
            waiting.append(_extra(sent, f"extra-{marked}-{numbers[marked]}"))
            numbers[marked] += 1
        elif index in in_order:
            if waiting:
                found[_place(source, behind + 1, end) - 1] += waiting
            waiting, behind, marked = [], coming.pop(0), sent.grade_id or ""
        elif (place := _same_text(source, sent, behind + 1, coming[0])) is not None:
            if waiting:
                found[_place(source, behind + 1, min(place, end)) - 1] += waiting
            waiting, behind = [], place
    found[_place(source, behind + 1, ends[bisect_right(ends, behind)]) - 1] += waiting
    return found


def _place(source: NotebookNode, start: int, end: int) -> int:
    """The first of the instructor's cells from ``start`` on that binds what a test uses; ``end`` without one."""
    if start == end:
        return end
    used: frozenset[str] = frozenset()
    for cell in source.cells:
        used |= _names(cell.source).loaded if cells.is_autograded(cell) else frozenset()
    codes = (place for place in range(start, end) if source.cells[place].cell_type == "code")
    return next((place for place in codes if _names(source.cells[place].source).bound & used), end)


@lru_cache(maxsize=512)
def _names(source: str) -> Names:
    return names_of(source)


def _same_text(source: NotebookNode, sent: SubmittedCell, start: int, end: int) -> int | None:
    """The instructor's cell without a mark that a submitted cell is, among those from ``start`` to ``end``."""
    text = sent.source.strip()
    for place in range(start, end if text else start):
        cell = source.cells[place]
        if not cells.grade_id(cell) and cell.cell_type == sent.cell_type and cell.source.strip() == text:
            return place
    return None
