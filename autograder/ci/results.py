"""The three files about one submission: ``results.json`` for Gradescope, JUnit XML, a summary for GitHub."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from autograder.ci import FILES
from autograder.ci.outcome import Disclosure, ExerciseOutcome, NotebookOutcome, SubmissionOutcome
from autograder.feedback.words import WORDS, points, readable
from autograder.files.atomic import write_file

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
