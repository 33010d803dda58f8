"""Which sample answers are tried again: a change of anything that decides about them is noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.authoring.sample_answers import Sample
from autograder.exercise import SampleAnswer
from tests.exercises import recorded

FILES = {
    "exercises/sheet/sums/oracle.py": "RULE = 1",
    "exercises/sheet/sums/answers.py": "RIGHT = []",
    "exercises/sheet/sums/inputs/0.json": "{}",
    "exercises/_shared.py": "",
    "exercises/other/sums/oracle.py": "",
    "course/check/base.py": "",
    "course/check/sheet/sums.py": "LIMIT = 10",
    "course/check/other/sums.py": "",
    "autograder/exercise/compare.py": "",
    "autograder/pipeline/judge.py": "",
    "source/sheet/1.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": "x = 1"}]}),
    "source/sheet/data.csv": "1,2",
}
IDLE = {"exercises/sheet/sums/answers.py", "exercises/other/sums/oracle.py", "course/check/other/sums.py"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_change_of_what_decides_makes_another_state_and_no_other_change_does(root: Path, name: str) -> None:
    before = recorded.state.__wrapped__("sheet", root)
    changed = FILES[name].replace("x = 1", "x = 2") if name.endswith(".ipynb") else FILES[name] + "\n"
    (root / name).write_text(changed)
    assert (recorded.state.__wrapped__("sheet", root) != before) == (name not in IDLE)


def test_text_between_the_cells_of_code_changes_no_state(root: Path) -> None:
    before = recorded.state.__wrapped__("sheet", root)
    notebook = json.loads(FILES["source/sheet/1.ipynb"])
    notebook["cells"].append({"cell_type": "markdown", "source": "more to read"})
    (root / "source/sheet/1.ipynb").write_text(json.dumps(notebook))
    assert recorded.state.__wrapped__("sheet", root) == before


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> list[Sample]:
    """A hundred answers, all of them proven."""
    every = [Sample("sheet/sums", SampleAnswer(f"number {number}", "x"), True) for number in range(100)]
    rows = {recorded.name(one): {"answer": recorded.digest(repr(one.answer))} for one in every}
    monkeypatch.setattr(recorded, "state", lambda assignment: "now")
    monkeypatch.setattr(recorded, "table", lambda assignment: {"state": "now", "answers": rows})
    return every


def test_of_proven_answers_the_same_few_are_tried(many: list[Sample]) -> None:
    assert recorded.to_try(many) == recorded.to_try(many)
    assert 5 <= len(recorded.to_try(many)) <= 25


def test_a_changed_and_a_new_answer_are_tried(many: list[Sample]) -> None:
    untried = next(one for one in many if not recorded.in_turn(one))
    changed = replace(untried, answer=replace(untried.answer, text="y"))
    new = replace(untried, answer=replace(untried.answer, name="new"))
    wrong = replace(untried, right=False)
    assert recorded.to_try([untried]) == []
    assert recorded.to_try([changed, new, wrong]) == [changed, new, wrong]


def test_all_are_tried_where_something_else_has_changed(many: list[Sample], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "state", lambda assignment: "later")
    assert recorded.to_try(many) == many


def test_a_message_may_differ_in_the_digits_of_a_number_alone() -> None:
    first = {"points": 1.0, "visible": "line 3: the largest difference is 0.123, of 4 rows", "feedback": ""}
    assert recorded.alike(first, {**first, "visible": "line 3: the largest difference is 0.124, of 4 rows"})
    assert not recorded.alike(first, {**first, "visible": "line 3: the largest difference is 0.123, of 5 rows"})
    assert not recorded.alike(first, {**first, "points": 2.0})
    assert not recorded.alike(first, {**first, "feedback": "no"})
    assert recorded.alike(first, {**first, "answer": "written in another way"})
