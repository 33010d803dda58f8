"""One folder through the grader's stages, with nothing kept, and what is said about it before it becomes a file.

It ends as three files: ``results.json`` for Gradescope, JUnit XML, a summary for GitHub.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.ci import FILES
from autograder.classroom.workers import Isolation, notebooks_at_once
from autograder.errors import UnreadableSubmission
from autograder.feedback.words import WORDS, points, readable
from autograder.files.atomic import write_file
from autograder.gradebook.results import result_of
from autograder.isolation import available, verify
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.imports import KernelImports, imports_of
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.plain_text import paragraph
from autograder.model.verdict import FOR_A_PERSON, CellVerdict, Graded, Status, SubmissionVerdict, total
from autograder.pipeline.drawings import blank, import_drawings
from autograder.pipeline.execute import Kernels
from autograder.pipeline.grade import grade_submission
from autograder.release.calibrate import calibrated
from autograder.release.judgeable import require_judgeable


class Disclosure(Enum):
    """When the results of hidden tests reach the student; the values are Gradescope's own words."""

    NOW = "visible"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"


@dataclass(frozen=True)
class ExerciseOutcome:
    """One graded cell. ``points`` is None where a human must decide, or the grader failed.

    text: what was expected, what came, where to look; cleaned, several lines.
    visible: the outcome of the visible check; None for a written answer, which has none.
    """

    cell: str
    status: Status
    points: float | None
    max_points: float
    text: str
    seconds: float
    visible: "VisibleCheck | None"


@dataclass(frozen=True)
class NotebookOutcome:
    """One notebook's exercises in order, and what the rebuild put right."""

    name: str
    exercises: tuple[ExerciseOutcome, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SubmissionOutcome:
    """One submission. ``failure`` is not empty where there is no grade: nobody may take it for a zero."""

    student: str
    assignment: str
    notebooks: tuple[NotebookOutcome, ...] = ()
    failure: str = ""

    @property
    def points(self) -> float:
        """Of the exercises that are decided; what a person has yet to give is ``waiting``."""
        return total(exercise.points or 0.0 for notebook in self.notebooks for exercise in notebook.exercises)

    @property
    def max_points(self) -> float:
        return total(exercise.max_points for notebook in self.notebooks for exercise in notebook.exercises)

    @property
    def waiting(self) -> float:
        """Points that a human has yet to give."""
        exercises = [exercise for notebook in self.notebooks for exercise in notebook.exercises]
        return total(exercise.max_points for exercise in exercises if exercise.status in FOR_A_PERSON)


def failed_outcome(student: str, assignment: str, failure: str) -> SubmissionOutcome:
    """A submission that has no grade; ``failure`` says why, in one line."""
    return SubmissionOutcome(printable(student), assignment, failure=printable(" ".join(failure.split())))


def outcome_of(graded: Graded, assignment: Assignment) -> SubmissionOutcome:
    """A graded submission in words that may leave the grader."""
    words = Words(assignment.source.values())
    judged = {
        cells.grade_id(cell)
        for source in assignment.source.values()
        for cell in source.cells
        if cells.is_autograded(cell)
    }
    notebooks = []
    for verdict in graded.verdict.notebooks:
        executed = graded.notebooks.get(verdict.notebook)
        exercises = [_exercise(cell, cell.cell in judged, executed, words) for cell in verdict.cells]
        notebooks.append(NotebookOutcome(verdict.notebook, tuple(exercises), tuple(map(words.clean, verdict.notes))))
    broken = [notebook.notebook for notebook in graded.verdict.notebooks if notebook.status == "infrastructure"]
    failure = f"the grader failed on {', '.join(broken)}" if broken else _ungradable(graded.verdict)
    failure = words.clean(failure)
    return SubmissionOutcome(printable(graded.verdict.student), graded.verdict.assignment, tuple(notebooks), failure)


def _ungradable(verdict: SubmissionVerdict) -> str:
    """Why a notebook could not be judged; empty where all could."""
    found = (
        next(check.message for check in cell.checks)
        for notebook in verdict.notebooks
        for cell in notebook.cells[:1]
        if cell.status == "ungradable"
    )
    return " ".join(found).removesuffix(".")


def _exercise(verdict: CellVerdict, judged: bool, executed: NotebookNode | None, words: "Words") -> ExerciseOutcome:
    visible = None
    if judged and verdict.status not in ("infrastructure", "ungradable"):
        seen = visible_check(executed, verdict)
        visible = VisibleCheck(seen.status, words.clean(seen.text))
    text, points = words.clean(_text(verdict)), result_of(verdict).points
    return ExerciseOutcome(verdict.cell, verdict.status, points, verdict.max_points, text, verdict.seconds, visible)


def _text(verdict: CellVerdict) -> str:
    if verdict.status == "manual":
        return "A person reads this answer."
    if verdict.status == "infrastructure":
        return "The grader failed here; nothing is wrong with the submission."
    failed = [check for check in verdict.checks if not check.passed]
    return "\n".join(line for check in failed for line in (check.message, check.hint) if line)


_MAX_LENGTH = 4000
_HIDDEN_LINE = "[a line of the grader's own]"
#: A hidden line shorter than this says nothing, and may stand in anybody's code.
_TELLING = 20
#: What no XML 1.0 document can hold, whether escaped or not (https://www.w3.org/TR/xml/#charsets).
_NO_XML = re.compile("[^\\t\\n\\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    """The text without colours; control characters and direction marks are shown as escapes. Cut far above its use."""
    return _NO_XML.sub("", paragraph(text, 10 * _MAX_LENGTH))


class Words:
    """Cleans texts for one assignment."""

    def __init__(self, source: Iterable[NotebookNode]) -> None:
        """source: the instructor's notebooks, whose hidden lines no text may quote."""
        hidden: set[str] = set()
        shown: list[str] = []
        for cell in (cell for notebook in source for cell in notebook.cells):
            parts = cells.split_hidden(cell.source)
            hidden |= {line.strip() for line in parts.hidden.split("\n") if len(line.strip()) >= _TELLING}
            shown.append(parts.visible)
        everything_shown = "\n".join(shown)
        telling = sorted((line for line in hidden if line not in everything_shown), key=len, reverse=True)
        self._hidden = re.compile("|".join(map(re.escape, telling))) if telling else None

    def clean(self, text: str) -> str:
        """The printable text without hidden lines, at most 4000 characters of it."""
        plain = printable(text)
        if self._hidden is not None:
            plain = self._hidden.sub(_HIDDEN_LINE, plain)
        return plain if len(plain) <= _MAX_LENGTH else plain[:_MAX_LENGTH] + " …"


# How the visible checks ended: what a student may know of a graded cell before the hidden tests are shown.
# The judge decides over hidden answers alone, so a verdict says nothing about the visible check. Its words stand in the
# graded notebook, where :func:`autograder.pipeline.judge.write_into` has put the judge's own outputs behind them.
# Whoever forges a visible outcome deceives only themselves: no point depends on it.

#: An error of the visible part, as the judge rewrites it: "CheckFailed: attention_block: ...".
_ERROR = re.compile(r"[^\W\d]\w*: ")
#: What a check prints that passed, and one that only reads what was chosen.
_SAID = ("✓ ", "– ")


@dataclass(frozen=True)
class VisibleCheck:
    """``silent``: the check was not reached, or said nothing."""

    status: Literal["passed", "failed", "silent"]
    text: str = ""


def visible_check(notebook: NotebookNode | None, verdict: CellVerdict) -> VisibleCheck:
    """The outcome of the visible part of one judged cell.

    notebook: as graded; None where it was never run, and then the verdict's own reason is no secret.
    """
    if notebook is None:
        return VisibleCheck("failed", "\n".join(check.message for check in verdict.checks if not check.passed))
    cell = next((cell for cell in notebook.cells if cells.grade_id(cell) == verdict.cell), None)
    outputs = _own(cell, verdict) if cell is not None else []
    texts = [output.text for output in outputs if output.output_type == "stream"]
    last = texts[-1] if outputs and outputs[-1].output_type == "stream" else ""
    ticked = any(line.startswith(_SAID) for line in last.split("\n"))
    if _ERROR.match(last) and not ticked:
        return VisibleCheck("failed", last.removeprefix("CheckFailed: ").strip())
    ticks = [line for text in texts for line in text.split("\n") if line.startswith(_SAID)]
    return VisibleCheck("passed", "\n".join(ticks)) if ticks else VisibleCheck("silent")


def _own(cell: NotebookNode, verdict: CellVerdict) -> list[NotebookNode]:
    """The outputs without those that the judge added at the end: a number and its reasons, or an error."""
    added = {"passed": 0, "partial": 2}.get(verdict.status, 1)
    return list(cell.outputs[: len(cell.outputs) - added])


def grade_folder(
    course: Course,
    assignment_name: str,
    folder: Path,
    student: str,
    isolation: Isolation,
) -> SubmissionOutcome:
    """Grade the notebooks in ``folder``, as ``autograder grade`` would.

    An outcome with a failure where there is nothing to grade, or where the grader itself cannot do its work.
    Raises GradingError where the instructor asked for what does not exist.
    """
    assignment = Assignment.open(course, assignment_name)
    require_judgeable(assignment)
    imports = imports_of(course)
    limits = course.file.limits
    try:
        submission = read_submission(folder, student, assignment)
        number = notebooks_at_once(len(submission.notebooks), limits)
        with ExitStack() as closing_later:
            if isolation == "auto":
                kernels = closing_later.enter_context(_confined(assignment, imports, number))
            else:
                kernels = [closing_later.enter_context(Kernels.open(isolation, imports=imports))]
            beside = kernels[1:]  # nobody sees these notebooks: what is written is words and points
            assignment = calibrated(course.root, assignment, kernels[0], limits)
            assignment = replace(assignment, mates=None)  # the name of a repository, say, is no student's id
            graded = grade_submission(submission, assignment, kernels[0], limits, beside=beside, draw=blank)
        return outcome_of(graded, assignment)
    except UnreadableSubmission:
        expected = ", ".join(f"{name}.ipynb" for name in assignment.source)
        return failed_outcome(student, assignment_name, f"no notebook was handed in; expected {expected}")
    except Exception as error:  # whatever goes wrong on our side must not look like a zero
        return failed_outcome(student, assignment_name, f"the grader failed ({type(error).__name__}: {error})")


@contextmanager
def _confined(assignment: Assignment, imports: KernelImports, number: int) -> Iterator[list[Kernels]]:
    """Kernels for so many notebooks at once, of one fork server, where the confinement holds.

    Raises IsolationUnavailable, InfrastructureError.
    """
    available()
    with closing(KernelForkServer(imports)) as fork_server, ExitStack() as closing_later:
        verify()  # real attempts to escape, before the first line of a student's code
        import_drawings(assignment.drawings)  # the first cell that is one would wait for it
        fork_server.ready()
        opened = (Kernels.open("auto", fork_server=fork_server.address, imports=imports) for _ in range(number))
        yield [closing_later.enter_context(one) for one in opened]


# ``results.json`` as Gradescope's autograders write it. Source: "Autograder Specifications",
# https://gradescope-autograders.readthedocs.io/en/latest/specs/ (also docs/specs.md in the repository
# gradescope/autograder_samples): ``score`` at the top overrides the sum of the tests and lets a test go without one;
# ``visibility`` is one of hidden, after_due_date, after_published, visible; while a test is held back, students do not
# see their total either. Without a score and without tests Gradescope reports that the autograder failed, which is
# what a failure of the grader must look like: no score, never a 0.


def results_json(outcome: SubmissionOutcome, disclosure: Disclosure) -> str:
    """The file's text. ``disclosure`` becomes the visibility of everything that hidden tests decide."""
    results: dict[str, Any] = {"stdout_visibility": "hidden"}
    if about := _about(outcome, disclosure):
        results["output"] = about
    if not outcome.failure:
        results["score"] = outcome.points
        results["tests"] = [
            test
            for number, notebook in enumerate(outcome.notebooks, 1)
            for place, exercise in enumerate(notebook.exercises, 1)
            for test in _tests(f"{number}.{place}", readable(notebook.name), exercise, disclosure)
        ]
    return json.dumps(results, indent=1, ensure_ascii=False) + "\n"


def _about(outcome: SubmissionOutcome, disclosure: Disclosure) -> str:
    if outcome.failure:
        return f"Not graded: {outcome.failure}."
    lines = [note for notebook in outcome.notebooks for note in notebook.notes]
    if outcome.waiting:
        lines.append(f"Up to {outcome.waiting:g} more points are given by a person who reads the written answers.")
    if disclosure is not Disclosure.NOW:
        lines.append("Hidden tests decide over the points; their results are shown later.")
    return "\n".join(lines)


def _tests(number: str, notebook: str, exercise: ExerciseOutcome, disclosure: Disclosure) -> list[dict[str, Any]]:
    name = f"{notebook}: {readable(exercise.cell)}"
    if exercise.points is None:  # a person decides: in Gradescope that is a question of its own, not this test's score
        return [{"number": number, "name": name, "output": exercise.text, "visibility": "visible"}]
    decided_by_hidden_tests = exercise.visible is not None
    test = {
        "number": number,
        "name": name,
        "score": exercise.points,
        "max_score": exercise.max_points,
        "status": "passed" if exercise.status == "passed" else "failed",
        "output": exercise.text,
        "visibility": disclosure.value if decided_by_hidden_tests else "visible",
    }
    if exercise.visible is None or disclosure is Disclosure.NOW:
        return [test]
    seen = {"number": f"{number}.0", "name": f"{name} (visible check)", "visibility": "visible"}
    seen["output"] = exercise.visible.text or "The visible check said nothing; run it yourself."
    if exercise.visible.status != "silent":
        seen["status"] = exercise.visible.status
    return [seen, test]


# A Markdown page for ``$GITHUB_STEP_SUMMARY``: per notebook a table of exercises, points and what to look at.
# GitHub renders GitHub Flavored Markdown there, and takes at most 1 MiB a step
# (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#adding-a-job-summary).

_MAX_CELL = 600
#: What Markdown, or GitHub's own additions to it, could take for structure, a link, a formula or a mention.
_STRUCTURE = re.compile(r"[!#$&*<>@\[\\\]^_`{|}~]|:(?=\S)|(?<=www)\.")
_VISIBLE = {"passed": "passes", "failed": "not right yet", "silent": "said nothing; run it yourself"}


def summary_md(outcome: SubmissionOutcome, disclosure: Disclosure) -> str:
    """The file's text. Unless ``disclosure`` is NOW it tells of visible checks alone, and of no points."""
    lines = [f"## {escape(outcome.assignment)}: {escape(outcome.student)}", ""]
    lines += [_heading(outcome, disclosure), ""]
    for notebook in outcome.notebooks:
        lines += _notebook(notebook, disclosure)
    return "\n".join(lines)


def _heading(outcome: SubmissionOutcome, disclosure: Disclosure) -> str:
    if outcome.failure:
        return f"**Not graded:** {escape(outcome.failure)}. This is no mark."
    if disclosure is not Disclosure.NOW:
        return "Hidden tests decide over the points and are shown later; this is what the visible checks say."
    waiting = f", and up to {points(outcome.waiting)} more when a person has read them" if outcome.waiting else ""
    return f"**{points(outcome.points)} of {points(outcome.max_points)} points**{waiting}."


def _notebook(notebook: NotebookOutcome, disclosure: Disclosure) -> list[str]:
    columns = ["exercise", "points", "result", "what to look at"]
    if disclosure is not Disclosure.NOW:
        columns = ["exercise", "visible check", "what it says"]
    lines = [f"### {escape(readable(notebook.name))}", "", _row(columns), _row(["---"] * len(columns))]
    lines += [_row(_cells(exercise, disclosure)) for exercise in notebook.exercises]
    return [*lines, "", *(f"- {escape(note)}" for note in notebook.notes), *([""] if notebook.notes else [])]


def _cells(exercise: ExerciseOutcome, disclosure: Disclosure) -> list[str]:
    name = escape(readable(exercise.cell))
    if disclosure is Disclosure.NOW:
        earned = f"{points(exercise.points)} of {points(exercise.max_points)}"
        return [name, earned, escape(WORDS[exercise.status]), escape(exercise.text)]
    if exercise.visible is None:
        return [name, escape(WORDS[exercise.status]), ""]
    text = exercise.visible.text if exercise.visible.status == "failed" else ""
    return [name, _VISIBLE[exercise.visible.status], escape(text)]


def _row(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"


def escape(text: str) -> str:
    """The text as one line of Markdown that shows it and does nothing else.

    Character references never make structure (CommonMark 0.31, section 2.5), nor do they end a table's cell.
    """
    bounded = text if len(text) <= _MAX_CELL else text[:_MAX_CELL] + " …"
    lines = [line.strip() for line in bounded.strip().split("\n")]
    return "<br>".join(_STRUCTURE.sub(lambda match: f"&#{ord(match[0])};", line) for line in lines if line)


# JUnit XML: a suite for each notebook, a case for each graded cell. There is no official specification; this keeps to
# what https://github.com/testmoapp/junitxml collects of common use and to the schema that Jenkins checks against
# (``junit-10.xsd`` in the repository jenkinsci/xunit-plugin).
# ``failure``: the submission is not right. ``error``: nobody could judge it. ``skipped``: a person has yet to read it.


def junit_xml(outcome: SubmissionOutcome, disclosure: Disclosure) -> str:
    """The file's text. Unless ``disclosure`` is NOW it tells of visible checks alone, and of no running time."""
    root = Element("testsuites", name=f"{outcome.assignment}: {outcome.student}")
    for notebook in outcome.notebooks:
        root.append(_suite(notebook, disclosure))
    if not outcome.notebooks:
        suite = SubElement(root, "testsuite", name=outcome.assignment)
        case = SubElement(suite, "testcase", name="grading", classname=outcome.assignment)
        _child(case, "error", "infrastructure", outcome.failure)
        _count(suite)
    for kind in ("tests", "failures", "errors"):
        root.set(kind, str(sum(int(suite.get(kind, "0")) for suite in root)))
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(notebook: NotebookOutcome, disclosure: Disclosure) -> Element:
    suite = Element("testsuite", name=notebook.name)
    for exercise in notebook.exercises:
        case = SubElement(suite, "testcase", name=exercise.cell, classname=notebook.name)
        if disclosure is Disclosure.NOW:
            case.set("time", f"{exercise.seconds:.3f}")
        _verdict(case, exercise, disclosure)
    _count(suite)
    return suite


def _verdict(case: Element, exercise: ExerciseOutcome, disclosure: Disclosure) -> None:
    if exercise.status in ("infrastructure", "ungradable"):
        _child(case, "error", exercise.status, exercise.text)
    elif exercise.status == "manual":
        _child(case, "skipped", exercise.status, exercise.text)
    elif disclosure is not Disclosure.NOW and exercise.visible is not None:
        if exercise.visible.status == "failed":
            _child(case, "failure", "visible check", exercise.visible.text)
        elif exercise.visible.status == "silent":
            _child(case, "skipped", "visible check", "The visible check said nothing; run it yourself.")
    elif exercise.status != "passed":
        earned = f"{exercise.points or 0:g} of {exercise.max_points:g} points"
        _child(case, "failure", exercise.status, f"{exercise.text}\n{earned}".strip())


def _child(case: Element, kind: str, type_: str, text: str) -> None:
    SubElement(case, kind, type=type_, message=text.split("\n")[0]).text = text


def _count(suite: Element) -> None:
    for kind, path in (("tests", "."), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        found = suite.findall("testcase") if path == "." else suite.findall(f"testcase/{path}")
        suite.set(kind, str(len(found)))


_MADE_BY = dict(zip(FILES, (results_json, junit_xml, summary_md), strict=True))


def write_outcome(folder: Path, outcome: SubmissionOutcome, disclosure: Disclosure) -> None:
    """Write ``results.json``, ``junit.xml`` and ``summary.md``, each of them whole or not at all.

    Raises GradingError where they cannot be written.
    """
    texts = {name: make(outcome, disclosure) for name, make in _MADE_BY.items()}
    for name, text in texts.items():
        write_file(folder / name, text.encode())
