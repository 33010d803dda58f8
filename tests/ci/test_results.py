"""What ``autograder ci`` writes: results.json by Gradescope's documented format, junit.xml by the schema that Jenkins
checks, summary.md read by an independent Markdown parser. Outcomes are made by hand: every status, and texts that want
to be more than text.
"""

import json
from xml.etree import ElementTree

import jsonschema
import nbformat
import pytest
from markdown_it import MarkdownIt

from autograder.ci.outcome import (
    Disclosure,
    ExerciseOutcome,
    NotebookOutcome,
    SubmissionOutcome,
    VisibleCheck,
    Words,
    failed_outcome,
    junit_xml,
    printable,
    results_json,
    summary_md,
    visible_check,
)
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict
from autograder.pipeline.judge import write_into

HELD = (Disclosure.AFTER_DUE_DATE, Disclosure.AFTER_PUBLISHED)


#: Each of them breaks a table, a page or a file that takes it as it is.
HOSTILE = {
    "a pipe": "a | b | c",
    "lines": "one\n\ntwo\n| three | four |\n\n# five",
    "a script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "a closed cell": "</td></tr></table><h1>100 of 100 points</h1>",
    "Markdown": "**bold** _it_ `code` [link](javascript:alert(1)) ![picture](https://example.org/x.png) ~~no~~",
    "bare links": "see https://example.org/ or www.example.org, @everybody, <https://example.org>",
    "an entity": "&lt;b&gt; &#124; &amp;",
    "a backslash": "\\| \\",
    "a fence": "```\n</pre>\n```",
    "a comment": "<!-- the rest is gone",
    "XML": "]]></failure><testcase name='mine'/>",
    "control characters": "\x1b[31mred\x1b[0m \x00\x08\ufffe\ud800 end",
}


def exercise(cell: str, status: str, points: float | None, text: str = "", visible: str = "passed") -> ExerciseOutcome:
    seen = None if status in ("manual", "infrastructure") else VisibleCheck(visible, f"seen: {text}")
    return ExerciseOutcome(cell, status, points, 5.0, text, 0.25, seen)


def every_status() -> SubmissionOutcome:
    """One submission with everything that can become of a cell, but for a failure of the grader."""
    first = (
        exercise("embeddings", "passed", 5.0),
        exercise("scores", "partial", 2.5, "The second half is missing.\nLook at the loop.", "failed"),
        exercise("weights", "failed", 0.0, "Rows must sum to 1.\nWhich axis?", "passed"),
    )
    second = (
        exercise("loop", "timeout", 0.0, "Your code took too long here.", "silent"),
        exercise("crash", "crashed", 0.0, "Your code ended the Python process here.", "failed"),
        exercise("essay", "manual", None, "A person reads this answer."),
        ExerciseOutcome("reasons", "missing", 0.0, 5.0, "No answer was written.", 0.0, None),
    )
    notes = ("the protected cell 'loop' was missing; it was put back",)
    return SubmissionOutcome(
        "ada", "distilbert", (NotebookOutcome("1_embedding", first, ()), NotebookOutcome("2_block", second, notes))
    )


def broken() -> SubmissionOutcome:
    """One notebook graded, and one that the grader failed on."""
    good = NotebookOutcome("1_embedding", (exercise("embeddings", "passed", 5.0),), ())
    bad = NotebookOutcome("2_block", (exercise("loop", "infrastructure", None, "The grader failed here."),), ())
    return SubmissionOutcome("ada", "distilbert", (good, bad), "the grader failed on 2_block")


def with_text(text: str) -> SubmissionOutcome:
    """One failed exercise whose words are ``text``, in the verdict and in the visible check."""
    only = exercise("embeddings", "failed", 0.0, text, "failed")
    return SubmissionOutcome("ada", "distilbert", (NotebookOutcome("1_embedding", (only,), (text,)),))


NOTHING = failed_outcome("ada", "distilbert", "no notebook was handed in")
each_disclosure = pytest.mark.parametrize("disclosure", Disclosure)
while_held = pytest.mark.parametrize("disclosure", HELD)
each_failure = pytest.mark.parametrize("outcome", [broken(), NOTHING], ids=["partly", "wholly"])
any_text = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


def typed(**properties: object) -> dict:
    """A JSON schema of an object with these keys at most; each with its type, or with a schema of its own."""
    known = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()}
    return {"type": "object", "additionalProperties": False, "properties": known}


_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
_TEST = typed(
    score="number", max_score="number", status={"enum": ["passed", "failed"]}, name="string", number="string",
    output="string", tags="array", visibility=_VISIBILITY, extra_data="object",
)  # fmt: skip
#: "Output format" in https://gradescope-autograders.readthedocs.io/en/latest/specs/, key by key.
DOCUMENTED = typed(
    score="number", execution_time="number", output="string", visibility=_VISIBILITY, stdout_visibility=_VISIBILITY,
    extra_data="object", tests={"type": "array", "items": _TEST},
)  # fmt: skip


def gradescope(outcome: SubmissionOutcome, disclosure: Disclosure = Disclosure.NOW) -> dict:
    results = json.loads(results_json(outcome, disclosure))
    jsonschema.validate(results, DOCUMENTED)
    return results


#: Elements with their attributes (True: required) and children, from junit-10.xsd of jenkinsci/xunit-plugin.
SCHEMA = {
    "testsuites": ({"name": 0, "time": 0, "tests": 0, "failures": 0, "errors": 0}, {"testsuite"}),
    "testsuite": (
        {"name": 1, "tests": 1, "failures": 1, "errors": 1, "skipped": 0, "time": 0, "timestamp": 0},
        {"testcase", "properties", "system-out", "system-err"},
    ),
    "testcase": ({"name": 1, "classname": 0, "time": 0}, {"failure", "error", "skipped", "system-out", "system-err"}),
    **dict.fromkeys(("failure", "error", "skipped"), ({"type": 0, "message": 0}, set())),
}


def junit(outcome: SubmissionOutcome, disclosure: Disclosure = Disclosure.NOW) -> ElementTree.Element:
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


def cases(root: ElementTree.Element) -> dict[str, str]:
    return {case.get("name"): case[0].tag if len(case) else "passed" for case in root.iter("testcase")}


MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def tables(text: str) -> list[list[list[str]]]:
    """Per table its rows, per row the cells' text as it is displayed."""
    found: list[list[list[str]]] = []
    for token, following in zip(tokens := MARKDOWN.parse(text), [*tokens[1:], None], strict=True):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("td_open", "th_open"):
            shown = ("\n" if child.content == "<br>" else child.content for child in following.children or [])
            found[-1][-1].append("".join(shown))
    return found


def structure(text: str) -> list[str]:
    """The kinds of everything in the page but plain text and our own line breaks."""
    kinds = []
    for token in MARKDOWN.parse(text):
        plain = [one.type in ("text", "text_special") or one.content == "<br>" for one in token.children or []]
        kinds += [token.type] * (token.type != "inline")
        kinds += [one.type for one, is_plain in zip(token.children or [], plain, strict=True) if not is_plain]
    return kinds


@each_disclosure
def test_the_score_is_the_sum_of_the_tests_and_of_the_points(disclosure):
    results = gradescope(every_status(), disclosure)
    assert results["score"] == every_status().points == 7.5
    assert sum(test.get("score", 0) for test in results["tests"]) == 7.5


def test_every_graded_cell_is_there_with_its_points_and_words():
    results = gradescope(every_status())
    tests = {test["number"]: test for test in results["tests"]}
    assert list(tests) == ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4"]
    assert (tests["1.1"]["name"], tests["1.1"]["status"]) == ("1 Embedding: Embeddings", "passed")
    assert (tests["1.2"]["score"], tests["1.2"]["max_score"], tests["1.2"]["status"]) == (2.5, 5.0, "failed")
    assert tests["1.3"]["output"] == "Rows must sum to 1.\nWhich axis?"
    assert {test["visibility"] for test in tests.values()} == {"visible"}
    essay = tests["2.3"]  # a written answer has no score until a person gives one
    assert essay["name"].endswith("Essay") and "score" not in essay and "status" not in essay
    assert "Up to 5 more points" in results["output"]

    root = junit(every_status())
    assert cases(root) == {
        "embeddings": "passed", "scores": "failure", "weights": "failure", "loop": "failure", "crash": "failure",
        "essay": "skipped", "reasons": "failure",
    }  # fmt: skip
    failure = root.find(".//testcase[@name='weights']/failure")
    assert failure.get("message") == "Rows must sum to 1."
    assert failure.text.split("\n") == ["Rows must sum to 1.", "Which axis?", "0 of 5 points"]

    page = summary_md(every_status(), Disclosure.NOW)
    first, second = tables(page)
    assert first[0] == ["exercise", "points", "result", "what to look at"]
    assert first[1][:3] == ["Embeddings", "5 of 5", "all right"]
    assert first[2][1:] == ["2.5 of 5", "partly right", "The second half is missing.\nLook at the loop."]
    assert second[3][1:3] == ["– of 5", "waits to be read by a person"]
    assert "**7.5 of 35 points**, and up to 5 more" in page


@while_held
def test_what_hidden_tests_say_is_held_back_and_visible_checks_are_shown(disclosure):
    tests = gradescope(every_status(), disclosure)["tests"]
    for test in tests:
        held = "score" in test and not test["name"].endswith("Reasons")
        assert test["visibility"] == (disclosure.value if held else "visible"), test["name"]
    shown = {test["name"]: test for test in tests if test["visibility"] == "visible"}
    assert shown["1 Embedding: Scores (visible check)"]["status"] == "failed"
    assert shown["1 Embedding: Weights (visible check)"]["status"] == "passed"
    assert "status" not in shown["2 Block: Loop (visible check)"]
    assert "Rows must sum to 1.\nWhich axis?" not in [test["output"] for test in shown.values()]

    root = junit(every_status(), disclosure)
    assert cases(root) == {
        "embeddings": "passed", "scores": "failure", "weights": "passed", "loop": "skipped", "crash": "failure",
        "essay": "skipped", "reasons": "failure",
    }  # fmt: skip
    text = ElementTree.tostring(root, encoding="unicode")
    assert "Which axis?" not in text
    assert "time=" not in text  # a hidden test that hangs would show in the running time
    assert " of 5 points" not in text.replace("No answer was written.\n0 of 5 points", "")

    page = summary_md(every_status(), disclosure)
    first, second = tables(page)
    assert first[0] == ["exercise", "visible check", "what it says"]
    assert [row[1] for row in first[1:]] == ["passes", "not right yet", "passes"]
    assert second[1][1] == "said nothing; run it yourself"
    assert "points**" not in page and " of 5" not in page and "Which axis" not in page


@each_failure
@each_disclosure
def test_a_failure_of_the_grader_is_no_mark_anywhere(outcome, disclosure):
    results, page = gradescope(outcome, disclosure), summary_md(outcome, disclosure)
    assert "score" not in json.dumps(results)
    assert "tests" not in results  # an empty list of tests could be added up to 0
    assert results["output"].startswith("Not graded: ")
    assert "**Not graded:** " in page and "This is no mark." in page and "points**" not in page


def test_a_failure_of_the_grader_is_an_error_for_jenkins_and_no_failure():
    root = junit(broken())
    assert cases(root) == {"embeddings": "passed", "loop": "error"}
    assert (root.get("errors"), root.get("failures")) == ("1", "0")
    root = junit(NOTHING)
    assert cases(root) == {"grading": "error"} and root.find(".//error").text == "no notebook was handed in"


@any_text
def test_any_text_shows_what_it_says_and_does_nothing_else(text):
    told = text.encode("utf-8", "ignore").decode()
    assert [test["output"] for test in gradescope(with_text(told))["tests"]] == [told]
    told = printable(text)
    root = junit(with_text(told))
    assert cases(root) == {"embeddings": "failure"}
    assert root.find(".//failure").text == f"{told}\n0 of 5 points".strip()
    for disclosure in (Disclosure.NOW, Disclosure.AFTER_DUE_DATE):
        page = summary_md(with_text(told), disclosure)
        assert structure(page) == structure(summary_md(with_text("harmless"), disclosure))
        ((_, row),) = tables(page)
        assert row[-1].removeprefix("seen: ").split("\n") == list(filter(None, map(str.strip, told.split("\n"))))
        assert "<script" not in page and "javascript:a" not in page and "://" not in page


def test_a_long_text_is_cut_so_that_the_page_fits_githubs_limit():
    assert len(summary_md(with_text("x|" * 100_000), Disclosure.NOW).encode()) < 20_000


TICK = "✓ weights: every row sums to 1\n"


WRONG = nbformat.v4.new_output(
    "error", ename="CheckFailed", evalue="weights: rows must sum to 1.\nYours do not.", traceback=["a long one"]
)


NAME = nbformat.v4.new_output("error", ename="NameError", evalue="name 'Block' is not defined", traceback=["x"])


def printed(text: str):
    return nbformat.v4.new_output("stream", name="stdout", text=text)


def seen(outputs, status="failed"):
    """The visible check's outcome after the judge has written its verdict into the cell."""
    marks = {"grade": True, "solution": False, "locked": True, "grade_id": "weights", "points": 5}
    cell = nbformat.v4.new_code_cell("check.weights(Block)", outputs=outputs, metadata={"nbgrader": marks})
    points = {"passed": 5.0, "partial": 2.0}.get(status, 0.0)
    checks = () if status == "passed" else (Check("M1", False, "The hidden reason.", "The hidden hint."),)
    verdict = CellVerdict("weights", status, points, 5.0, checks)
    notebook = NotebookVerdict("ada", "distilbert", "2_block", (verdict,))
    return visible_check(write_into(nbformat.v4.new_notebook(cells=[cell]), notebook), verdict)


@pytest.mark.parametrize("status", ["passed", "partial", "failed", "crashed", "timeout"])
@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ([printed(TICK)], ("passed", TICK.strip())),
        ([printed("my own print\n" + TICK)], ("passed", TICK.strip())),
        ([WRONG], ("failed", "weights: rows must sum to 1.\nYours do not.")),
        ([printed(TICK), WRONG], ("failed", "weights: rows must sum to 1.\nYours do not.")),
        ([NAME], ("failed", "NameError: name 'Block' is not defined")),
        ([printed("a print without a check\n")], ("silent", "")),
        ([], ("silent", "")),
    ],
    ids=["ticked", "printed and ticked", "wrong", "the second is wrong", "an error", "a print", "nothing"],
)
def test_the_visible_outcome_does_not_depend_on_the_verdict(outputs, expected, status):
    found = seen(outputs, status)
    assert (found.status, found.text) == expected


def test_a_notebook_that_was_never_run_says_why():
    verdict = CellVerdict(
        "weights", "missing", 0.0, 5.0, (Check("2_block", False, "2_block.ipynb was not handed in."),)
    )
    assert visible_check(None, verdict).text == "2_block.ipynb was not handed in."


def test_no_text_quotes_a_line_of_a_hidden_test():
    hidden = "block = AttentionBlock(case.config)"
    source = f"check.weights(Block)\n### BEGIN HIDDEN TESTS\n{hidden}\nx = 1\n### END HIDDEN TESTS"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    cleaned = Words([notebook]).clean(f"ValueError: {hidden} and check.weights(Block), x = 1")
    assert cleaned == "ValueError: [a line of the grader's own] and check.weights(Block), x = 1"
