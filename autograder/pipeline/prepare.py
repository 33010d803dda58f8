"""What has to be known of a submission before any of its notebooks is run."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import nbformat
from nbformat import NotebookNode
from nbformat.v4.rwbase import split_lines, strip_transient

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import NOT_HANDED_IN, Submission
from autograder.model import cells
from autograder.model.verdict import CellVerdict, Check, Digests, NotebookVerdict, Status, answer_digests, presentable
from autograder.pipeline.rebuild import RebuiltNotebook, UnreadableNotebook, read_submitted, rebuild
from autograder.references.store import References
from autograder.references.stored_files import Files


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
