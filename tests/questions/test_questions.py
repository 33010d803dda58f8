"""Questions on one's own code: what is asked, what the visible check says, and how answers are judged."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import nbformat
import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.errors import GradingError
from autograder.exercise.asking import find
from autograder.exercise.questions import Facts, questions, right_choice, same, share, token_for
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import CourseFile, read_course_file
from autograder.model.questions import asking, drop_questions
from autograder.model.verdict import CellVerdict
from autograder.pipeline.execute import Limits
from autograder.pipeline.grade import grade_submission
from tests.grading import ROOT, alone_with, assignment, cell_of, exercises_alone, filled, kernels, solution

A, N, CODE = "distilbert", "2_attention_block", "attention_block_answer"


def facts(code: str) -> Facts:
    found = import_module(f"course.check.{A}").questions.facts_of(
        _sources(code), {"attention_weights": "AttentionBlock"}
    )
    read = Facts.from_json(found.to_json())
    assert read is not None
    return read


def _sources(code: str) -> list[tuple[str, bool]]:
    notebook = assignment(A).source[N]
    index = next(i for i, cell in enumerate(notebook.cells) if asking(cell))
    found = []
    for cell in notebook.cells[:index]:
        if cell.cell_type == "code":
            text = code if cells.grade_id(cell) == CODE else cells.split_hidden(cell.source).visible
            found.append((text, not cells.is_solution(cell)))
    return found


def answers_to(code: str, random: str = "0badcafe", **others: str) -> str:
    """The cell with the right answers for this code."""
    found, known = find(_sources(code), "AttentionBlock"), facts(code)
    assert found is not None
    right = {one.kind: right_choice(one, found, known) for one in questions(found, known, random)}
    return f"own_code = { ({'token': token_for(found, random)} | right | others)!r}"


def with_points(points: float) -> Assignment:
    """The notebook, its exercise alone, with points for the questions."""
    source, release = exercises_alone(A, N)
    for one in (source, release):
        next(cell for cell in one.cells if cells.grade_id(cell) == "own_code").metadata.nbgrader["points"] = points
    return alone_with(assignment(A), N, source, release)


def graded(answers: Mapping[str, str], points: float = 2, extra: str = "") -> CellVerdict:
    opened = with_points(points)
    data = filled(A, N, answers, opened.release[N])
    if extra:
        notebook = nbformat.reads(data.decode(), 4)
        place = next(i for i, cell in enumerate(notebook.cells) if cells.grade_id(cell) == CODE)
        notebook.cells.insert(place, nbformat.v4.new_code_cell(extra))
        data = nbformat.writes(notebook).encode()
    verdict = grade_submission(Submission("student", {N: data}, {}, ()), opened, kernels(), Limits())
    return cell_of(verdict.verdict.notebooks[0], "own_code")


def ordinary() -> str:
    return solution(A, N, CODE)


def other() -> str:
    from autograder.references import loader
    from tests.grading import REFERENCES

    right, _ = loader.sample_answers(REFERENCES.folder, f"{A}/attention_weights")
    return next(one.text for one in right if one.name == "softmax by hand, the largest score subtracted")


# --- graded -----------------------------------------------------------------------------------------------------------


def test_q37_three_right_answers_give_all_points_two_half_and_fewer_none() -> None:
    right = answers_to(ordinary())
    assert graded({"own_code_answer": right}).points == 2
    one = answers_to(ordinary(), shape="(1, 1)")
    found = graded({"own_code_answer": one})
    assert found.points == 1
    wrong = [check for check in found.checks if not check.passed]
    assert [check.name for check in wrong] == ["shape"]
    assert "You chose '(1, 1)'; right is" in wrong[0].message and wrong[0].hint.startswith("Line ")
    assert graded({"own_code_answer": answers_to(ordinary(), shape="(1, 1)", without="line 1: x")}).points == 0


def test_q37_as_shipped_the_questions_have_no_points() -> None:
    shipped = next(cell for cell in assignment(A).source[N].cells if cells.grade_id(cell) == "own_code")
    assert cells.max_points(shipped) == 0


def test_q37_code_in_another_style_is_asked_about_itself_and_wrong_code_too() -> None:
    assert graded({CODE: other(), "own_code_answer": answers_to(other())}).points == 2
    wrong = ordinary().replace("/ math.sqrt(q.shape[-1])", "* 3")
    assert wrong != ordinary()
    assert graded({CODE: wrong, "own_code_answer": answers_to(wrong)}).points == 2


def test_q37_anothers_answers_earn_nothing_and_a_changed_code_is_noted() -> None:
    found = graded({CODE: other(), "own_code_answer": answers_to(ordinary())})
    assert found.points == 0
    assert any("has changed since" in check.message for check in found.checks)


def test_q37_without_answers_there_are_no_points_and_the_reason_is_said() -> None:
    found = graded({"own_code_answer": "own_code = {}"})
    assert found.points == 0 and "token" in found.checks[0].message


def test_q37_code_that_does_not_run_gets_no_points_for_nothing_asked() -> None:
    found = graded({CODE: "class AttentionBlock(nn.Module):\n    pass", "own_code_answer": "own_code = {}"})
    assert (found.status, found.points) == ("failed", 0)


def test_q37_code_that_looks_how_it_is_run_is_for_a_person() -> None:
    code = ordinary().replace("class AttentionBlock", "import inspect as what\n\nclass AttentionBlock", 1)
    found = graded({CODE: code, "own_code_answer": answers_to(ordinary())})
    assert (found.status, found.points) == ("manual", None) and "'inspect'" in found.checks[0].message


# --- asked ------------------------------------------------------------------------------------------------------------


def test_q37_a_renamed_variable_gets_the_same_kinds_of_questions() -> None:
    renamed = ordinary().replace("weights", "shares").replace("context", "mixed")
    kinds = []
    for code in (ordinary(), renamed):
        found = find(_sources(code), "AttentionBlock")
        assert found is not None
        kinds.append([one.kind for one in questions(found, facts(code), "00000001")])
    assert kinds[0] == kinds[1] and len(kinds[0]) == 3


def test_q37_equal_code_and_token_ask_the_same_and_another_token_asks_other_things() -> None:
    found, known = find(_sources(ordinary()), "AttentionBlock"), facts(ordinary())
    assert found is not None
    made = {token: questions(found, known, token) for token in ("00000001", "00000002", "00000003", "00000004")}
    assert made["00000001"] == questions(found, Facts.from_json(known.to_json()), "00000001")  # type: ignore[arg-type]
    assert len({tuple(one.subject for one in some) for some in made.values()}) > 1


def test_q37_a_question_and_the_library_hold_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    found, known = find(_sources(ordinary()), "AttentionBlock"), facts(ordinary())
    assert found is not None
    for one in questions(found, replace(known, lost={}), "00000001"):
        assert set(vars(one)) == {"kind", "subject", "text", "choices"}


@pytest.mark.parametrize(
    ("right", "asked", "points"), [(3, 3, 1), (2, 3, 0.5), (1, 3, 0), (2, 2, 1), (1, 2, 0), (1, 1, 1)]
)
def test_q37_the_share_of_the_points(right: int, asked: int, points: float) -> None:
    assert share(right, asked) == points


WHOLE = {"lost": {}, "asked": "a", "name": "n", "watching": ""}


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
        {"rows": [[], []], **WHOLE, "lost": {"line 1: x": 3}},
    ],
)
def test_q37_facts_from_a_students_process_are_read_with_care(data: Any) -> None:
    assert Facts.from_json(data) is None


def test_q37_spaces_and_capitals_of_an_answer_do_not_matter() -> None:
    assert same(" (2,3, 5,5)", "(2, 3, 5, 5)") and same("Line 4", "line 4") and not same("line 44", "line 4")


# --- the visible check ------------------------------------------------------------------------------------------------


def _defined(code: str, file: str = "<cell>") -> Any:
    """As a notebook's cell defines it."""
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    space: dict[str, Any] = {"__name__": "__main__"}
    exec("import math, torch\nfrom torch import nn", space)
    exec(compile(code, file, "exec"), space)
    return space["AttentionBlock"]


def test_q37_the_check_asks_then_records_and_never_says_what_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    check, kind = import_module(f"course.check.{A}").questions, _defined(ordinary())
    check({}, attention_weights=kind)
    asked = capsys.readouterr().out
    assert "own_code = {" in asked and "1. shape:" in asked and "3. " in asked
    space: dict[str, Any] = {}
    exec(answers_to(ordinary()), space)
    check(space["own_code"], attention_weights=kind)
    right = capsys.readouterr().out
    assert right.startswith("✓ questions: recorded, 3 answers.")
    made = questions(find(_sources(ordinary()), "AttentionBlock"), facts(ordinary()), "0badcafe")  # type: ignore[arg-type]
    wrong = {one.kind: next(c for c in one.choices if c != space["own_code"][one.kind]) for one in made}
    check(space["own_code"] | wrong, attention_weights=kind)
    assert capsys.readouterr().out == right


def test_q37_the_check_says_look_again_where_the_code_has_changed(capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, Any] = {}
    exec(answers_to(ordinary()), space)
    changed = _defined(ordinary().replace("context", "mixed"), "<changed>")
    import_module(f"course.check.{A}").questions(space["own_code"], attention_weights=changed)
    assert "look again" in capsys.readouterr().out


def test_q37_an_answer_that_is_no_choice_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    space: dict[str, Any] = {}
    exec(answers_to(ordinary(), shape="about 4"), space)
    import_module(f"course.check.{A}").questions(space["own_code"], attention_weights=_defined(ordinary()))
    assert "choose one of the choices for 'shape'" in capsys.readouterr().out


def test_q37_code_that_does_not_run_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    kind = _defined("class AttentionBlock(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError()")
    import_module(f"course.check.{A}").questions({}, attention_weights=kind)
    assert "none can be asked" in capsys.readouterr().out


# --- where they are asked ---------------------------------------------------------------------------------------------


def test_q37_other_notebooks_are_released_without_the_section() -> None:
    notebook = nbformat.from_dict(assignment(A).source[N])
    before = len(notebook.cells)
    kept = CourseFile(questions=(f"{A}/{N}",)).fill_in(nbformat.from_dict(notebook), f"{A}/{N}")
    assert len(kept.cells) == before
    dropped = CourseFile().fill_in(notebook, f"{A}/{N}")
    assert len(dropped.cells) == before - 3
    assert not any("own" in str(cell.get("id")) and "code" in cell.id for cell in dropped.cells)
    assert len(drop_questions(dropped).cells) == before - 3


def test_q37_the_setting_is_read_and_a_wrong_one_is_named(tmp_path: Any) -> None:
    assert Course(ROOT).file.questions
    (tmp_path / "course.toml").write_text('[questions]\nnotebooks = "all"\n')
    with pytest.raises(GradingError, match=r"questions\.?notebooks|notebooks: expected a list"):
        read_course_file(tmp_path)


@pytest.mark.parametrize("name", Course(ROOT).file.questions)
def test_q37_the_notebooks_own_answers_are_right_for_its_solution(name: str) -> None:
    from tests.questions.__main__ import answers_of

    opened = assignment(name.partition("/")[0])
    cell = next(one for one in opened.source[name.partition("/")[2]].cells if cells.grade_id(one) == "own_code_answer")
    space: dict[str, Any] = {}
    exec(cell.source, space)
    assert space["own_code"] == answers_of(name)
