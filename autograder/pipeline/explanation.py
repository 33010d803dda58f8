"""One exercise of one student, run again for an appeal: what came beside what was expected.

What is made here quotes expected answers: it is for the instructor's screen, and never part of a verdict.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.errors import GradingError
from autograder.exercise.compare import compare_case
from autograder.exercise.model import Answers, Case
from autograder.exercise.values import TEXT, read_text
from autograder.model import cells
from autograder.model.plain_text import paragraph
from autograder.model.verdict import CellVerdict, Check
from autograder.pipeline.drawings import blank
from autograder.pipeline.execute import ExecutedNotebook, Kernels, Limits
from autograder.pipeline.grade import grade_submission, verdict_again
from autograder.pipeline.outcomes import UnreadableAnswers, answer_name, read_answers
from autograder.pipeline.stored_runs import StoredRuns

MAX_CHARACTERS = 800  # of one array or text
_EDGE, _FEW = 3, 24  # numbers at each end of an axis; arrays up to so many are shown whole


@dataclass(frozen=True)
class Compared:
    """One name in one case. ``actual`` is empty where nothing came; ``difference``: the largest, empty if none."""

    name: str
    expected: str
    actual: str
    difference: str = ""


@dataclass(frozen=True)
class ExplainedCase:
    """One stored case of one exercise. ``inputs``: name to shape; ``mistakes``: the ids of those that matched."""

    slug: str
    number: int
    inputs: Mapping[str, str]
    compared: tuple[Compared, ...] = ()
    checks: tuple[Check, ...] = ()
    mistakes: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Explanation:
    """The verdict of this run, and the cases behind it; none for plain tests and written answers.

    answers: name of a cell or file -> the student's text, of those that belong to the exercise.
    test: as it is in the source; empty for what a person reads.
    """

    notebook: str
    verdict: CellVerdict
    cases: tuple[ExplainedCase, ...]
    answers: Mapping[str, str]
    test: str = ""


def explain_exercise(
    submission: Submission,
    assignment: Assignment,
    kernels: Callable[[], Kernels],
    limits: Limits,
    exercise: str,
    stored: StoredRuns | None = None,
) -> Explanation:
    """Look at one exercise of a submission. Writes nothing. Raises GradingError where there is none.

    stored: what its run produced, where a run would give the same now; else it is run again, in ``kernels``.
    """
    graded = [(name, cell) for name, book in assignment.source.items() for cell in book.cells if cells.is_graded(cell)]
    called = [(cells.grade_id(cell), f"{name}/{cells.grade_id(cell)}") for name, cell in graded]
    meant = [one for one, names in zip(graded, called, strict=True) if exercise in names]
    if len(meant) != 1:
        known = ", ".join(whole for _, whole in called)
        raise GradingError(f"expected one of the exercises {known}, got {exercise!r}")
    notebook, cell = meant[0]
    cases: list[ExplainedCase] = []
    answers: dict[str, str] = {}
    grade_id = str(cells.grade_id(cell))

    def look(name: str, ran: ExecutedNotebook) -> None:
        if name == notebook:
            cases[:] = _cases(ran, assignment, grade_id)
            answers.update(_answers(ran.notebook, grade_id))

    if stored is not None:
        found = verdict_again(stored, assignment, look)
    else:  # what a notebook earns may depend on those before it, and on none behind it
        found = grade_submission(submission, assignment, kernels(), limits, look, draw=blank, last=notebook).verdict
    said = next(one for one in found.notebooks if one.notebook == notebook)
    verdict = next(one for one in said.cells if one.cell == grade_id)
    if not answers:
        answers = {name: data.decode("utf-8", "replace") for name, data in submission.files.items()}
    return Explanation(notebook, verdict, tuple(cases), answers, cell.source if cells.is_autograded(cell) else "")


def _answers(notebook: NotebookNode, grade_id: str) -> dict[str, str]:
    """What the student wrote since the last exercise that has an answer before this one; a test may have several."""
    found: dict[str, str] = {}
    ended = False
    for number, cell in enumerate(notebook.cells):
        name = cells.grade_id(cell) or ""
        own = not name and cell.get("id", "").startswith("extra-")
        if own or cells.is_solution(cell):
            found = {} if ended else found
            found[name or f"a cell of their own, number {number}"] = cell.source
            ended = False
        if name == grade_id:
            break
        ended = ended or cells.is_graded(cell)
    return found


def _cases(ran: ExecutedNotebook, assignment: Assignment, grade_id: str) -> list[ExplainedCase]:
    index = next(number for number, cell in enumerate(ran.notebook.cells) if cells.grade_id(cell) == grade_id)
    source = ran.notebook.cells[index].source
    return [
        _case(assignment, slug, number, case, partial(read_answers, ran.answers, answer_name(index, slug, number)))
        for slug in cells.references_of(source)
        for number, case in enumerate(assignment.references.cases(slug))
    ]


def _case(
    assignment: Assignment, slug: str, number: int, case: Case, read: Callable[[Case], Mapping[str, np.ndarray] | None]
) -> ExplainedCase:
    inputs = {name: f"{array.shape} {array.dtype}" for name, array in {**case.inputs, **case.weights}.items()}
    inputs |= {name: repr(value) for name, value in case.config.items()}
    inputs |= {name: paragraph(str(value), MAX_CHARACTERS) for name, value in case.texts.items()}
    try:
        arrays = read(case)
    except UnreadableAnswers as error:
        return ExplainedCase(slug, number, inputs, problem=str(error))
    if arrays is None:
        return ExplainedCase(slug, number, inputs, problem="nothing came from the student's code")
    compared = tuple(_compared(name, want, arrays.get(name)) for name, want in case.expected.items())
    exercise = assignment.references.exercise(slug)
    try:
        with np.errstate(all="ignore"):
            checks = tuple((exercise.rule or compare_case)(exercise, case, Answers(arrays)).checks)
    except Exception as error:
        problem = f"the rule stopped with {type(error).__name__}: {error}"
        return ExplainedCase(slug, number, inputs, compared, problem=problem)
    mistakes = tuple(check.mistake for check in checks if check.mistake)
    return ExplainedCase(slug, number, inputs, compared, checks, mistakes)


def _compared(name: str, want: np.ndarray, got: np.ndarray | None) -> Compared:
    if got is None:
        return Compared(name.removeprefix(TEXT), _shown(name, want), "")
    difference = ""
    numbers = want.dtype.kind in "fiu" and got.dtype.kind in "fiub" and not name.startswith(TEXT)
    if numbers and want.shape == got.shape and want.size:
        with np.errstate(all="ignore"):
            difference = f"{np.abs(got.astype(np.float64) - want.astype(np.float64)).max():.4g}"
    return Compared(name.removeprefix(TEXT), _shown(name, want), _shown(name, got), difference)


def _shown(name: str, array: np.ndarray) -> str:
    if name.startswith(TEXT):
        return paragraph(str(read_text(array)), MAX_CHARACTERS)
    threshold = _FEW if array.size <= _FEW else 0
    values = np.array2string(array, precision=4, threshold=threshold, edgeitems=_EDGE, max_line_width=100)
    return f"{array.shape} {array.dtype} {paragraph(' '.join(values.split()), MAX_CHARACTERS)}"
