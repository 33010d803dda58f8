"""Solutions for students: only when nobody can hand in any more, and without hidden tests and mark schemes."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta

import nbformat
import pytest
from nbformat.v4 import new_notebook, new_output

from autograder.assignment.assignment import Assignment
from autograder.cli import main
from autograder.errors import GradingError
from autograder.gradebook.late.policy import LatePolicy, Rules, last_moment
from autograder.model import cells
from autograder.model.course import Course
from autograder.release.as_submitted import without_markers
from autograder.release.solved_run import keep, write_solutions
from tests.feedback.toy import build_course
from tests.grading import ROOT

DUE = datetime(2027, 1, 15, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("rules", "free", "last"),
    [
        ({"hard_deadline": DUE + DAY}, 0, DUE + DAY),
        ({"hard_deadline": DUE + DAY, "extensions": {"ada": 3}}, 0, DUE + 4 * DAY),
        ({"hard_deadline": DUE, "grace": timedelta(minutes=10)}, 0, DUE + timedelta(minutes=10)),
        ({"per_day_share": 0.3}, 2, DUE + 6 * DAY),
        ({"per_day_share": 0.5, "extensions": {"ada": 7}}, 0, DUE + 9 * DAY),
        ({"per_day_points": 1.0}, 0, None),
        ({}, 0, None),
    ],
)
def test_the_last_moment_counts_extensions_grace_and_late_days(rules, free, last):
    given = {student: timedelta(days=days) for student, days in rules.get("extensions", {}).items()}
    policy = LatePolicy({"toy": Rules(DUE, **{**rules, "extensions": given})}, free)
    assert last_moment(policy, "toy") == last
    assert last_moment(policy, "other") is None


@pytest.fixture
def course(tmp_path):
    root = build_course(tmp_path / "course").root
    shutil.copytree(root / "release", tmp_path / "students" / "release")
    return root


def run(course, *words):
    return main(["--course-dir", str(course), "publish", str(course.parent / "students"), "--solutions", "toy", *words])


@pytest.mark.parametrize(("deadline", "code"), [("2001-01-01", 0), ("2999-01-01", 2), (None, 2)])
def test_solutions_are_refused_while_somebody_can_hand_in(course, capsys, deadline, code):
    if deadline:
        moment = f"{deadline}T12:00:00Z"
        (course / "late_policy.toml").write_text(f"[assignments.toy]\ndeadline = {moment}\nhard_deadline = {moment}\n")
    assert run(course) == code
    written = course.parent / "students" / "solutions" / "toy" / "1_sums.ipynb"
    assert written.exists() == (code == 0)
    if code:
        assert "--yes" in capsys.readouterr().err
        assert run(course, "--yes") == 0 and written.exists()


def test_the_real_solutions_hold_answers_and_neither_hidden_tests_nor_mark_schemes(tmp_path):
    shutil.copytree(ROOT / "release" / "numpy_attention", tmp_path / "release" / "numpy_attention")
    files, _ = write_solutions(Course(ROOT), tmp_path, "numpy_attention")
    text = "".join((tmp_path / name).read_text() for name in files)
    source = nbformat.read(ROOT / "source" / "numpy_attention" / "1_attention.ipynb", as_version=4)
    answers = [without_markers(cell.source).strip() for cell in source.cells if cells.is_solution(cell)]
    solved = nbformat.read(tmp_path / "solutions" / "numpy_attention" / "1_attention.ipynb", as_version=4)
    assert answers and {*answers} <= {cell.source for cell in solved.cells}
    for word in ("HIDDEN TESTS", "MARK SCHEME", "BEGIN SOLUTION", "from autograder import reference"):
        assert word not in text
    assert "BEGIN MARK SCHEME" in (ROOT / "source" / "numpy_attention" / "2_finetuning.ipynb").read_text()


def test_solutions_show_what_they_showed_when_they_were_released(course, capsys):
    assert run(course, "--yes") == 0 and "Without outputs: 'autograder release toy'" in capsys.readouterr().out
    opened = Assignment.open(Course(course), "toy")
    (cell,) = [one for one in opened.source["1_sums"].cells if cells.grade_id(one) == "row_sums"]
    cell.outputs = [new_output("stream", text="✓")]
    keep(Course(course), opened, {"1_sums": new_notebook(cells=[cell])})
    assert run(course, "--yes") == 0 and "Without outputs" not in capsys.readouterr().out
    solved = nbformat.read(course.parent / "students" / "solutions" / "toy" / "1_sums.ipynb", as_version=4)
    shown = {cells.grade_id(one): one.outputs[0].text for one in solved.cells if one.get("outputs")}
    assert shown == {"row_sums": "✓"}


def test_solutions_go_only_where_the_assignment_was_published(tmp_path):
    with pytest.raises(GradingError, match="was not published into"):
        write_solutions(Course(ROOT), tmp_path, "numpy_attention")
    with pytest.raises(GradingError, match="unknown assignment 'numpy_atention'"):
        write_solutions(Course(ROOT), tmp_path, "numpy_atention")
