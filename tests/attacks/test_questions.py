"""Attacks on the questions on one's own code: on the page, on the key, on another's marks, and on being watched."""

from __future__ import annotations

import pytest

from autograder.exercise import own_code
from tests.questions.block import CODE, answers_to, graded, ordinary, other, sources

pytestmark = pytest.mark.xdist_group("attacks")


def wrong(code: str) -> str:
    """All wrong answers, with a token that the code accepts."""
    return answers_to(code, shape="(1, 1)", without="line 1: x", becomes="line 1", creates="line 1")


#: What tells facts in the grader's place, once it runs where questions are asked.
FORGE = """
import os, json
from pathlib import Path
import numpy as np
from safetensors.numpy import save

def forge():
    from course.check._rules import asking
    asking.OwnCodeQuestions.facts_of = lambda self, *given, **named: asking.Facts("attention_block", "AttentionBlock")
    asking.Notes.__call__ = lambda self, line, name, value: value
    folder = Path(os.environ["AUTOGRADER_ANSWERS"], "questions")
    folder.mkdir(parents=True, exist_ok=True)
    data = {"asked": "attention_block", "name": "AttentionBlock", "rows": [[], []], "lost": {}, "watching": ""}
    (folder / "0.safetensors").write_bytes(
        save({"text:facts": np.frombuffer(json.dumps(data).encode(), dtype=np.uint8)}))
"""

ANSWERS = {
    "answers that are code": "own_code = __import__('os').environ and {}",
    "the key asked of the library, in the answers' cell": (
        "own_code = {}\n" + FORGE + "\nforge()\nimport builtins\nbuiltins.own_code = {'token': '0badcafe-00000000'}"
    ),
    "another dictionary bound after the literal": "own_code = {}\nown_code |= {'shape': '(2, 3)'}",
    "a token that is no token": "own_code = {'token': '../../x', 'shape': '(2, 3)'}",
    "a huge token": f"own_code = {{'token': {'0' * 100_000!r}}}",
    "nested a thousand times": "own_code = " + "[" * 1000 + "]" * 1000,
    "a null byte": "own_code = {'token': '\0'}",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_q37_no_text_of_answers_earns_a_point(name: str) -> None:
    found = graded({"own_code_answer": ANSWERS[name]})
    assert found.status == "failed" and found.points == 0


def test_q37_every_choice_at_once_is_no_answer() -> None:
    every = " ".join(f"line {n}" for n in range(80))
    found = graded({"own_code_answer": answers_to(ordinary(), shape=every, without=every, becomes=every)})
    assert found.points == 0


def test_q37_markup_in_an_answer_is_text_in_the_feedback() -> None:
    import nbformat

    from autograder.feedback.page import render_notebook
    from autograder.model.verdict import NotebookVerdict, presentable
    from tests.grading import assignment

    script = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    found = graded({"own_code_answer": answers_to(ordinary(), shape=script)})
    assert any("<script>" in check.message for check in found.checks)  # so it is for the page to quote it
    verdict = presentable(NotebookVerdict("s", "distilbert", "2_attention_block", (found,)))
    book = nbformat.from_dict(assignment("distilbert").release["2_attention_block"])
    book.cells = [cell for cell in book.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "own_code"]
    page = render_notebook(book, verdict, None, "course")
    assert "<script>alert(1)" not in page and "<img src=x" not in page and "&lt;script&gt;" in page


def test_q37_an_earlier_cell_that_changes_the_library_changes_nothing() -> None:
    assert graded({"own_code_answer": wrong(ordinary())}, extra=FORGE + "\nforge()").points == 0
    assert graded({"own_code_answer": answers_to(ordinary())}, extra=FORGE + "\nforge()").points == 2


def test_q37_anothers_answers_to_the_same_token_earn_nothing() -> None:
    assert graded({CODE: other(), "own_code_answer": answers_to(ordinary())}).points == 0


WATCHED = {
    "settrace": "import sys\nsys.settrace(None)",
    "a frame": "import sys\nself.config = sys._getframe(1).f_locals or self.config",
    "inspect": "import inspect\ninspect.stack()",
    "inspect under another name": "from inspect import stack as s\ns()",
    "the name that notes values": "__note__ = lambda line, name, value: value",
    "the library's own modules": "from course.check._rules import asking\nasking.Notes = None",
    "the check": "check.questions = None",
    "a name made of a text": "getattr(torch, 'sys').modules",
    "the garbage collector": "import gc\ngc.get_objects()",
    "globals": "globals()['torch']",
    "builtins": "__builtins__",
    "a subclass search": "().__class__.__base__.__subclasses__()",
    "exec": "exec('1')",
    "a thread that writes facts later": "import threading\nthreading.Timer(1, print)",
    "bytes of its own in a file": "np.zeros(3).tofile('../answers/questions/0.safetensors')",
}


@pytest.mark.parametrize("name", WATCHED)
def test_q37_code_that_could_see_that_it_is_watched_is_recognised(name: str) -> None:
    lines = "\n        ".join(WATCHED[name].split("\n"))
    code = f"class Block:\n    def forward(self, x):\n        {lines}\n        return x\n"
    found = own_code.read(code, "Block")
    assert found is not None and own_code.watching([found.node])


def test_q37_watching_code_waits_for_a_person_and_names_the_word() -> None:
    code = ordinary().replace('"""One block', 'import sys; sys.settrace(None)\n    """One block', 1)
    found = graded({CODE: code, "own_code_answer": answers_to(ordinary())})
    assert (found.status, found.points) == ("manual", None)
    assert "'sys'" in found.checks[0].message or "'settrace'" in found.checks[0].message


def test_q37_code_that_never_ends_is_stopped_before_it_is_asked_about() -> None:
    from course.check import distilbert as check
    from course.check.base import CheckFailed

    code = ordinary().replace("return ffn_output, weights", "while True: pass")
    with pytest.raises(CheckFailed, match="must come to an end"):
        check.questions._limited_facts(sources(code), {"attention_block": "AttentionBlock"})
