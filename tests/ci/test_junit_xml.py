"""junit.xml parses, keeps to the schema that Jenkins checks, and tells failures from errors."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from autograder.ci.outcome import Disclosure, failed_outcome, printable
from autograder.ci.results import junit_xml
from tests.ci.outcomes import HELD, HOSTILE, broken, every_status, with_text

#: Elements with their attributes (True: required) and children, from junit-10.xsd of jenkinsci/xunit-plugin.
SCHEMA = {
    "testsuites": ({"name": 0, "time": 0, "tests": 0, "failures": 0, "errors": 0}, {"testsuite"}),
    "testsuite": (
        {"name": 1, "tests": 1, "failures": 1, "errors": 1, "skipped": 0, "time": 0, "timestamp": 0},
        {"testcase", "properties", "system-out", "system-err"},
    ),
    "testcase": ({"name": 1, "classname": 0, "time": 0}, {"failure", "error", "skipped", "system-out", "system-err"}),
    "failure": ({"type": 0, "message": 0}, set()),
    "error": ({"type": 0, "message": 0}, set()),
    "skipped": ({"type": 0, "message": 0}, set()),
}


def read(outcome, disclosure=Disclosure.NOW) -> ElementTree.Element:
    root = ElementTree.fromstring(junit_xml(outcome, disclosure).encode())
    assert root.tag == "testsuites"
    for element in root.iter():
        attributes, children = SCHEMA[element.tag]
        assert set(element.keys()) <= set(attributes)
        assert {name for name, required in attributes.items() if required} <= set(element.keys())
        assert {child.tag for child in element} <= children
    for suite in root:
        for kind, path in (("tests", "testcase"), ("failures", ".//failure"), ("errors", ".//error")):
            assert suite.get(kind) == str(len(suite.findall(path)))
    return root


def verdicts(root: ElementTree.Element) -> dict[str, str]:
    return {case.get("name"): case[0].tag if len(case) else "passed" for case in root.iter("testcase")}


def test_a_case_for_each_graded_cell():
    assert verdicts(read(every_status())) == {
        "embeddings": "passed", "scores": "failure", "weights": "failure", "loop": "failure", "crash": "failure",
        "essay": "skipped", "reasons": "failure",
    }  # fmt: skip


def test_a_failure_says_why_and_what_it_cost():
    failure = read(every_status()).find(".//testcase[@name='weights']/failure")
    assert failure.get("message") == "Rows must sum to 1."
    assert failure.text.split("\n") == ["Rows must sum to 1.", "Which axis?", "0 of 5 points"]


def test_a_failure_of_the_grader_is_an_error_and_no_failure():
    root = read(broken())
    assert verdicts(root) == {"embeddings": "passed", "loop": "error"}
    assert (root.get("errors"), root.get("failures")) == ("1", "0")


def test_where_nothing_could_be_graded_there_is_one_error():
    root = read(failed_outcome("ada", "distilbert", "no notebook was handed in"))
    assert verdicts(root) == {"grading": "error"}
    assert root.find(".//error").text == "no notebook was handed in"


@pytest.mark.parametrize("disclosure", HELD)
def test_while_results_are_held_back_only_visible_checks_decide(disclosure):
    root = read(every_status(), disclosure)
    assert verdicts(root) == {
        "embeddings": "passed", "scores": "failure", "weights": "passed", "loop": "skipped", "crash": "failure",
        "essay": "skipped", "reasons": "failure",
    }  # fmt: skip
    text = ElementTree.tostring(root, encoding="unicode")
    assert "Which axis?" not in text
    assert "time=" not in text  # a hidden test that hangs would show in the running time
    assert " of 5 points" not in text.replace("No answer was written.\n0 of 5 points", "")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_any_text_stays_inside_its_case(text):
    root = read(with_text(printable(text)))
    assert verdicts(root) == {"embeddings": "failure"}
    assert root.find(".//failure").text == f"{printable(text)}\n0 of 5 points".strip()
