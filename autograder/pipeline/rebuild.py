"""The stage REBUILD: the notebook that is run is made anew from the trusted source.

Of what the student sent only two things count: the solution cells and the cells that the student added, with their
text and the pictures pasted into it. Everything else (protected cells, metadata, tags, ids, types, outputs) comes from
the source, and whatever had to be put right is noted in words.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import nbformat
from nbformat import NotebookNode
from nbformat.v4.rwbase import split_lines, strip_transient

from autograder.assignment.assignment import Assignment, trusted
from autograder.assignment.submission import NOT_HANDED_IN, Submission
from autograder.model import cells
from autograder.model.plain_text import name as plain_name
from autograder.model.submitted_cells import SubmittedCell, UnreadableNotebook, read_submitted
from autograder.model.verdict import CellVerdict, Check, Digests, NotebookVerdict, Status, answer_digests, presentable
from autograder.pipeline.find_answers import (
    FoundAnswer,
    FoundAnswers,
    Gap,
    find_answers,
    gaps_of,
    is_prose,
    standing,
    switched_off,
    texts_in,
    with_locked_cells_apart,
)
from autograder.plain.names import is_python, names_of
from autograder.references.store import References
from autograder.references.write import Files

_MAX_UNKNOWN = 10


@dataclass(frozen=True)
class RebuiltNotebook:
    """``waiting``: grade ids of answers that a person must look for: their cells are as they were handed out."""

    notebook: NotebookNode
    notes: tuple[str, ...]
    waiting: frozenset[str] = frozenset()


def rebuild(source: NotebookNode, release: NotebookNode, submitted: list[SubmittedCell]) -> RebuiltNotebook:
    """The notebook to run: ``source``'s protected cells, the student's answers, the student's extra cells.

    source: the instructor's notebook with solutions and hidden tests.
    release: what students got; its stubs stand where an answer is missing.
    """
    gaps = gaps_of(source, {cells.grade_id(cell): cell.source for cell in release.cells})
    source = trusted(source, release)
    notes: list[str] = []
    ours = {grade_id: cell for cell in source.cells if (grade_id := cells.grade_id(cell))}
    found = find_answers(source, release, gaps, list(with_locked_cells_apart(release, submitted)), notes)
    own = own_cells(release, found, ours.keys(), notes)
    waiting = _waiting(source, found, gaps, own, notes)
    extras = placed(source, own, found.cells)
    _note_damage(release, list(ours), submitted, found.cells, notes)

    source.cells = list(_merge(source.cells, found.answers, extras))
    return RebuiltNotebook(source, tuple(notes), waiting)


def _merge(
    trusted_cells: list[NotebookNode], answers: Mapping[str, FoundAnswer], extras: Mapping[int, Sequence[NotebookNode]]
) -> Iterator[NotebookNode]:
    yield from extras.get(-1, ())
    for index, cell in enumerate(trusted_cells):
        answer = answers.get(cells.grade_id(cell) or "")
        if answer is not None:
            cell.source = answer.text
            cell.pop("attachments", None)
            if answer.attachments:
                cell.attachments = {name: dict(kinds) for name, kinds in answer.attachments.items()}
        yield cell
        yield from extras.get(index, ())


def _not_executed(
    source: NotebookNode, found: FoundAnswers, gaps: Mapping[str, Gap], own: list[SubmittedCell]
) -> Iterator[str]:
    """Tests of what a student defines only where nothing is executed, in a text or a comment: nobody has judged it.

    What is switched off in a cell of the student's own may be any answer; in an answer, it may be this one alone.
    """
    code = [sent.source for sent in own if sent.cell_type == "code"]
    added = [sent.source for sent in own if sent.cell_type != "code"] + [switched_off(text) for text in code]
    bound = frozenset().union(*(names_of(text).bound for text in code if switched_off(text) != text))
    there: set[str] = set()
    for cell in source.cells:
        if gap := gaps.get(name := cells.grade_id(cell) or ""):
            answer, there = found.answers[name], there - gap.asked  # several answers may ask for one name, in turn
            off, released = switched_off(answer.text), switched_off(gap.stub).split("\n")
            texts = "\n".join([*added, *(line for line in off.split("\n") if line not in released)])
            done = bound if answer.untouched or off == answer.text else bound | names_of(answer.text).bound
            there |= {
                one for one in gap.asked - done if answer.untouched or is_python(answer.text)
                if re.search(rf"(?m)^\s*(?:(?:def|class)\s+{one}\b|{one}\s*=(?!=))", texts)
            }  # fmt: skip
        elif cells.is_autograded(cell) and names_of(cell.source).loaded & there:
            yield name


def _waiting(
    source: NotebookNode,
    found: FoundAnswers,
    gaps: Mapping[str, Gap],
    own: list[SubmittedCell],
    notes: list[str],
) -> frozenset[str]:
    """Answers for a person to read that are not in their cell, while something of the student's stands elsewhere.

    Words may belong to any of them, wherever they stand; code belongs to the answer that it stands beside.
    """
    words = any(sent.cell_type != "code" or is_prose(sent.source) or texts_in(sent.source) for sent in own)
    written_into = _texts_in_answers(source, found, gaps)
    added, in_order = {id(sent) for sent in own}, standing(source, found.cells)
    code = [index for index, sent in enumerate(found.cells) if id(sent) in added]
    waiting = set(_not_executed(source, found, gaps, own))
    anything = bool(own) or not all(answer.untouched for answer in found.answers.values())
    for place, cell in enumerate(source.cells):
        answer = found.answers.get(cells.grade_id(cell) or "")
        if answer is None or not answer.untouched or not cells.is_manually_graded(cell):
            continue
        start = max((index for index, other in in_order.items() if other < place), default=-1)
        end = min((index for index, other in in_order.items() if other > place), default=len(found.cells))
        beside = any(start < index < end for index in code)
        name = cells.nbgrader(cell)["grade_id"]
        if (answer.missing and anything) or answer.attachments or words or beside:
            waiting.add(name)
        elif written_into:
            waiting.add(name)
            notes.append(f"nothing stands in '{name}', but a text in {' and '.join(written_into)}: is it the answer?")
    return frozenset(waiting)


def _texts_in_answers(source: NotebookNode, found: FoundAnswers, gaps: Mapping[str, Gap]) -> list[str]:
    """The answer cells that no person reads, and into which the student wrote sentences."""
    named = []
    for cell in source.cells:
        grade_id = cells.grade_id(cell) or ""
        answer = found.answers.get(grade_id)
        if answer is None or answer.untouched or cells.is_manually_graded(cell):
            continue
        if grade_id not in gaps or texts_in(answer.text, gaps[grade_id].stub):
            named.append(f"'{grade_id}'")
    return named


def _note_damage(
    release: NotebookNode,
    order: list[str],
    submitted: list[SubmittedCell],
    found: list[SubmittedCell],
    notes: list[str],
) -> None:
    """submitted: as handed in; found: with the marks that were put right."""
    by_id: dict[str, list[SubmittedCell]] = defaultdict(list)
    for sent in submitted:
        if sent.grade_id in order:
            by_id[sent.grade_id].append(sent)
    recovered = {sent.grade_id for sent in found} - by_id.keys()
    texts = {cells.grade_id(cell): cell for cell in release.cells if cells.is_locked(cell)}
    for grade_id in order:
        if grade_id not in texts:
            continue
        came = by_id.get(grade_id, ())
        if grade_id in recovered:
            notes.append(f"the protected cell '{grade_id}' had lost its mark; it was found by its text")
        elif not came:
            notes.append(f"the protected cell '{grade_id}' was missing; it was put back")
        elif len(came) > 1:
            notes.append(f"the protected cell '{grade_id}' was there {len(came)} times; one was kept")
        elif came[0].cell_type != texts[grade_id].cell_type:
            notes.append(f"the protected cell '{grade_id}' had become a {came[0].cell_type} cell; it was put right")
        elif came[0].source.strip() == texts[grade_id].source.strip():
            continue
        elif came[0].is_as_released:
            notes.append(f"the protected cell '{grade_id}' is of an earlier release; the present one was used")
        else:
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
        used |= names_of(cell.source).loaded if cells.is_autograded(cell) else frozenset()
    codes = (place for place in range(start, end) if source.cells[place].cell_type == "code")
    return next((place for place in codes if names_of(source.cells[place].source).bound & used), end)


def _same_text(source: NotebookNode, sent: SubmittedCell, start: int, end: int) -> int | None:
    """The instructor's cell without a mark that a submitted cell is, among those from ``start`` to ``end``."""
    text = sent.source.strip()
    for place in range(start, end if text else start):
        cell = source.cells[place]
        if not cells.grade_id(cell) and cell.cell_type == sent.cell_type and cell.source.strip() == text:
            return place
    return None


@dataclass(frozen=True)
class Prepared:
    """A submission after the rebuild: notebooks that can be run, verdicts on those that cannot, files beside them.

    ``answers``: digests of the answers in those that were handed in. ``absent``: files to be handed in that were not.
    """

    rebuilt: Mapping[str, RebuiltNotebook]
    unreadable: Mapping[str, NotebookVerdict]
    files: Mapping[str, bytes]
    answers: Mapping[str, Digests]
    absent: frozenset[str] = frozenset()


def prepare(submission: Submission, assignment: Assignment) -> Prepared:
    """The stage REBUILD for every notebook of a submission."""
    rebuilt: dict[str, RebuiltNotebook] = {}
    unreadable: dict[str, NotebookVerdict] = {}
    answers: dict[str, Digests] = {}
    for name in assignment.source:
        if name not in submission.notebooks or name in submission.blocked:
            named = re.compile(rf"(?<!\S){re.escape(name)}\.ipynb")
            why = "; ".join(note for note in submission.notes if named.search(note))
            why = f"{why or f'{name}.ipynb{NOT_HANDED_IN}'}."
            status: Status = "ungradable" if name in submission.blocked else "missing"
            unreadable[name] = ungraded_verdict(assignment, name, submission.student, status, why)
            if name in submission.blocked:
                seen = repr((submission.blocked[name], submission.beside)).encode()
                answers[name] = _of_a_file(assignment.source[name], seen)
            continue
        about = tuple(
            note for note in submission.notes if name in note or not any(other in note for other in assignment.source)
        )
        put_right: list[str] = []
        try:
            sent = read_submitted(submission.notebooks[name], put_right)
        except UnreadableNotebook as error:
            why = f"{name}.ipynb could not be read: {error}"
            unreadable[name] = ungraded_verdict(assignment, name, submission.student, "ungradable", why, about)
            answers[name] = _of_a_file(assignment.source[name], submission.notebooks[name])
            continue
        made = rebuild(assignment.source[name], assignment.release[name], sent)
        rebuilt[name] = replace(made, notes=(*about, *put_right, *made.notes))
        answers[name] = answer_digests(made.notebook, submission.files, made.waiting)
    files = {**submission.beside, **assignment.files, **submission.files, **_siblings(rebuilt)}
    return Prepared(rebuilt, unreadable, files, answers, frozenset(assignment.deliverables - submission.files.keys()))


def _of_a_file(source: NotebookNode, data: bytes) -> Digests:
    """Digests for a notebook that cannot be read: points that a person gives are for this file alone."""
    graded = [cells.nbgrader(cell)["grade_id"] for cell in source.cells if cells.is_graded(cell)]
    return dict.fromkeys(graded, hashlib.sha256(data).hexdigest())


def ungraded_verdict(
    assignment: Assignment, name: str, student: str, status: Status, why: str, notes: tuple[str, ...] = ()
) -> NotebookVerdict:
    """The verdict on a notebook that was not run: no points, or none yet where nobody could judge what was handed in.

    notes: what else is to be said of it.
    """
    points = None if status in ("infrastructure", "ungradable") else 0.0
    graded = [cell for cell in assignment.source[name].cells if cells.is_graded(cell)]
    verdicts = tuple(
        CellVerdict(
            cells.nbgrader(cell)["grade_id"], status, points, cells.max_points(cell), (Check(name, False, why),)
        )
        for cell in graded
    )
    return presentable(NotebookVerdict(student, assignment.name, name, verdicts, (why, *notes)))


def trusted_files(assignment: Assignment) -> dict[str, bytes]:
    """What lies beside the notebook in the tester: nothing that students write."""
    return {name: data for name, data in assignment.files.items() if name not in assignment.deliverables}


def inputs_of(notebook: NotebookNode, references: References) -> dict[str, Files]:
    """slug -> its files of inputs, for every reference that the notebook's hidden cells ask for."""
    return {
        slug: references.inputs(slug)
        for cell in notebook.cells
        if cells.is_autograded(cell)
        for slug in cells.references_of(cell.source)
    }


def _siblings(rebuilt: Mapping[str, RebuiltNotebook]) -> dict[str, bytes]:
    """The student's notebooks as later ones may read them: rebuilt, and without the hidden tests."""
    files = {}
    for stem, made in rebuilt.items():
        notebook = nbformat.from_dict(made.notebook)
        for cell in notebook.cells:
            cell.pop("attachments", None)
            for name in ("points", "checksum"):  # other points are no reason to run what reads this notebook
                cell.metadata.get("nbgrader", {}).pop(name, None)
            if cells.is_autograded(cell):
                cell.source = cells.split_hidden(cell.source).visible
        # on one line, as no person reads it, which takes a tenth of the time
        text = json.dumps(strip_transient(split_lines(notebook)), ensure_ascii=False, sort_keys=True)
        files[f"{stem}.ipynb"] = text.encode()
    return files
