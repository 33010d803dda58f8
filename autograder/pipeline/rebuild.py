"""The stage REBUILD: the notebook that is run is made anew from the trusted source.

Of what the student sent only two things count: the text of the solution cells, and the text of cells
that the student added. Everything else (protected cells, metadata, tags, ids, types, outputs) comes from
the source, and whatever had to be put right is noted in words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import nbformat
from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.checksum import checksum_of
from autograder.model.plain_text import name as plain_name
from autograder.model.submitted_cells import MAX_CELL_CHARACTERS, SubmittedCell, UnreadableNotebook, read_submitted
from autograder.pipeline.own_cells import own_cells, placed

__all__ = ["RebuiltNotebook", "SubmittedCell", "UnreadableNotebook", "read_submitted", "rebuild", "trusted"]

#: So many cells without a mark are searched for a lost answer, and so much of each.
_MAX_STRAYS = 500
_COMPARED_CHARACTERS = 10_000
_MAX_UNKNOWN = 10


@dataclass(frozen=True)
class RebuiltNotebook:
    notebook: NotebookNode
    notes: tuple[str, ...]


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
        if cells.is_solution(cell) or cells.is_task(cell):  # a task's source holds its mark scheme
            cell.source = stubs[grade_id]
        cell.metadata.nbgrader["checksum"] = checksum_of(cell)
    return notebook


def rebuild(source: NotebookNode, release: NotebookNode, submitted: list[SubmittedCell]) -> RebuiltNotebook:
    """The notebook to run: ``source``'s protected cells, the student's answers, the student's extra cells.

    source: the instructor's notebook with solutions and hidden tests.
    release: what students got; its stubs stand where an answer is missing.
    """
    source = trusted(source, release)
    notes: list[str] = []
    ours = {grade_id: cell for cell in source.cells if (grade_id := cells.grade_id(cell))}
    by_id: dict[str, list[SubmittedCell]] = defaultdict(list)
    for sent in submitted:
        if sent.grade_id in ours:
            by_id[sent.grade_id].append(sent)
    answers = _answers(source, release, submitted, by_id, notes)
    own = own_cells(release, submitted, set(ours), answers, notes)
    extras = placed(source, own, submitted)
    _note_damage(release, list(ours), submitted, by_id, notes)

    source.cells = list(_merge(source.cells, answers, extras))
    return RebuiltNotebook(source, tuple(notes))


def _merge(
    trusted_cells: list[NotebookNode], answers: dict[str, str], extras: Mapping[int, Sequence[NotebookNode]]
) -> Iterator[NotebookNode]:
    yield from extras.get(-1, ())
    for index, cell in enumerate(trusted_cells):
        grade_id = cells.grade_id(cell)
        if grade_id in answers and cells.is_solution(cell):
            cell.source = answers[grade_id]
        yield cell
        yield from extras.get(index, ())


def _answers(
    source: NotebookNode,
    release: NotebookNode,
    submitted: list[SubmittedCell],
    by_id: Mapping[str, Sequence[SubmittedCell]],
    notes: list[str],
) -> dict[str, str]:
    """grade id -> text for every solution cell that came; several cells of one id are joined, in order."""
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells}
    strays: list[_Stray] | None = None
    answers: dict[str, str] = {}
    for cell in source.cells:
        grade_id = cells.grade_id(cell)
        if not grade_id or not cells.is_solution(cell):
            continue
        texts = [sent.source for sent in by_id.get(grade_id, ())]
        changed = list(dict.fromkeys(text for text in texts if text != stubs.get(grade_id)))
        if len(texts) > 1:
            notes.append(f"the answer cell '{grade_id}' was there {len(texts)} times; its texts were taken together")
        if texts:
            answers[grade_id] = "\n\n".join(changed)[:MAX_CELL_CHARACTERS] if changed else texts[0]
            continue
        if strays is None:
            unmarked = [sent for sent in submitted if sent.grade_id not in stubs or sent.grade_id is None]
            strays = [_Stray(sent) for sent in unmarked[:_MAX_STRAYS]]
        found = _by_text(stubs.get(grade_id, ""), strays)
        if found is None:
            notes.append(f"the answer cell '{grade_id}' was missing")
        else:
            answers[grade_id] = found.source
            notes.append(f"the answer cell '{grade_id}' had lost its mark; it was found by its text")
    return answers


@dataclass(frozen=True)
class _Stray:
    """A cell without a mark. It may be compared with many stubs, so what is compared is worked out once."""

    sent: SubmittedCell

    @cached_property
    def definitions(self) -> set[str]:
        return _definitions(self.sent.source)

    @cached_property
    def letters(self) -> Counter[str]:
        return Counter(self.sent.source[:_COMPARED_CHARACTERS])


def _by_text(stub: str, strays: list[_Stray]) -> SubmittedCell | None:
    """The stray cell that most looks like the stub filled in: it defines the same names."""
    wanted = _definitions(stub)
    candidates = [stray for stray in strays if wanted and wanted <= stray.definitions]
    letters = Counter(stub[:_COMPARED_CHARACTERS])
    best = max(candidates, key=lambda stray: _likeness(letters, stray.letters), default=None)
    return best.sent if best else None


def _likeness(first: Counter[str], second: Counter[str]) -> float:
    """Share of two texts' characters that both have, from 0 to 1."""
    return 2 * (first & second).total() / max(1, first.total() + second.total())


def _definitions(text: str) -> set[str]:
    """The classes, functions and variables that a text defines at its top level, read line by line."""
    names: set[str] = set()
    for line in text.split("\n"):
        if line[:1].isspace():
            continue
        words = line[:1000].replace("(", " ").replace(":", " ").replace("=", " = ").split(maxsplit=2)
        if len(words) < 2:
            continue
        if words[0] in ("def", "class"):
            names.add(words[1])
        elif words[1] == "=" and words[0].isidentifier():
            names.add(words[0])
    return names


def _note_damage(
    release: NotebookNode,
    order: list[str],
    submitted: list[SubmittedCell],
    by_id: Mapping[str, Sequence[SubmittedCell]],
    notes: list[str],
) -> None:
    texts = {cells.grade_id(cell): cell for cell in release.cells if cells.is_locked(cell)}
    for grade_id in order:
        if grade_id not in texts:
            continue
        came = by_id.get(grade_id, ())
        if not came:
            notes.append(f"the protected cell '{grade_id}' was missing; it was put back")
        elif len(came) > 1:
            notes.append(f"the protected cell '{grade_id}' was there {len(came)} times; one was kept")
        elif came[0].cell_type != texts[grade_id].cell_type:
            notes.append(f"the protected cell '{grade_id}' had become a {came[0].cell_type} cell; it was put right")
        elif came[0].source.strip() != texts[grade_id].source.strip():
            notes.append(f"the protected cell '{grade_id}' had been changed; it was put right")
    came_order = dict.fromkeys(sent.grade_id for sent in submitted if sent.grade_id in by_id)
    if list(came_order) != [grade_id for grade_id in order if grade_id in came_order]:
        notes.append("marked cells stood in another order; they were put back in order")
    unknown = sorted({plain_name(sent.grade_id) for sent in submitted if sent.grade_id and sent.grade_id not in by_id})
    notes.extend(
        f"a cell was marked '{one}', which the assignment does not have; it was run as an extra cell"
        for one in unknown[:_MAX_UNKNOWN]
    )
    if len(unknown) > _MAX_UNKNOWN:
        notes.append(f"{len(unknown) - _MAX_UNKNOWN} more marks that the assignment does not have were ignored")
