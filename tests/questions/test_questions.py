"""Questions on one's own code: what is asked, what the visible check says, and where."""

import linecache
import os
from dataclasses import replace
from importlib import import_module
from typing import Any

import nbformat
import pytest

from autograder.authoring.check import own_answers
from autograder.errors import GradingError
from autograder.exercise.asking import find
from autograder.exercise.questions import Facts, questions, same, share
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import CourseFile, read_course_file
from autograder.model.questions import asking, drop_questions
from tests.grading import ROOT, assignment
from tests.questions.block import A, N, answers_to, facts, ordinary, sources

# --- asked ------------------------------------------------------------------------------------------------------------


def test_a_renamed_variable_gets_the_same_kinds_of_questions() -> None:
    renamed = ordinary().replace("weights", "shares").replace("context", "mixed")
    kinds = []
    for code in (ordinary(), renamed):
        found = find(sources(code), "AttentionBlock")
        assert found is not None
        kinds.append([one.kind for one in questions(found, facts(code), "ada")])
    assert kinds[0] == kinds[1] and len(kinds[0]) == 3


def test_equal_code_and_id_ask_the_same_and_another_id_asks_other_things() -> None:
    found, known = find(sources(ordinary()), "AttentionBlock"), facts(ordinary())
    assert found is not None
    made = {student: questions(found, known, student) for student in ("ada", "bob", "cy", "di")}
    assert made["ada"] == questions(found, Facts.from_json(known.to_json()), " ADA")  # type: ignore[arg-type]
    assert len({tuple(one.subject for one in some) for some in made.values()}) > 1


def test_a_question_and_the_library_hold_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    found, known = find(sources(ordinary()), "AttentionBlock"), facts(ordinary())
    assert found is not None
    for one in questions(found, replace(known, lost=()), "ada"):
        assert set(vars(one)) == {"kind", "subject", "text", "choices"}


@pytest.mark.parametrize(
    ("right", "asked", "points"), [(3, 3, 1), (2, 3, 0.5), (1, 3, 0), (2, 2, 1), (1, 2, 0), (1, 1, 1)]
)
def test_the_share_of_the_points(right: int, asked: int, points: float) -> None:
    assert share(right, asked) == points


WHOLE = {"lost": [], "asked": "a", "name": "n", "watching": ""}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"rows": 3},
        {"rows": [[], [[1]]], **WHOLE},
        {"rows": [[], [["x", "y", [1]]]], **WHOLE},
        {"rows": [[], [[1, "y", [1.5]]]], **WHOLE},
        {"rows": [[], []], **WHOLE, "asked": "a" * 999},
        {"rows": [[], []], **WHOLE, "lost": 3},
    ],
)
def test_facts_from_a_students_process_are_read_with_care(data: Any) -> None:
    assert Facts.from_json(data) is None


def test_spaces_and_capitals_of_an_answer_do_not_matter() -> None:
    assert same(" (2,3, 5,5)", "(2, 3, 5, 5)") and same("Line 4", "line 4") and not same("line 44", "line 4")


# --- the visible check ------------------------------------------------------------------------------------------------


def _defined(code: str, file: str = "<cell>") -> Any:
    """As a notebook's cell defines it."""
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "__main__"}
    exec("import math, torch\nfrom torch import nn", space)
    exec(compile(code, file, "exec"), space)
    return space["AttentionBlock"]


def test_the_check_asks_then_records_and_never_says_what_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    check, kind = import_module(f"course.check.{A}").questions, _defined(ordinary())
    check({"student": "student"}, attention_block=kind)
    asked = capsys.readouterr().out
    assert "own_code = {" in asked and "1. shape:" in asked and "3. " in asked
    space: dict[str, Any] = {}
    exec(answers_to(ordinary()), space)
    check(space["own_code"], attention_block=kind)
    right = capsys.readouterr().out
    assert right.startswith("– questions: recorded, 3 answers.")
    made = questions(find(sources(ordinary()), "AttentionBlock"), facts(ordinary()), "student")  # type: ignore[arg-type]
    wrong = {one.kind: next(c for c in one.choices if c != space["own_code"][one.kind]) for one in made}
    check(space["own_code"] | wrong, attention_block=kind)
    assert capsys.readouterr().out == right


@pytest.mark.parametrize(
    ("answers", "hub", "said"),
    [
        ({}, {}, 'questions: write own_code = {"student": "YOUR ID"} into the cell above'),
        ({"token": "0badcafe-6ba32ef0", "shape": "(1, 1)"}, {}, "questions: the questions are others now: write"),
        ({"student": ""}, {"JUPYTERHUB_USER": "rené"}, '    "student": "rené",\n'),
        ({}, {"JUPYTERHUB_USER": "x-1a", "BINDER_REPO_URL": "y"}, "questions: write own_code"),
    ],
)
def test_the_check_asks_for_the_id_first(
    answers: dict[str, str], hub: dict[str, str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr("os.environ", {**os.environ, "JUPYTERHUB_USER": "", **hub})
    import_module(f"course.check.{A}").questions(answers, attention_block=_defined(ordinary()))
    assert said in capsys.readouterr().out


def test_the_check_says_look_again_where_the_code_has_changed(capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, Any] = {}
    exec(answers_to(ordinary()), space)
    changed = _defined(ordinary().replace("context", "mixed"), "<changed>")
    import_module(f"course.check.{A}").questions(space["own_code"], attention_block=changed)
    assert "look again" in capsys.readouterr().out


def test_an_answer_that_is_no_choice_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, Any] = {}
    exec(answers_to(ordinary(), shape="about 4"), space)
    import_module(f"course.check.{A}").questions(space["own_code"], attention_block=_defined(ordinary()))
    assert "choose one of the choices for 'shape'" in capsys.readouterr().out


def test_code_that_does_not_run_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    kind = _defined("class AttentionBlock(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError()")
    import_module(f"course.check.{A}").questions({}, attention_block=kind)
    assert "none can be asked" in capsys.readouterr().out


# --- where they are asked ---------------------------------------------------------------------------------------------


def test_other_notebooks_are_released_without_the_section() -> None:
    notebook = nbformat.from_dict(assignment(A).source[N])
    before = len(notebook.cells)
    kept = CourseFile(questions=(f"{A}/{N}",)).fill_in(nbformat.from_dict(notebook), f"{A}/{N}")
    assert len(kept.cells) == before
    dropped = CourseFile().fill_in(notebook, f"{A}/{N}")
    assert len(dropped.cells) == before - 3
    assert not any("own" in str(cell.get("id")) and "code" in cell.id for cell in dropped.cells)
    assert len(drop_questions(dropped).cells) == before - 3


def test_the_setting_is_read_and_a_wrong_one_is_named(tmp_path: Any) -> None:
    assert Course(ROOT).file.questions
    (tmp_path / "course.toml").write_text('[questions]\nnotebooks = "all"\n')
    with pytest.raises(GradingError, match=r"questions\.?notebooks|notebooks: expected a list"):
        read_course_file(tmp_path)


@pytest.mark.parametrize("name", Course(ROOT).file.questions)
def test_the_notebooks_own_answers_are_right_for_its_solution(name: str) -> None:
    assignment_name, _, stem = name.partition("/")
    source = assignment(assignment_name).source[stem]
    cell = next(one for one in source.cells if cells.grade_id(one) == "own_code_answer")
    space: dict[str, Any] = {}
    exec(cell.source, space)
    assert space["own_code"] == own_answers(Course(ROOT), assignment_name)[stem]


def test_what_students_get_has_the_section_just_where_the_course_asks() -> None:
    course = Course(ROOT)
    released = {
        f"{name}/{path.stem}"
        for name in course.assignments()
        for path in course.release(name).glob("*.ipynb")
        if any(asking(cell) is not None for cell in nbformat.read(path, 4).cells)
    }
    assert released == set(course.file.questions)
