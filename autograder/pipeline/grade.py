"""One submission through the three stages: rebuild, run, judge. Knows no gradebook and no command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4.rwbase import split_lines, strip_transient

from autograder.gradebook.answer_digests import Digests, answer_digests
from autograder.model import cells
from autograder.model.assignment import Assignment
from autograder.model.plain_text import one_line
from autograder.model.submission import Submission
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict, Status, SubmissionVerdict, presentable
from autograder.pipeline.execute import ExecutedNotebook, InfrastructureError, Kernels, Limits, PartOutcome, run
from autograder.pipeline.judge import judge, write_into
from autograder.pipeline.rebuild import RebuiltNotebook, UnreadableNotebook, read_submitted, rebuild
from autograder.pipeline.steps import steps_for
from autograder.references.store import References

#: A failure of the grader itself is tried again this often before it is reported.
ATTEMPTS = 3
#: So much of what happened to one notebook is logged.
MAX_LOG_LINES = 1000


@dataclass(frozen=True)
class Graded:
    """A verdict, and the notebooks with the verdict written into them, ready to be saved.

    ``answers``: per notebook what the student answered, as digests; None where nobody could read it.
    ``slowest`` is what the slowest part of a cell took, in seconds; ``cut`` is true where a limit ended one.
    """

    verdict: SubmissionVerdict
    notebooks: Mapping[str, NotebookNode]
    log: tuple[str, ...]
    slowest: float = 0.0
    cut: bool = False
    answers: Mapping[str, Digests] | None = None


@dataclass(frozen=True)
class Prepared:
    """A submission after the rebuild: notebooks that can be run, verdicts on those that cannot, files beside them.

    ``answers``: digests of the answers in those that can be run.
    """

    rebuilt: Mapping[str, RebuiltNotebook]
    unreadable: Mapping[str, NotebookVerdict]
    files: Mapping[str, bytes]
    answers: Mapping[str, Digests]


def prepare(submission: Submission, assignment: Assignment) -> Prepared:
    """The stage REBUILD for every notebook of a submission."""
    rebuilt: dict[str, RebuiltNotebook] = {}
    unreadable: dict[str, NotebookVerdict] = {}
    for name in assignment.source:
        if name not in submission.notebooks:
            unreadable[name] = nothing(
                assignment, name, submission.student, "missing", f"{name}.ipynb was not handed in."
            )
            continue
        try:
            sent = read_submitted(submission.notebooks[name])
        except UnreadableNotebook as error:
            why = f"{name}.ipynb could not be read: {error}"
            unreadable[name] = nothing(assignment, name, submission.student, "failed", why)
            continue
        made = rebuild(assignment.source[name], assignment.release[name], sent)
        about = tuple(
            note for note in submission.notes if name in note or not any(other in note for other in assignment.source)
        )
        rebuilt[name] = RebuiltNotebook(made.notebook, about + made.notes)
    answers = {name: answer_digests(made.notebook, submission.files) for name, made in rebuilt.items()}
    files = {**submission.beside, **assignment.files, **submission.files, **_siblings(rebuilt)}
    return Prepared(rebuilt, unreadable, files, answers)


def grade_submission(
    submission: Submission,
    assignment: Assignment,
    kernels: Kernels,
    limits: Limits,
    on_executed: Callable[[str, ExecutedNotebook], None] = lambda name, ran: None,
) -> Graded:
    """Grade one submission: what grades a class, checks a release and stands behind nbgrader's own commands.

    on_executed: told the name of each notebook, and how its cells ran, before its answers are judged.
    Raises nothing on account of what the student sent.
    """
    prepared = prepare(submission, assignment)
    verdicts = dict(prepared.unreadable)
    notebooks: dict[str, NotebookNode] = {}
    log: list[str] = []
    parts: list[PartOutcome] = []
    earlier: dict[str, CellVerdict] = {}
    following = {name: _starting(other, prepared, assignment, kernels, limits) for name, other in _pairs(prepared)}
    try:
        for name, made in prepared.rebuilt.items():
            verdicts[name], notebooks[name] = _grade_notebook(
                name,
                made,
                submission.student,
                assignment,
                prepared.files,
                kernels,
                limits,
                log,
                parts,
                on_executed,
                earlier,
                following[name],
            )
    finally:
        kernels.drop_ahead()
    ordered = tuple(verdicts[name] for name in assignment.source)
    return Graded(
        SubmissionVerdict(submission.student, assignment.name, ordered),
        notebooks,
        tuple(log),
        max((part.seconds for part in parts), default=0.0),
        any(part.status in ("timeout", "crashed", "skipped") for part in parts),
        prepared.answers,
    )


def _pairs(prepared: Prepared) -> Iterator[tuple[str, str | None]]:
    """Every notebook with the one after it."""
    names = list(prepared.rebuilt)
    return zip_longest(names, names[1:])


def _starting(
    name: str | None, prepared: Prepared, assignment: Assignment, kernels: Kernels, limits: Limits
) -> Callable[[], None]:
    """Begins with a notebook's kernel while the one before it is at work."""
    if name is None:
        return lambda: None
    inputs = inputs_of(prepared.rebuilt[name].notebook, assignment.references)
    return lambda: kernels.start_ahead(prepared.files, inputs, limits.memory_bytes, limits.processes, limits.disk_bytes)


def _grade_notebook(
    name: str,
    made: RebuiltNotebook,
    student: str,
    assignment: Assignment,
    files: Mapping[str, bytes],
    kernels: Kernels,
    limits: Limits,
    log: list[str],
    parts: list[PartOutcome],
    on_executed: Callable[[str, ExecutedNotebook], None],
    earlier: dict[str, CellVerdict],
    meanwhile: Callable[[], None],
) -> tuple[NotebookVerdict, NotebookNode]:
    for attempt in range(ATTEMPTS):
        try:
            with kernels.answers() as answers:
                ran = run(
                    made.notebook,
                    files=files,
                    inputs=inputs_of(made.notebook, assignment.references),
                    answers=answers,
                    kernels=kernels,
                    limits=limits,
                    cell_limits=limits.cells.get(name),
                    drawings=assignment.drawings,
                    steps=steps_for(assignment.source[name], made.notebook, assignment.files, assignment.deliverables),
                    tester_files=trusted_files(assignment),
                    meanwhile=meanwhile,
                )
                on_executed(name, ran)
                log += [f"{name}: {one_line(line)}" for line in ran.log[:MAX_LOG_LINES]]
                parts += [part for one in ran.outcomes for part in (one.visible, one.hidden) if part]
                verdict = presentable(
                    judge(
                        ran,
                        assignment.references,
                        student=student,
                        assignment=assignment.name,
                        notebook=name,
                        notes=made.notes,
                        earlier=earlier,
                    )
                )
                return verdict, write_into(ran.notebook, verdict)
        except InfrastructureError as error:
            log.append(f"{name}: attempt {attempt + 1} of {ATTEMPTS} failed: {error}")
    verdict = nothing(
        assignment,
        name,
        student,
        "infrastructure",
        "The grader failed; nothing is wrong with the submission. " + (log[-1] if log else ""),
    )
    return verdict, write_into(made.notebook, verdict)


def trusted_files(assignment: Assignment) -> dict[str, bytes]:
    """What lies beside the notebook in the tester: nothing that students write."""
    return {name: data for name, data in assignment.files.items() if name not in assignment.deliverables}


def inputs_of(notebook: NotebookNode, references: References) -> dict[str, Path]:
    """slug -> folder of inputs, for every reference that the notebook's hidden cells ask for."""
    return {
        slug: references.inputs(slug)
        for cell in notebook.cells
        if cells.is_autograded(cell)
        for slug in cells.references_of(cell.source)
    }


def _siblings(rebuilt: Mapping[str, RebuiltNotebook]) -> dict[str, bytes]:
    """The student's notebooks as later ones may read them: rebuilt, and without the hidden tests."""
    files = {}
    for name, made in rebuilt.items():
        notebook = nbformat.from_dict(made.notebook)
        for cell in notebook.cells:
            if cells.is_autograded(cell):
                cell.source = cells.split_hidden(cell.source).visible
        # on one line, as no person reads it, which takes a tenth of the time
        text = json.dumps(strip_transient(split_lines(notebook)), ensure_ascii=False, sort_keys=True)
        files[f"{name}.ipynb"] = text.encode()
    return files


def nothing(assignment: Assignment, name: str, student: str, status: Status, why: str) -> NotebookVerdict:
    """The verdict on a notebook that was not run: no points, or none yet where the grader itself failed."""
    points = None if status == "infrastructure" else 0.0
    graded = [cell for cell in assignment.source[name].cells if cells.is_graded(cell)]
    verdicts = tuple(
        CellVerdict(
            cells.nbgrader(cell)["grade_id"], status, points, cells.max_points(cell), (Check(name, False, why),)
        )
        for cell in graded
    )
    return presentable(NotebookVerdict(student, assignment.name, name, verdicts, (why,)))
