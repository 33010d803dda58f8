"""Which sample answers are tried again, and what counts as a difference: a change of what decides is noticed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.authoring.check import Sample
from autograder.exercise import SampleAnswer
from autograder.references.write import EXPECTED, write_archives
from tests.contract import recorded

FILES = {
    "exercises/sheet/sums.py": "RULE = 1",
    "exercises/sheet/_answers.py": "RIGHT = []",
    "exercises/_shared.py": "",
    "exercises/sheet/means.py": "",
    "exercises/sheet/_common.py": "",
    "exercises/other/sums.py": "",
    "course/check/base.py": "",
    "course/check/sheet/sums.py": "LIMIT = 10",
    "course/check/sheet/means.py": "",
    "course/check/sheet/calls.py": "",
    "course/check/other/sums.py": "",
    "autograder/exercise/compare.py": "",
    "autograder/pipeline/judge.py": "",
    "source/sheet/1.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": "x = 1"}]}),
    "source/sheet/data.csv": "1,2",
}
IDLE = {
    "exercises/sheet/_answers.py", "exercises/sheet/means.py", "exercises/other/sums.py",
    "course/check/sheet/means.py", "course/check/other/sums.py",
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", FILES)
def test_a_change_of_what_decides_makes_another_state_and_no_other_change_does(root: Path, name: str) -> None:
    before = recorded.state.__wrapped__("sheet/sums", root)
    changed = FILES[name].replace("x = 1", "x = 2") if name.endswith(".ipynb") else FILES[name] + "\n"
    (root / name).write_text(changed)
    assert (recorded.state.__wrapped__("sheet/sums", root) != before) == (name not in IDLE)


def test_stored_files_of_the_exercise_alone_make_another_state(root: Path) -> None:
    folder = root / "exercises" / "sheet"
    states = []
    for files in ({}, {"sums": {EXPECTED: b"1"}}, {"sums": {EXPECTED: b"1"}, "means": {EXPECTED: b"2"}}):
        write_archives(folder, files)
        states.append(recorded.state.__wrapped__("sheet/sums", root))
    assert states[0] != states[1] == states[2]


def test_text_between_the_cells_of_code_changes_no_state(root: Path) -> None:
    before = recorded.state.__wrapped__("sheet/sums", root)
    notebook = json.loads(FILES["source/sheet/1.ipynb"])
    notebook["cells"].append({"cell_type": "markdown", "source": "more to read"})
    (root / "source/sheet/1.ipynb").write_text(json.dumps(notebook))
    assert recorded.state.__wrapped__("sheet/sums", root) == before


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> list[Sample]:
    """A hundred answers, all of them recorded."""
    every = [Sample("sheet/sums", SampleAnswer(f"number {number}", str(number)), True) for number in range(100)]
    monkeypatch.setattr(recorded, "text", lambda sample: recorded.digest(sample.answer.text))
    monkeypatch.setattr(recorded, "state", lambda slug: "now")
    rows = {recorded.name(one): {"text": recorded.text(one)} for one in every}
    monkeypatch.setattr(recorded, "table", lambda: {"sheet/sums": {"state": "now", "answers": rows}})
    return every


def test_of_recorded_answers_the_same_few_are_tried(many: list[Sample]) -> None:
    assert recorded.to_try(many) == recorded.to_try(many)
    assert 5 <= len(recorded.to_try(many)) <= 25


def test_a_changed_and_a_new_answer_are_tried_and_a_renamed_one_is_not(many: list[Sample]) -> None:
    untried = next(one for one in many if not recorded.in_turn(one))
    changed = replace(untried, answer=replace(untried.answer, text="y"))
    wrong = replace(untried, right=False)
    assert recorded.to_try([untried]) == []
    assert recorded.to_try([changed, wrong]) == [changed, wrong]
    assert recorded.recorded(replace(untried, answer=replace(untried.answer, name="another name")))


def test_all_are_tried_where_something_else_has_changed(many: list[Sample], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "state", lambda slug: "later")
    assert recorded.to_try(many) == many


def test_every_kind_of_difference_is_found_and_a_new_answer_is_none() -> None:
    old = {"text": "a", "points": {"sums": 0.0}, "visible": {"sums": "no"}}
    assert list(recorded.differences(old, {**old, "text": "b"})) == []
    assert list(recorded.differences(None, old)) == []
    for key, value in (("points", {"sums": 1.0}), ("mistakes", ["M1"]), ("feedback", {"sums": ["a"]}), ("visible", {})):
        (line,) = recorded.differences(old, {**old, key: value})
        assert line.startswith(f"{key}: ")


def test_the_digits_of_a_measured_number_are_no_difference() -> None:
    assert recorded._masked("the largest is 0.123, of 4 rows") == recorded._masked("the largest is 0.124, of 4 rows")
    assert recorded._masked("the largest is 0.123, of 4 rows") != recorded._masked("the largest is 0.123, of 5 rows")


def test_what_is_written_is_read_again_with_one_line_per_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "RECORD", tmp_path / "written.json")
    answers = {"right: a": {"text": "1"}, "wrong: b": {"text": "2", "feedback": {"sums": ["no", "“no”"]}}}
    exercises = {"a/sums": {"state": "now", "answers": answers}, "b/sums": {"state": "", "answers": {"right: c": {}}}}
    recorded.write(exercises)
    assert recorded.table() == exercises
    recorded.table.cache_clear()
    assert len((tmp_path / "written.json").read_text().splitlines()) == 9
