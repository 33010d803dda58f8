"""Attacks on points: numbers that nobody computed, copies that overlay a locked cell, answers to questions on code."""

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import nbformat
import pytest
from nbformat import from_dict

from autograder.assignment.submission import Submission
from autograder.exercise import own_code
from autograder.feedback.page import render_notebook
from autograder.model import cells
from autograder.model.cells import checksum_of
from autograder.model.course import Course
from autograder.model.verdict import NotebookVerdict, presentable
from autograder.pipeline.execute import Limits
from autograder.pipeline.grade import grade_submission as grade
from course.check import distilbert as check
from course.check.base import CheckFailed
from tests import damaged_lab as lab
from tests.damaged_lab import PNG, Notebook, answered, at, beside, code, words
from tests.exercises.answers import text_of
from tests.grading import alone_with, assignment, exercises_alone, kernels
from tests.questions.block import CODE, answers_to, ordinary, other, sources
from tests.questions.block import graded as asked

HEADS = text_of("numpy_attention/multihead_attention", "pure einsum")
#: Never stops writing one and the same answer file, for every case of these exercises.
THREAD = """
import os, threading, time
from pathlib import Path
import numpy as np
from safetensors.numpy import save


def always(answers, slugs, cases=6):
    data = save(answers)
    def write():
        while True:
            for slug in slugs:
                for case in range(cases):
                    place = Path(os.environ["AUTOGRADER_ANSWERS"], slug)
                    try:
                        place.mkdir(parents=True, exist_ok=True)
                        (place / f"{case}.safetensors").write_bytes(data)
                    except OSError:
                        pass
            time.sleep(0.002)
    threading.Thread(target=write, daemon=True).start()

"""
BLOCKS = [f"distilbert/attention_{name}" for name in ("init", "scores", "weights", "context")]
QUESTIONS = ("classifier_on_top", "text_preparation", "special_tokens", "pretraining")
TEXTS = [f"numpy_attention/{name}" for name in QUESTIONS]


def block(weights: str) -> str:
    """An attention block that was never written, but for what it takes to hand over these weights."""
    return f"""
class AttentionBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, hidden_states):
        batch, tokens, dim = hidden_states.shape
        heads = self.config.n_heads
        weights = {weights}
        return torch.zeros_like(hidden_states), weights
"""


@dataclass(frozen=True)
class PointsAttack:
    """``answers``: solution cell -> its text; a cell that is left out stays as it was released.

    earns: graded cell -> points that the submission deserves; every other cell of the notebook deserves none.
    """

    id: str
    tries: str
    assignment: str
    notebook: str
    answers: Mapping[str, str]
    earns: Mapping[str, float] = field(default_factory=dict)


def on_block(id: str, tries: str, weights: str) -> PointsAttack:
    return PointsAttack(id, tries, "distilbert", "2_attention_block", {"attention_block_answer": block(weights)})


ATTACKS = [
    on_block("P01", "weights that are 2 for the first key, so that logarithms show one number a row",
             "2 * torch.eye(tokens)[0].expand(batch, heads, tokens, tokens)"),
    on_block("P02", "a constant of another shape whose rows sum to 1", "torch.tensor([[0.3, 0.7]])"),
    on_block("P03", "constant weights of the right shape whose rows sum to 1",
             "torch.arange(1.0, tokens + 1).log().softmax(0).expand(batch, heads, tokens, tokens)"),
    on_block("P04", "a softmax of random numbers, the same in every call",
             "torch.rand(batch, heads, tokens, tokens, generator=torch.Generator().manual_seed(0)).softmax(-1)"),
    on_block("P05", "weights of shape (5,), of which no axis is the heads'", "torch.full((5,), 0.2)"),
    PointsAttack(
        "P06", "the solution untouched; a thread that writes the same answer files all the time", "distilbert",
        "2_attention_block", {"attention_block_answer": THREAD + f"""
always({{"weights": np.array([[0.3, 0.7]], np.float32)}}, {BLOCKS})
class AttentionBlock(nn.Module):
    def __init__(self, config):
        raise NotImplementedError()
"""}),
    PointsAttack(
        "P07", "the solution untouched; every right letter written by a thread", "numpy_attention", "2_finetuning",
        {"classifier_on_top_answer": THREAD + f"""
said = {{"text:choice": b'"c"', "text:name": b'"tokenizer"', "text:padding": b'"d"', "text:cls": b'"a"',
        "text:sep": b'"b"', "text:true_statements": b'["a", "c", "e"]'}}
always({{name: np.frombuffer(text, np.uint8) for name, text in said.items()}}, {TEXTS})
"""}),
    PointsAttack(
        "P08", "a text answer of brackets", "numpy_attention", "2_finetuning",
        {"classifier_on_top_answer": "from autograder import probe\nprobe._holds_text = lambda value: True\n"
         "import json\njson.dumps = lambda value: '[' * 100_000\non_top = 'c'"}),
    PointsAttack(
        "P09", "positions that were neither made nor added: x comes back", "transformer_tutorial",
        "2_transformer_block", {"positional_encoding_answer": """
class PositionalEncoding(nn.Module):
    def __init__(self, emb_size, max_len=512, dropout=0.0):
        super().__init__()
        self.register_buffer("pe", torch.zeros(max_len, emb_size))

    def forward(self, x):
        return x
"""}),
    PointsAttack(
        "P10", "equal weights for all keys, which sum to 1 over keys and queries alike", "transformer_tutorial",
        "1_queries_keys_values", {"dot_product_attention_answer": """
class DotProductAttention(nn.Module):
    def __init__(self, dropout, **others):
        super().__init__()

    def forward(self, queries, keys, values, b, h, t, k, mask=None):
        return values.mean(1, keepdim=True).expand(b, t, h, k).reshape(b, t, h * k)
"""}),
    PointsAttack(
        "P11", "a block whose first half gives zeros, so that its second half is a constant", "transformer_tutorial",
        "2_transformer_block", {"transformer_block_answer": """
class TransformerBlock(nn.Module):
    def __init__(self, k, heads):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(k), nn.LayerNorm(k)

    def forward(self, x, mask=None):
        self.mlp(torch.zeros_like(x))
        return self.norm_2.bias.expand_as(x)
"""}),
    PointsAttack(
        "P12", "a softmax that is wrong on purpose, so that a missing one was charged before", "numpy_attention",
        "1_attention", {
            "softmax_answer": "def softmax(scores):\n    return scores",
            "self_attention_answer": """
def apply_self_attention(x, W_q, W_k, W_v, W_o):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    return q @ k.T / np.sqrt(q.shape[1]) @ v @ W_o
"""}, earns={"self_attention": 3.0}),
    PointsAttack(
        "P13", "a bonus for source that no parser survives", "numpy_attention", "1_attention",
        {"softmax_answer": "x = " + "-" * 150_000 + "1", "multihead_attention_answer": HEADS},
        earns={"multihead_attention": 5.0}),
]  # fmt: skip
pytestmark = pytest.mark.xdist_group("attacks")


def graded(attack: PointsAttack) -> NotebookVerdict:
    """The verdict on the released notebook with the attack's cells in it, exercises only."""
    source, release = exercises_alone(attack.assignment, attack.notebook, attack.answers.values())
    student = nbformat.from_dict(release)
    for cell in student.cells:
        if cells.grade_id(cell) in attack.answers:
            cell.source = attack.answers[cells.grade_id(cell)]
    alone = alone_with(assignment(attack.assignment), attack.notebook, source, release)
    sent = Submission("student", {attack.notebook: nbformat.writes(student).encode()}, {}, ())
    return grade(sent, alone, kernels(), Limits(cell_seconds=20)).verdict.notebooks[0]


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.id for attack in ATTACKS])
def test_an_attack_on_points_earns_what_it_knows_and_costs_nobody_the_grade(attack: PointsAttack) -> None:
    verdict = graded(attack)
    earned = {cell.cell: cell.points for cell in verdict.cells if cell.status != "manual" and cell.points}
    assert earned == attack.earns
    assert verdict.status != "infrastructure"


WRONG = "def square(x):\n    return 0\n"
TEST = "test_square"


def flawed(course: Course) -> Notebook:
    notebook = answered(course)
    at(notebook, "square")["source"] = WRONG
    return notebook


def attacks(course: Course) -> Iterator[tuple[str, Notebook]]:
    """Each stands beside a wrong ``square``, which deserves 0 of 2; everything else is right."""
    yield "a copy of the test that passes, above it", beside(flawed(course), TEST, "assert True")
    yield "a copy of the test that passes, below it", beside(flawed(course), TEST, "2", after=True)
    yield (
        "a copy of the test as text",
        beside(flawed(course), TEST, "def square(x):\n    return x * x", "markdown"),
    )
    yield "the test replaced by a number", put(flawed(course), TEST, "2.0")
    yield (
        "the test without assertions",
        put(flawed(course), TEST, "import builtins\nbuiltins.AssertionError = None"),
    )
    yield "names that the test uses, bound in it", put(flawed(course), TEST, "class Ok:\n    pass\nabs = Ok()")
    bare = flawed(course)
    at(bare, TEST)["metadata"] = {}
    bare["cells"].append(code("assert True") | {"metadata": at(answered(course), TEST)["metadata"]})
    yield "the test's mark on another cell", bare
    swapped = flawed(course)
    first, second = at(swapped, TEST)["metadata"]["nbgrader"], at(swapped, "test_cube")["metadata"]["nbgrader"]
    first["grade_id"], second["grade_id"] = second["grade_id"], first["grade_id"]
    yield "the marks of two tests swapped", swapped
    forged = put(flawed(course), TEST, "assert True")
    cell = at(forged, TEST)
    cell["metadata"]["nbgrader"]["checksum"] = checksum_of(from_dict(cell))
    yield "a test with a forged checksum", forged
    text = flawed(course)
    text["cells"].append(words("def square(x):\n    return x * x"))
    yield "the right answer as text beside a wrong one", text
    many = flawed(course)
    many["cells"] += [lab.retyped(at(many, TEST), "code") | {"source": f"n = {number}"} for number in range(2000)]
    yield "two thousand copies of the test", many
    mock = flawed(course)
    at(mock, "square")["source"] = "from google.colab import square"
    yield "a name from an inert module", mock


def put(notebook: Notebook, name: str, text: str) -> Notebook:
    at(notebook, name)["source"] = text
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Everybody handed in: an attack each, and ``painter``, who is right and has a picture on every cell."""
    course = lab.make_lab(tmp_path_factory.mktemp("marks") / "course")
    for number, (_, notebook) in enumerate(attacks(course)):
        lab.hand_in(course, f"m{number}", notebook)
    painted = answered(course)
    for cell in painted["cells"]:
        cell["attachments"] = {"a.png": {"image/png": PNG}}
    lab.hand_in(course, "painter", painted)
    return course


@pytest.fixture(scope="module")
def rows(course: Course) -> dict[str, dict[str, Any]]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert lab.run(course, "grade", lab.LAB, "--json") == 0
    return {row["student"]: row for row in json.loads(out.getvalue())["students"]}


def test_no_mark_or_copy_earns_a_point_and_none_blocks_a_verdict(course: Course, rows: dict[str, Any]) -> None:
    got = {name: rows[f"m{number}"] for number, (name, _) in enumerate(attacks(course))}
    assert {name: (row["points_so_far"], row["waiting"]) for name, row in got.items()} == {
        name: (3, [TEST, "explain"] if "inert" in name else ["explain"]) for name in got
    }


def test_a_picture_on_a_locked_cell_is_not_kept(course: Course, rows: dict[str, Any]) -> None:
    assert rows["painter"]["points_so_far"] == 5
    kept = json.loads((course.autograded("painter", lab.LAB) / f"{lab.NAME}.ipynb").read_text())
    assert not any(cell.get("attachments") for cell in kept["cells"])  # no text shows one, and none is a locked cell's


def all_wrong(code: str) -> str:
    """All wrong answers, to the right student's questions."""
    return answers_to(code, shape="(1, 1)", without="line 1: x", becomes="line 1", passes="0")


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
    data = {"asked": "attention_block", "name": "AttentionBlock", "rows": [[], []], "lost": [], "watching": ""}
    (folder / "0.safetensors").write_bytes(
        save({"text:facts": np.frombuffer(json.dumps(data).encode(), dtype=np.uint8)}))
"""
QUESTION_ANSWERS = {
    "answers that are code": "own_code = __import__('os').environ and {}",
    "the key asked of the library, in the answers' cell": (
        "own_code = {}\n" + FORGE + "\nforge()\nimport builtins\nbuiltins.own_code = {'student': 'student', 'asked': 1}"
    ),
    "another dictionary bound after the literal": "own_code = {}\nown_code |= {'shape': '(2, 3)'}",
    "an id that is a path": "own_code = {'student': '../../x', 'asked': '', 'shape': '(2, 3)'}",
    "a huge id": f"own_code = {{'student': {'0' * 100_000!r}, 'asked': ''}}",
    "half a character": r"own_code = {'student': '\ud800', 'asked': ''}",
    "nested a thousand times": "own_code = " + "[" * 1000 + "]" * 1000,
    "a null byte": "own_code = {'student': '\0', 'asked': ''}",
}


@pytest.mark.parametrize("name", QUESTION_ANSWERS)
def test_no_text_of_answers_earns_a_point(name: str) -> None:
    found = asked({"own_code_answer": QUESTION_ANSWERS[name]})
    assert (found.status, found.points) == (("manual", None) if name == "an id that is a path" else ("failed", 0))


def test_every_choice_at_once_is_no_answer() -> None:
    every = " ".join(f"line {n}" for n in range(80))
    found = asked({"own_code_answer": answers_to(ordinary(), shape=every, without=every, becomes=every)})
    assert found.points == 0


def test_markup_in_an_answer_is_text_in_the_feedback() -> None:
    script = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    found = asked({"own_code_answer": answers_to(ordinary(), shape=script)})
    assert any("<script>" in check.message for check in found.checks)  # so it is for the page to quote it
    verdict = presentable(NotebookVerdict("s", "distilbert", "2_attention_block", (found,)))
    book = nbformat.from_dict(assignment("distilbert").release["2_attention_block"])
    book.cells = [cell for cell in book.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "own_code"]
    page = render_notebook(book, verdict, None, "course")
    assert "<script>alert(1)" not in page and "<img src=x" not in page and "&lt;script&gt;" in page


def test_an_earlier_cell_that_changes_the_library_changes_nothing() -> None:
    assert asked({"own_code_answer": all_wrong(ordinary())}, extra=FORGE + "\nforge()").points == 0
    assert asked({"own_code_answer": answers_to(ordinary())}, extra=FORGE + "\nforge()").points == 2


def test_anothers_choices_on_other_code_earn_nothing() -> None:
    assert asked({CODE: other(), "own_code_answer": answers_to(ordinary())}).points == 0


WATCHED = {
    "settrace": "import sys\nsys.settrace(None)",
    "a frame": "import sys\nself.config = sys._getframe(1).f_locals or self.config",
    "inspect": "import inspect\ninspect.stack()",
    "inspect under another name": "from inspect import stack as s\ns()",
    "the name that notes values": "__note__ = lambda line, name, value: value",
    "the library's own modules": "from course.check._rules import asking\nasking.Notes = None",
    "the check": "check.questions = None",
    "a name that is a text": "getattr(torch, 'sys').modules",
    "a name made of a text": "getattr(torch, 'sys '.strip())",
    "a getter of such a name": "import operator\noperator.attrgetter('sys '.strip())(torch)",
    "getattr as a value": "functools.reduce(getattr, ['sys', 'modules'], torch)",
    "a pattern": "match torch:\n            case object(sys=found): pass",
    "an underscore before it": "import collections\ncollections._sys",
    "a module of one's own": "import mine\nmine.look()",
    "an annotation that is code": "import typing\ntyping.get_type_hints(x)",
    "the garbage collector": "import gc\ngc.get_objects()",
    "globals": "globals()['torch']",
    "builtins": "__builtins__",
    "a subclass search": "().__class__.__base__.__subclasses__()",
    "exec": "exec('1')",
    "a thread that writes facts later": "import threading\nthreading.Timer(1, print)",
    "bytes of its own in a file": "np.zeros(3).tofile('../answers/questions/0.safetensors')",
}


@pytest.mark.parametrize("name", WATCHED)
def test_code_that_could_see_that_it_is_watched_is_recognised(name: str) -> None:
    lines = "\n        ".join(WATCHED[name].split("\n"))
    code = f"class Block:\n    def forward(self, x):\n        {lines}\n        return x\n"
    found = own_code.read(code, "Block")
    assert found is not None and own_code.watching([found.node])


def test_watching_code_waits_for_a_person_and_names_the_word() -> None:
    code = ordinary().replace('"""One block', 'import sys; sys.settrace(None)\n    """One block', 1)
    found = asked({CODE: code, "own_code_answer": answers_to(ordinary())})
    assert (found.status, found.points) == ("manual", None)
    assert "'sys'" in found.checks[0].message or "'settrace'" in found.checks[0].message


def test_code_that_never_ends_is_stopped_before_it_is_asked_about() -> None:
    code = ordinary().replace("return ffn_output, weights", "while True: pass")
    with pytest.raises(CheckFailed, match="must come to an end"):
        check.questions._limited_facts(sources(code), {"attention_block": "AttentionBlock"})
