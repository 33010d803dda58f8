"""A copied answer is found among 200; what everybody wrote, and what was handed out, makes nobody suspicious."""

from __future__ import annotations

import ast
import time

import pytest

from autograder.assignment.assignment import Assignment
from autograder.model.cells import is_solution
from autograder.model.course import Course
from autograder.model.course_file import read_course_file
from autograder.release.as_submitted import without_markers
from autograder.report.code import Answer, tokens
from autograder.report.page import ready_made
from autograder.report.similarity import normalised, same_answers, similar_pairs
from tests.grading import ROOT
from tests.report import simulated

pytestmark = pytest.mark.slow

PATTERNS = read_course_file(ROOT).ready_made


def answer(source: str, student: str = "a", stub: str = "") -> Answer:
    return Answer(student, "place", source, stub)


def test_the_planted_pair_is_found_and_no_honest_one(answers: list[Answer]) -> None:
    started = time.process_time()
    pairs = similar_pairs(answers)
    assert time.process_time() - started < 10
    assert [(pair.first, pair.second) for pair in pairs] == [simulated.COPIED]
    assert pairs[0].in_common > 0.9 and pairs[0].similarity > 0.9


def test_other_names_comments_docstrings_and_spaces_change_nothing() -> None:
    plain = "def f(self, x):\n    scores = x @ x.T\n    self.kept = scores\n    return scores.softmax(-1)\n"
    other = (
        "# mine\ndef mine(self, hidden):\n    '''A docstring.'''\n\n    raw = hidden   @ hidden.T   # raw\n"
        "    self.store = raw\n    return raw.softmax( -1 )\n"
    )
    assert normalised(answer(plain)) == normalised(answer(other))


def test_another_function_of_the_library_is_another_answer() -> None:
    assert normalised(answer("y = x.softmax(-1)")) != normalised(answer("y = x.sigmoid(-1)"))


def test_what_was_handed_out_is_not_compared() -> None:
    stub = simulated.STUB
    assert normalised(answer(stub, stub=stub)) == []
    commented = stub.replace("super().__init__()", "super().__init__()  # calls nn.Module")
    assert normalised(answer(commented, stub=stub)) == []


def test_untouched_notebooks_are_not_similar_to_each_other() -> None:
    class_ = [answer(simulated.STUB, f"s{number}", simulated.STUB) for number in range(20)]
    assert similar_pairs(class_) == [] and same_answers(class_) == []


def test_a_short_answer_is_no_evidence() -> None:
    assert similar_pairs([answer("y = x.softmax(dim=-1)", name) for name in "ab"]) == []


def test_the_answer_that_many_gave_is_listed_but_makes_no_pair() -> None:
    usual = simulated.own_answer(1)
    class_ = [answer(usual, f"s{number}", simulated.STUB) for number in range(30)]
    class_ += [answer(simulated.own_answer(number), f"t{number}", simulated.STUB) for number in range(2, 30)]
    assert similar_pairs(class_) == []
    assert same_answers(class_)[0][:2] == ("place", 30)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_a_pair_is_found_in_a_small_class_too(size: int) -> None:
    class_ = [answer(simulated.own_answer(number), f"s{number}", simulated.STUB) for number in range(size)]
    class_[-1] = answer(simulated.disguised(simulated.own_answer(0)), "copy", simulated.STUB)
    assert {(pair.first, pair.second) for pair in similar_pairs(class_)} == {("s0", "copy")}


def test_half_an_answer_copied_ranks_below_a_whole_one() -> None:
    whole, half = simulated.own_answer(3), simulated.own_answer(4)
    class_ = [answer(simulated.own_answer(number), f"s{number}", simulated.STUB) for number in range(40)]
    lines = half.split("\n")
    mixed = "\n".join(lines[: len(lines) // 2] + [f"        z{n} = [{n}, x + {n}]" for n in range(12)])
    pairs = similar_pairs([*class_, answer(whole, "twin", simulated.STUB), answer(mixed, "half", simulated.STUB)])
    assert (pairs[0].first, pairs[0].second) == ("s3", "twin")


@pytest.mark.parametrize(
    "broken", ["def f(:\n  (", "x = '''", "if x:\npass", "\x00", "%matplotlib inline\n!ls", "\tx\n y", ""]
)
def test_code_that_cannot_be_read_is_no_crash(broken: str) -> None:
    tokens(broken)
    assert similar_pairs([answer(broken, "a"), answer(broken, "b")]) == []


def test_ready_made_parts_are_named_but_not_in_comments_strings_or_stubs() -> None:
    found = ready_made(
        [
            answer("import torch.nn as N\nblock = N.MultiheadAttention(8, 2)", "used"),
            answer("# nn.MultiheadAttention\nx = 'nn.MultiheadAttention'", "spoke"),
            answer("from transformers import AutoModel", "hub"),
            answer("from transformers import AutoModel\nx = 1", "stub", "from transformers import AutoModel"),
            answer("x = F.scaled_dot_product_attention(q, k, v)", "sdpa"),
            answer("from course import Config, parts\nE = parts.Ready(1)", "parts"),
            answer("my_transformers = [transformer for transformer in x]", "name"),
        ],
        PATTERNS,
    )
    assert [(part, students) for part, _, students in found] == [
        ("nn.MultiheadAttention", ("used",)),
        ("scaled_dot_product_attention", ("sdpa",)),
        ("transformers", ("hub",)),
        ("course.parts", ("parts",)),
    ]


#: Every function and class of the library that stands for an answer: module, name.
READY = [
    (path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."), node.name)
    for path in sorted((ROOT / "course").rglob("*.py"))
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.lower().startswith("ready")
]


@pytest.mark.parametrize(("module", "name"), READY, ids=[".".join(one) for one in READY])
def test_a14_every_ready_made_part_of_the_library_is_seen_however_it_is_used(module: str, name: str) -> None:
    package, _, last = module.rpartition(".")
    ways = [
        f"from {module} import {name} as answer",
        f"from {module} import (\n    other,\n    {name} as answer,\n)",
        f"from {package} import {last} as given\nanswer = given.{name}",
        f"import {module}\nanswer = {module}.{name}",
        f"import {module} as given\ndef answer(*parts):\n    return given.{name}(*parts)",
        f"answer = getattr(given, {name[:4]!r} + {name[4:]!r})",
        f"answer = vars(given)[{name!r}]",
        f"answer = operator.attrgetter({name!r})(given)",
    ]
    for way in ways:
        assert ready_made([answer(way)], PATTERNS), way
    given = "from course import decoder_parts as ready"
    assert ready_made([answer(f"{given}\nx = 1", stub=given)], PATTERNS) == [], "what is handed out is nobody's"


@pytest.mark.parametrize("name", Course(ROOT).assignments())
def test_a14_no_solution_is_reported(name: str) -> None:
    found = Assignment.unreleased(Course(ROOT), name)
    written = [
        answer(without_markers(cell.source), cell.metadata.nbgrader.grade_id)
        for notebook in found.source.values()
        for cell in notebook.cells
        if is_solution(cell) and cell.cell_type == "code"
    ]
    parts = {part: pattern for part, pattern in PATTERNS.items() if "course" in part or "text" in part}
    assert ready_made(written, parts) == []


def test_the_class_uses_ready_made_parts_where_it_was_planted(answers: list[Answer]) -> None:
    assert [(part, students) for part, _, students in ready_made(answers, PATTERNS)] == [
        ("nn.MultiheadAttention", simulated.READY)
    ]
