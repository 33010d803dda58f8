"""The station JUDGE: answers and stored references in, verdicts out. Runs in the trusted process alone.

Nothing that the kernel said about itself counts here: neither outputs nor a reply decide a point, only
the numbers that were handed over do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import nbformat
import numpy as np
from nbformat import NotebookNode
from nbgrader.utils import determine_grade

from autograder import cells, store
from autograder.compare import compare_case
from autograder.exercise import Answers, Judgement
from autograder.run import CellOutcome, PartOutcome, Ran
from autograder.sanitize import harmless
from autograder.store import References
from autograder.verdict import CellVerdict, Check, NotebookVerdict, Status

#: An answer file above this size is not read. The stored inputs are a few kilobytes each.
MAX_ANSWER_BYTES = 64 << 20


def judge(
    ran: Ran,
    references: References,
    *,
    student: str,
    assignment: str,
    notebook: str,
    notes: tuple[str, ...] = (),
) -> NotebookVerdict:
    """The verdict on one notebook that was run, by the course's stored ``references``.

    Raises nothing on a wrong answer: a wrong answer is a verdict.
    """
    outcomes = {outcome.index: outcome for outcome in ran.outcomes}
    source = solution_source(ran.notebook)
    verdicts = []
    for index, cell in enumerate(ran.notebook.cells):
        if cells.is_judged(cell):
            verdicts.append(_judge_cell(cell, outcomes.get(index), ran.answers, source, references))
        elif cells.is_graded(cell):
            verdicts.append(_written(cell))
    return NotebookVerdict(student, assignment, notebook, tuple(verdicts), notes, ran.seconds)


def _written(cell: NotebookNode) -> CellVerdict:
    """What a human reads waits, unless nothing was written: that nbgrader itself counts as zero, except for a task."""
    name, points = cells.nbgrader(cell)["grade_id"], cells.max_points(cell)
    if cells.is_task(cell) or determine_grade(cell)[0] is None:
        return CellVerdict(name, "manual", None, points)
    return CellVerdict(name, "missing", 0.0, points, (Check(name, False, "No answer was written."),))


def solution_source(notebook: NotebookNode) -> str:
    """The student's own code: every code cell that the teacher did not write."""
    own = [cell.source for cell in notebook.cells if cell.cell_type == "code" and not cells.is_protected(cell)]
    return "\n\n".join(own)


def _judge_cell(
    cell: NotebookNode, outcome: CellOutcome | None, answers: Path, source: str, references: References
) -> CellVerdict:
    name, points = cells.nbgrader(cell)["grade_id"], cells.max_points(cell)
    hidden = outcome.hidden if outcome else None
    judgements: list[Judgement] = []
    for slug in cells.references_of(cell.source):
        exercise = store.exercise(slug)
        for index, case in enumerate(references.cases(slug)):
            arrays = _read(answers / slug / f"{index}.safetensors")
            if arrays is None:
                missing = Check(slug.partition("/")[2], False, *_why_missing(outcome))
                judgements.append(Judgement([missing]))
                break  # the hidden cell stopped here: one reason is enough
            judgements.append((exercise.rule or compare_case)(exercise, case, Answers(arrays, source)))
    if not judgements and points:  # refused long before; should it get here, it is never a zero
        return CellVerdict(name, "infrastructure", None, points, (Check(name, False, "Nothing here can be judged."),))
    share = min((judgement.earned for judgement in judgements), default=1.0)
    status: Status = "passed" if share == 1 else "partial" if share > 0 else "failed"
    if share < 1 and hidden and hidden.status in ("crashed", "timeout"):
        status = hidden.status if share == 0 else status
    seconds = sum(part.seconds for part in (outcome.visible, outcome.hidden) if part) if outcome else 0.0
    return CellVerdict(name, status, share * points, points, _tidy(judgements), seconds)


def _tidy(judgements: list[Judgement]) -> tuple[Check, ...]:
    """Each check once; of a check that fails in several cases the first failure, a named mistake before others."""
    merged: dict[str, Check] = {}
    for check in (check for judgement in judgements for check in judgement.checks):
        known = merged.get(check.name)
        if known is None or (known.passed and not check.passed):
            merged[check.name] = check
    ordered = sorted(merged.values(), key=lambda check: (check.passed, not check.mistake))
    return tuple(check if not check.passed else Check(check.name, True) for check in ordered)


def _why_missing(outcome: CellOutcome | None) -> tuple[str, str]:
    """(message, hint) for answers that never came."""
    if outcome is None or outcome.hidden is None:
        return "This part was not reached.", "An earlier cell ended the run; its own message says why."
    part: PartOutcome = outcome.hidden
    if part.status == "skipped":
        return "This part was not reached: the time for the whole notebook was up.", "Which cell above takes so long?"
    if part.status == "timeout" or part.ename == "TookTooLong":
        return (
            "Your code took too long here.",
            "A loop that never ends, or a loop in Python where one tensor operation would do?",
        )
    if part.status == "crashed":
        return "Your code ended the Python process here.", "os._exit, a crash in native code, or far too much memory?"
    if part.ename == "NotImplementedError":
        return "Not filled in yet.", "Replace 'raise NotImplementedError()' by your own code."
    if part.ename == "NotRead":  # the course's own words on models.py
        return part.evalue[:500], "The cause often stands one line further up: a bracket that is not closed, say."
    if part.ename == "NameError":
        return f"A name is missing: {part.evalue}", "Was the cell that defines it deleted, renamed or never finished?"
    if part.status == "error":
        return f"Your code stopped with {part.ename}: {part.evalue}"[
            :500
        ], "Run the visible check above: it shows the line."
    return "No answer came from your code.", "Run the visible check above."


def _read(path: Path) -> Mapping[str, np.ndarray] | None:
    """The arrays of one answer file; None where it is no plain, small, readable file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        if os.fstat(stream.fileno()).st_size > MAX_ANSWER_BYTES:
            return None
        data = stream.read(MAX_ANSWER_BYTES + 1)
    try:
        return store.read_answers(data)
    except ValueError:
        return None


def write_into(notebook: NotebookNode, verdict: NotebookVerdict) -> NotebookNode:
    """A copy whose graded cells carry the verdict in nbgrader's own terms, and in no other.

    Full points: no output that nbgrader would take for a mark. Part of them: the number as the cell's
    result. None: an error output whose text is the judge's message.
    """
    judged = nbformat.from_dict(notebook)
    found = {cell.cell: cell for cell in verdict.cells}
    for cell in judged.cells:
        if not cells.is_judged(cell):
            continue
        cell.outputs = [_harmless(output) for output in cell.outputs]
        cell.outputs += _outputs(found[cells.nbgrader(cell)["grade_id"]])
    return harmless(judged)  # the formgrader would run a script that a submission left in an output


def _harmless(output: NotebookNode) -> NotebookNode:
    """The same words where nbgrader does not take them for a mark: stderr, errors and results count there."""
    if output.output_type == "stream":
        return nbformat.v4.new_output("stream", name="stdout", text=output.text)
    if output.output_type == "error":
        return nbformat.v4.new_output("stream", name="stdout", text=f"{output.ename}: {output.evalue}\n")
    return nbformat.v4.new_output("display_data", data=output.data, metadata=output.metadata)


def _outputs(verdict: CellVerdict) -> list[NotebookNode]:
    if verdict.status == "passed":
        return []
    text = explain(verdict)
    if verdict.status == "partial":
        said = nbformat.v4.new_output("stream", name="stdout", text=text + "\n")
        return [said, nbformat.v4.new_output("execute_result", data={"text/plain": repr(verdict.points)})]
    first = next((check.message for check in verdict.checks if not check.passed), verdict.status)
    return [nbformat.v4.new_output("error", ename=verdict.status, evalue=first, traceback=[text])]


def explain(verdict: CellVerdict) -> str:
    """The verdict in words: points, then each failed check with its hint."""
    lines = [f"{verdict.cell}: {verdict.points or 0:g} of {verdict.max_points:g} points ({verdict.status})"]
    for check in verdict.checks:
        if not check.passed:
            lines += [f"  - {check.message}", *([f"    {check.hint}"] if check.hint else [])]
    return "\n".join(lines)


def compare_on_the_spot(references: Path, slug: str, index: int, arrays: Mapping[str, np.ndarray]) -> None:
    """What :meth:`autograder.probe.Case.compare` does in the instructor's Jupyter. Raises AssertionError.

    references: the folder ``exercises/`` of the course.
    """
    exercise = store.exercise(slug)
    judgement = (exercise.rule or compare_case)(exercise, References(references).cases(slug)[index], Answers(arrays))
    wrong = [f"{check.message} {check.hint}".strip() for check in judgement.checks if not check.passed]
    if wrong:
        raise AssertionError(f"{slug}, case {index}: " + "\n".join(wrong))
