"""JUnit XML: a suite for each notebook, a case for each graded cell.

There is no official specification; this keeps to what https://github.com/testmoapp/junitxml collects of common use and
to the schema that Jenkins checks against (``junit-10.xsd`` in the repository jenkinsci/xunit-plugin).
``failure``: the submission is not right. ``error``: nobody could judge it. ``skipped``: a person has yet to read it.
"""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from autograder.ci.outcome import Disclosure, ExerciseOutcome, NotebookOutcome, SubmissionOutcome


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
