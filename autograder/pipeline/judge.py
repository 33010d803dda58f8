"""The stage JUDGE: answers and stored references in, verdicts out. Runs in the trusted process alone.

Nothing that the kernel said about itself earns a point here: only the numbers that were handed over do. That a cell
stopped with an error can only cost points: answers count where their cell's hidden part ran to its end.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath

import nbformat
import numpy as np
from nbformat import NotebookNode

from autograder.assignment.calibration import CellCalibration
from autograder.exercise.compare import compare_case, judge_cases, merged
from autograder.exercise.hints import hint_about
from autograder.exercise.model import Answers, Case, Exercise, Judgement
from autograder.model import cells
from autograder.model.cells import checksum_of
from autograder.model.plain_text import COLOUR
from autograder.model.questions import asking
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict, Status, total
from autograder.pipeline.judge_questions import judge_questions
from autograder.pipeline.judge_tests import (
    DIED,
    NO_TIME,
    NOT_FILLED_IN,
    TOO_LONG,
    beyond,
    bounded,
    is_stub,
    judge_test,
)
from autograder.pipeline.outcomes import (
    AnswerFiles,
    CellOutcome,
    ExecutedNotebook,
    PartOutcome,
    UnreadableAnswers,
    answer_name,
    read_answers,
    ready_made_in,
)
from autograder.pipeline.sanitize import harmless
from autograder.plain.names import names_of
from autograder.references.store import References

#: Of a test whose answer stands in a text: message and hint.
NOT_RUN = (
    "The code for this test stands in a text or a comment, which is not run; a person looks at it.",
    "Next time, write it into the code cell that is there for the answer, and run the notebook from the top.",
)
#: Of a written answer that is not in its cell: message and hint.
ELSEWHERE = (
    "Nothing was written into the cell of this answer; a person looks for it elsewhere in the notebook.",
    "Next time, write into the cell that is there for the answer.",
)


def judge(
    ran: ExecutedNotebook,
    references: References,
    *,
    student: str,
    assignment: str,
    notebook: str,
    notes: tuple[str, ...] = (),
    earlier: dict[str, CellVerdict] | None = None,
    absent: frozenset[str] = frozenset(),
    waiting: Collection[str] = (),
    calibration: Mapping[str, CellCalibration] = {},
    students: Sequence[str] = (),
) -> NotebookVerdict:
    """The verdict on one notebook that was run, by the course's stored ``references``.

    calibration: grade id -> what reached a plain test from the solution.

    waiting: grade ids of answers that a person must look for outside of their cells.
    earlier: slug -> verdict, of the submission's notebooks before this one; the verdicts on this one are added.
    students: the ids of those who handed it in together; empty where nobody knows who did.
    absent: files that were to be handed in and were not; what students got lay in their place.
    Raises nothing on a wrong answer: a wrong answer is a verdict.
    """
    outcomes = {outcome.index: outcome for outcome in ran.outcomes}
    source = solution_source(ran.notebook)
    context = _Context(references, ran.answers, source, {} if earlier is None else earlier, calibration)
    stopped = stopped_cells(ran)
    verdicts = []
    for index, cell in enumerate(ran.notebook.cells):
        if cells.is_autograded(cell):
            outcome = outcomes.get(index)
            if asked := asking(cell):
                verdicts.append(judge_questions(ran, index, asked, context.earlier, assignment, students))
                continue
            found = _for_want_of_a_file(_judge_cell(cell, outcome, context), cell, outcome, absent)
            if found.cell in waiting and not found.points and found.status != "infrastructure":
                found = replace(found, status="manual", points=None, checks=(Check(found.cell, False, *NOT_RUN),))
            verdicts.append(told_of(found, stopped.get(missing_name(outcome))))
        elif cells.is_graded(cell):
            verdicts.append(_written(cell, waiting))
    verdicts = _with_parts_within(verdicts, context)
    return NotebookVerdict(student, assignment, notebook, tuple(verdicts), (*notes, *context.notes), ran.seconds)


@dataclass
class _Context:
    """What judging one cell may need of the submission's other cells. ``earlier``: slug -> verdict, grows with each.

    ran: the ready-made parts that ran for the cell that is judged.
    """

    references: References
    answers: AnswerFiles
    source: str
    earlier: dict[str, CellVerdict]
    calibration: Mapping[str, CellCalibration] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    judged: dict[str, CellOutcome | None] = field(default_factory=dict)
    ran: set[str] = field(default_factory=set)


def _with_parts_within(verdicts: list[CellVerdict], context: _Context) -> list[CellVerdict]:
    """Full points for methods that were left as they were, where their class is right as it stands: they are within it.

    A function that an exercise asks for is no part of another one's answer.
    """
    within: set[str] = set()
    for slug, outcome in context.judged.items():
        exercise = context.references.exercise(slug)
        parts = [] if isinstance(exercise.parts, Mapping) else exercise.slugs_of_parts
        left = [part for part in parts if _left(context.judged.get(part))]
        if left and all(one.earned == 1 for one in _judge_slug(slug, outcome, replace(context, earlier={}))):
            within |= {context.earlier[part].cell for part in left}
    full = {
        one.cell: replace(one, status="passed", points=one.max_points, checks=(Check(one.cell, True),))
        for one in verdicts
        if one.cell in within
    }
    context.earlier |= {slug: full[one.cell] for slug, one in context.earlier.items() if one.cell in full}
    return [full.get(one.cell, one) for one in verdicts]


def _left(outcome: CellOutcome | None) -> bool:
    """Whether a part was left as it was handed out, or is not there."""
    ended = outcome.hidden if outcome else None
    return ended is not None and (is_stub(ended) or ended.ename == "NoSuchMethod")


def _for_want_of_a_file(
    verdict: CellVerdict, cell: NotebookNode, outcome: CellOutcome | None, absent: frozenset[str]
) -> CellVerdict:
    """The verdict with the true reason where a cell needs a file that was not handed in: its stub stopped it."""
    parts = (outcome.visible, outcome.hidden, outcome.test.ended if outcome.test else None) if outcome else ()
    raised = {part.raised[0] for part in parts if part}
    named = {file for file in absent if re.search(rf"\b{re.escape(PurePath(file).stem)}\b", cell.source)}
    needed = min((raised | named) & absent, default="")
    if not needed or verdict.status == "passed":
        return verdict
    check = Check(verdict.cell, False, f"{needed} was not handed in.", "Hand it in together with the notebook.")
    return replace(verdict, checks=(check,))


def _written(cell: NotebookNode, waiting: Collection[str]) -> CellVerdict:
    """What a human reads waits, unless nothing was written: that nbgrader itself counts as zero, except for a task."""
    name, points = cells.nbgrader(cell)["grade_id"], cells.max_points(cell)
    untouched = cells.nbgrader(cell).get("checksum") == checksum_of(cell)
    if name in waiting and untouched:
        return CellVerdict(name, "manual", None, points, (Check(name, False, *ELSEWHERE),), judged="manual")
    if cells.is_task(cell) or not cells.is_solution(cell) or not untouched:
        return CellVerdict(name, "manual", None, points, judged="manual")
    return CellVerdict(name, "missing", 0.0, points, (Check(name, False, "No answer was written."),), judged="manual")


def solution_source(notebook: NotebookNode) -> str:
    """The student's own code: every code cell that the instructor did not write."""
    own = [cell.source for cell in notebook.cells if cell.cell_type == "code" and not cells.is_locked(cell)]
    return "\n\n".join(own)


def _judge_cell(cell: NotebookNode, outcome: CellOutcome | None, context: _Context) -> CellVerdict:
    name, points = cells.nbgrader(cell)["grade_id"], cells.max_points(cell)
    if outcome is not None and outcome.test is not None:
        test = outcome.test if outcome.test.judged == "outside" else outcome.test.inside
        if test is not None and beyond(test, points):
            note = f"the result of the cell '{name}' is no number from 0 to its {points:g} points"
            context.notes.append(f"{note}; it earned none: is its test right?")
        has_hidden = bool(cells.split_hidden(cell.source).hidden.strip())
        known = context.calibration.get(name)
        return judge_test(
            name, points, outcome.test, context.source, has_hidden, known.solution if known else None, cell.source
        )
    hidden = outcome.hidden if outcome else None
    slugs = cells.references_of(cell.source)
    context.ran.clear()
    judgements = [judgement for slug in slugs for judgement in _judge_slug(slug, outcome, context)]
    if judgements and not (hidden and hidden.status == "ok") and all(judgement.earned for judgement in judgements):
        # the files may be right, but who wrote them? The cell did not come to its end
        judgements.append(Judgement([Check(name, False, *_why_missing(outcome))]))
    if not judgements and points:  # refused long before; should it get here, it is never a zero
        return CellVerdict(name, "infrastructure", None, points, (Check(name, False, "Nothing here can be judged."),))
    share = round(min((judgement.earned for judgement in judgements), default=1.0), 9)
    status: Status = "passed" if share == 1 else "partial" if share > 0 else "failed"
    if share < 1 and hidden and hidden.status in ("crashed", "timeout"):
        status = hidden.status if share == 0 else status
    seconds = sum(part.seconds for part in (outcome.visible, outcome.hidden) if part) if outcome else 0.0
    earned, ran = total((share * points,)), tuple(sorted(context.ran))
    verdict = CellVerdict(name, status, earned, points, merged(judgements), seconds, ready_made=ran)
    context.earlier |= dict.fromkeys(slugs, verdict)
    context.judged |= dict.fromkeys(slugs, outcome)
    return verdict


def _judge_slug(slug: str, outcome: CellOutcome | None, context: _Context) -> list[Judgement]:
    """One judgement for each case, up to the first whose answers are missing: one reason is enough."""
    exercise, label = context.references.exercise(slug), slug.partition("/")[2]
    given: list[tuple[Case, Answers]] = []
    missing: list[Judgement] = []
    for index, case in enumerate(context.references.cases(slug)):
        try:
            name = answer_name(outcome.index, slug, index) if outcome else ""
            arrays = read_answers(context.answers, name, case) if name else None
        except UnreadableAnswers as error:
            missing = [Judgement([Check(label, False, str(error), "Run the visible check above.")])]
            break
        if arrays is None:
            missing = [Judgement([Check(label, False, *_why_missing(outcome))])]
            break
        context.ran.update(ready_made_in(arrays))
        given.append((case, Answers(arrays, context.source, context.earlier)))
    return judge_cases(exercise, given, partial(_compared, context.notes)) + missing


def _compared(notes: list[str], exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What the exercise's rule says. A rule that stops with an error costs this answer, and no other cell."""
    try:
        with np.errstate(all="ignore"):  # what a submission makes of its numbers is no news to the instructor
            return (exercise.rule or compare_case)(exercise, case, answers)
    except Exception as error:
        label = exercise.slug.partition("/")[2]
        note = f"an answer to '{label}' could not be compared ({type(error).__name__}); it earned no points"
        if note not in notes:
            notes.append(note)
        shapes = ", ".join(f"{name} {answers.arrays[name].shape}" for name in case.expected if name in answers.arrays)
        message = f"Your answer could not be compared with what was expected{f': {shapes}' if shapes else ''}."
        return Judgement([Check(label, False, message, "Run the visible check above: is the shape what it asks for?")])


def _why_missing(outcome: CellOutcome | None) -> tuple[str, str]:
    """(message, hint) for answers that never came."""
    if outcome is None or outcome.hidden is None:
        return "This part was not reached.", "An earlier cell ended the run; its own message says why."
    part: PartOutcome = outcome.hidden
    if part.status == "skipped":
        return NO_TIME
    if part.status == "timeout" or part.ename == "TookTooLong":
        return TOO_LONG
    if part.status == "crashed":
        return DIED
    if is_stub(part):
        return NOT_FILLED_IN
    if part.ename == "NotComparable":  # the call's own words on what came back
        return bounded(part.evalue), hint_about(part.ename, part.evalue)
    if part.ename == "NotRead":  # the course's own words on models.py
        return bounded(part.evalue), "The cause often stands one line further up: a bracket that is not closed, say."
    if part.ename == "NameError":
        message = bounded(f"A name is missing: {part.evalue}")
        return message, "Is it spelt as the comment asks for? Is the cell that defines it there, and valid Python?"
    if part.status == "error":
        message = bounded(f"Your code stopped with {part.ename}: {part.evalue}")
        return message, hint_about(part.ename, part.evalue) or "Run the visible check above: it shows the line."
    return "No answer came from your code.", "Run the visible check above."


def write_into(notebook: NotebookNode, verdict: NotebookVerdict) -> NotebookNode:
    """A copy whose graded cells carry the verdict in nbgrader's own terms, and in no other.

    Full points: no output that nbgrader would take for a mark. Part of them: the number as the cell's
    result. None: an error output whose text is the judge's message.
    """
    judged = nbformat.from_dict(notebook)
    found = {cell.cell: cell for cell in verdict.cells}
    for cell in judged.cells:
        if not cells.is_autograded(cell):
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
    """What :meth:`autograder.testing.StoredCase.compare` does in the instructor's Jupyter. Raises AssertionError.

    references: the folder ``exercises/`` of the course.
    """
    stored = References(references)
    exercise = stored.exercise(slug)
    judgement = (exercise.rule or compare_case)(exercise, stored.cases(slug)[index], Answers(arrays))
    wrong = [f"{check.message} {check.hint}".strip() for check in judgement.checks if not check.passed]
    if wrong:
        raise AssertionError(f"{slug}, case {index}: " + "\n".join(wrong))


_NAME = re.compile(r"name '(\w+)' is not defined")
_DEFINITION = re.compile(r"(?m)^\ufeff?(?:(?:def|class)\s+(\w+)|(\w+)\s*=(?!=))")
_ARROW = re.compile(r"^-+>\s*\d+ (.*)$", re.MULTILINE)
_MAX_LINE = 200


def stopped_cells(ran: ExecutedNotebook) -> dict[str, Check]:
    """Name -> what is to be said where it is missing, for the names of all cells that stopped with an error."""
    found: dict[str, Check] = {}
    for outcome in ran.outcomes:
        cell = ran.notebook.cells[outcome.index]
        if outcome.visible.status != "error" or cells.is_locked(cell):
            continue
        for name in _bound(cell.source):
            found.setdefault(name, _why(name, cell, outcome.visible))
    return found


def missing_name(outcome: CellOutcome | None) -> str:
    """The name that a graded cell did not find; empty where it ended in another way."""
    if outcome is None:
        return ""
    part = outcome.test.ended if outcome.test else outcome.hidden
    found = _NAME.search(part.evalue) if part and part.ename == "NameError" else None
    return found[1] if found else ""


def told_of(verdict: CellVerdict, why: Check | None) -> CellVerdict:
    """The verdict, of which the first check that failed says why the name that it needs is missing."""
    first = next((index for index, check in enumerate(verdict.checks) if not check.passed), None)
    if why is None or first is None:
        return verdict
    told = replace(verdict.checks[first], message=bounded(why.message), hint=why.hint)
    return replace(verdict, checks=(*verdict.checks[:first], told, *verdict.checks[first + 1 :]))


def _bound(source: str) -> frozenset[str]:
    return names_of(source).bound or frozenset(one or other for one, other in _DEFINITION.findall(source))


def _why(name: str, cell: NotebookNode, ended: PartOutcome) -> Check:
    line = next(_lines(cell), "")
    where = f" at the line '{line}'" if line else ""
    error = f"{ended.ename}: {ended.evalue}"[:_MAX_LINE]
    return Check("", False, f"'{name}' is missing: the cell that defines it stopped{where}. {error}",
                 "Fix that line, or remove it, and run the whole notebook again from the top.")  # fmt: skip


def _lines(cell: NotebookNode) -> Iterator[str]:
    """The lines of the cell at which tracebacks point."""
    written = {line.strip() for line in cell.source.split("\n")} - {""}
    for output in cell.outputs:
        for text in output.get("traceback", ()) if output.output_type == "error" else ():
            shown = (line.strip() for line in _ARROW.findall(COLOUR.sub("", text)))
            yield from (line[:_MAX_LINE] for line in shown if line in written)
