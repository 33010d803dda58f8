"""The station REBUILD: the notebook that is run is made anew from the trusted source.

Of what the student sent only two things count: the text of the solution cells, and the text of cells
that the student added. Everything else (protected cells, metadata, tags, ids, types, outputs) comes from
the source, and whatever had to be put right is noted in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from autograder import cells

#: A submitted notebook above this size is cut to its sources before it is parsed any further.
MAX_NOTEBOOK_BYTES = 200 << 20
MAX_CELL_CHARACTERS = 200_000
MAX_EXTRA_CELLS = 500


class UnreadableNotebook(ValueError):
    """The file is no notebook: what was expected, what came."""


@dataclass(frozen=True)
class Rebuilt:
    notebook: NotebookNode
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Sent:
    """One cell of a submission, reduced to what counts."""

    source: str
    cell_type: str
    grade_id: str | None


def read_submitted(data: bytes) -> list[Sent]:
    """The cells of a submitted file. Raises UnreadableNotebook; never trusts the notebook format.

    Reads nbformat 3 and 4 by hand: a notebook saved by another tool need not pass the schema.
    """
    if len(data) > MAX_NOTEBOOK_BYTES:
        raise UnreadableNotebook(f"the file has {len(data) >> 20} MB; at most {MAX_NOTEBOOK_BYTES >> 20} MB are read")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnreadableNotebook(f"the file is no JSON: {error}"[:200]) from error
    if not isinstance(document, dict):
        raise UnreadableNotebook("the file is JSON, but no notebook")
    raw = document.get("cells")
    if raw is None and isinstance(document.get("worksheets"), list):
        raw = [cell for sheet in document["worksheets"] if isinstance(sheet, dict) for cell in sheet.get("cells") or []]
    if not isinstance(raw, list):
        raise UnreadableNotebook("the file is JSON, but has no list of cells")
    return [_sent(cell) for cell in raw if isinstance(cell, dict)]


def _sent(cell: dict[str, object]) -> Sent:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    text = source if isinstance(source, str) else ""
    # a lone surrogate is legal JSON, but no text that could be saved again
    text = text.encode("utf-8", "replace").decode()[:MAX_CELL_CHARACTERS]
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    kind = cell.get("cell_type")
    return Sent(text, kind if isinstance(kind, str) else "code", grade_id if isinstance(grade_id, str) else None)


def trusted(source: NotebookNode, release: NotebookNode) -> NotebookNode:
    """The instructor's notebook with its hidden tests, but with the released stubs for its solutions.

    Carries the checksums that nbgrader compares: a written answer whose text still has the stub's counts as none.
    """
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells}
    notebook = nbformat.from_dict(source)
    for cell in notebook.cells:
        grade_id = cells.grade_id(cell)
        if not grade_id:
            continue
        if cells.is_solution(cell):
            cell.source = stubs[grade_id]
        cell.metadata.nbgrader["checksum"] = compute_checksum(cell)
    return notebook


def rebuild(source: NotebookNode, release: NotebookNode, submitted: list[Sent]) -> Rebuilt:
    """The notebook to run: ``source``'s protected cells, the student's answers, the student's extra cells.

    source: the instructor's notebook with solutions and hidden tests.
    release: what students got; its stubs stand where an answer is missing.
    """
    source = trusted(source, release)
    notes: list[str] = []
    ours = {grade_id: cell for cell in source.cells if (grade_id := cells.grade_id(cell))}
    answers = _answers(source, release, submitted, notes)
    extras = _extras(release, submitted, set(ours), answers)
    _note_damage(source, release, submitted, notes)

    source.cells = list(_merge(source.cells, answers, extras))
    return Rebuilt(source, tuple(notes))


def _merge(
    trusted_cells: list[NotebookNode], answers: dict[str, str], extras: dict[str | None, list[Sent]]
) -> Iterator[NotebookNode]:
    yield from (_extra(sent, f"extra-start-{number}") for number, sent in enumerate(extras.get(None, [])))
    for cell in trusted_cells:
        grade_id = cells.grade_id(cell)
        if grade_id in answers and cells.is_solution(cell):
            cell.source = answers[grade_id]
        yield cell
        if grade_id:
            yield from (_extra(sent, f"extra-{grade_id}-{n}") for n, sent in enumerate(extras.get(grade_id, [])))


def _extra(sent: Sent, name: str) -> NotebookNode:
    make = nbformat.v4.new_code_cell if sent.cell_type == "code" else nbformat.v4.new_markdown_cell
    # ids of at most 64 characters from a small alphabet: the notebook format wants it so
    return make(sent.source, id="".join(c if c.isalnum() else "-" for c in name)[:64])


def _answers(source: NotebookNode, release: NotebookNode, submitted: list[Sent], notes: list[str]) -> dict[str, str]:
    """grade id -> text for every solution cell that came; several cells of one id are joined, in order."""
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells}
    answers: dict[str, str] = {}
    for cell in source.cells:
        grade_id = cells.grade_id(cell)
        if not grade_id or not cells.is_solution(cell):
            continue
        texts = [sent.source for sent in submitted if sent.grade_id == grade_id]
        changed = list(dict.fromkeys(text for text in texts if text != stubs.get(grade_id)))
        if len(texts) > 1:
            notes.append(f"the answer cell '{grade_id}' was there {len(texts)} times; its texts were taken together")
        if texts:
            answers[grade_id] = "\n\n".join(changed) if changed else texts[0]
        else:
            strays = [sent for sent in submitted if sent.grade_id not in stubs or sent.grade_id is None]
            found = _by_text(stubs.get(grade_id, ""), strays)
            if found is None:
                notes.append(f"the answer cell '{grade_id}' was missing")
            else:
                answers[grade_id] = found.source
                notes.append(f"the answer cell '{grade_id}' had lost its mark; it was found by its text")
    return answers


def _by_text(stub: str, strays: list[Sent]) -> Sent | None:
    """The stray cell that most looks like the stub filled in: it defines the same names."""
    wanted = _definitions(stub)
    candidates = [sent for sent in strays if wanted and wanted <= _definitions(sent.source)]
    if not candidates:
        return None
    return max(candidates, key=lambda sent: SequenceMatcher(None, stub, sent.source, autojunk=False).quick_ratio())


def _definitions(text: str) -> set[str]:
    """The classes, functions and variables that a text defines at its top level, read line by line."""
    names: set[str] = set()
    for line in text.split("\n"):
        words = line.replace("(", " ").replace(":", " ").replace("=", " = ").split()
        if line[:1].isspace() or len(words) < 2:
            continue
        if words[0] in ("def", "class"):
            names.add(words[1])
        elif words[1] == "=" and words[0].isidentifier():
            names.add(words[0])
    return names


def _extras(
    release: NotebookNode, submitted: list[Sent], ours: set[str], answers: dict[str, str]
) -> dict[str | None, list[Sent]]:
    """The student's own cells, by the marked cell that they stand behind."""
    released = {cell.source.strip() for cell in release.cells}
    taken = {text.strip() for text in answers.values()}
    extras: dict[str | None, list[Sent]] = {}
    behind: str | None = None
    count = 0
    for sent in submitted:
        if sent.grade_id in ours:
            behind = sent.grade_id
            continue
        text = sent.source.strip()
        if text and text not in released and text not in taken and count < MAX_EXTRA_CELLS:
            extras.setdefault(behind, []).append(sent)
            count += 1
    return extras


def _note_damage(source: NotebookNode, release: NotebookNode, submitted: list[Sent], notes: list[str]) -> None:
    texts = {cells.grade_id(cell): cell for cell in release.cells if cells.is_protected(cell)}
    for cell in source.cells:
        grade_id = cells.grade_id(cell)
        if grade_id not in texts:
            continue
        came = [sent for sent in submitted if sent.grade_id == grade_id]
        if not came:
            notes.append(f"the protected cell '{grade_id}' was missing; it was put back")
        elif len(came) > 1:
            notes.append(f"the protected cell '{grade_id}' was there {len(came)} times; one was kept")
        elif came[0].cell_type != texts[grade_id].cell_type:
            notes.append(f"the protected cell '{grade_id}' had become a {came[0].cell_type} cell; it was put right")
        elif came[0].source.strip() != texts[grade_id].source.strip():
            notes.append(f"the protected cell '{grade_id}' had been changed; it was put right")
    order = [cells.grade_id(cell) for cell in source.cells if cells.grade_id(cell)]
    came_order = [sent.grade_id for sent in submitted if sent.grade_id in set(order)]
    if list(dict.fromkeys(came_order)) != [name for name in order if name in set(came_order)]:
        notes.append("marked cells stood in another order; they were put back in order")
    unknown = {sent.grade_id for sent in submitted if sent.grade_id and sent.grade_id not in set(order)}
    notes.extend(
        f"a cell was marked '{name}', which the assignment does not have; it was run as an extra cell"
        for name in sorted(unknown)
    )
