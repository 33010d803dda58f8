"""Judged as the solution does: where each cell is judged, what counts, and what waits for a person."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook

from autograder.assignment.assignment import Assignment
from autograder.assignment.calibration import Calibration, CellCalibration, read_calibration, write_calibration
from autograder.assignment.solution_run import SolutionRun
from autograder.classroom.run import GradingOptions, grade_class
from autograder.model.course import Course
from autograder.model.limits import Limits
from autograder.pipeline.judge_tests import earned, judge_test, where_in
from autograder.pipeline.outcomes import PartOutcome, TestOutcome
from autograder.release.calibrate import calibrated as calibrate_and_keep
from tests.pipeline.conftest import nbgrader
from tests.plain.notebooks import PYTHON, hand_in
from tests.plain.tiny import assignment, calibrated, cell, graded, kernels, points, solution, test

GIVEN = assignment(
    cell("numbers = [3, 1, 2]"),
    solution("def largest():\n    return max(numbers)", "largest_answer"),
    test("assert largest() == 3\nassert numbers == [3, 1, 2]", "largest"),
    solution("from statistics import mean", "mean_answer"),
    test("assert mean([1, 3]) == 2", "mean"),
    solution("numbers.append(4)", "append_answer"),
    test("assert numbers[-1] == 4", "append"),
    solution("def squares(n):\n    return [i * i for i in range(n)]", "squares_answer"),
    test("### BEGIN HIDDEN TESTS\nassert squares(3) == [0, 1, 4]\n### END HIDDEN TESTS", "squares"),
)
OWN_LIST = """
class Own:
    def __init__(self, items): self.items = items
    def __eq__(self, other): return self.items == other
def squares(n):
    return Own([i * i for i in range(n)])
"""


def ended(status: str = "ok", result: float | None = None, **more: object) -> TestOutcome:
    return TestOutcome("outside", PartOutcome(status), result, **more)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_solution_says_where_each_cell_is_judged():
    found = calibrated(GIVEN).calibration
    assert found is not None
    judged = {name: one.judged for name, one in found.cells_of("nb").items()}
    assert judged == {"largest": "outside", "mean": "outside", "append": "kernel", "squares": "outside"}
    assert (
        "IndexError" in found.cells_of("nb")["append"].reason
        or "does not pass" in found.cells_of("nb")["append"].reason
    )
    assert points(graded(GIVEN)) == {"largest": 1, "mean": 1, "append": 1, "squares": 1}


@pytest.mark.slow
def test_what_the_solution_imports_is_given_to_nobody():
    untouched = dict.fromkeys(("largest_answer", "mean_answer", "append_answer", "squares_answer"), "pass")
    assert points(graded(GIVEN, untouched)) == {"largest": 0, "mean": 0, "append": 0, "squares": 0}


@pytest.mark.slow
def test_a_given_list_that_the_answer_changes_is_seen():
    answer = {"largest_answer": "def largest():\n    numbers.sort()\n    return numbers[-1]"}
    largest = graded(GIVEN, answer).verdict.notebooks[0].cells[0]
    assert (largest.points, largest.offered) == (None, 1) and "[1, 2, 3]" in largest.refused


@pytest.mark.slow
def test_a_right_answer_in_an_odd_style_is_named_and_never_a_silent_zero():
    (*_, squares) = graded(GIVEN, {"squares_answer": OWN_LIST}).verdict.notebooks[0].cells
    assert (squares.status, squares.points, squares.offered) == ("manual", None, 1)
    assert "its class would decide what is equal" in squares.refused
    assert "A person looks at this test" in squares.checks[0].message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("for g, w in zip(f(2), [2, 1]):\n    assert g == w", "def f(n): yield from ()"),
        ("assert all(g == w for g, w in zip(f(2), [2, 1]))", "def f(n): return iter(())"),
        ("try:\n    assert next(f(2)) == 2\nexcept TypeError:\n    pass", "def f(n): raise TypeError"),
    ],
)
def test_a_check_that_is_not_gone_through_as_with_the_solution_waits(text, answer):
    right = solution("def f(n):\n    while n:\n        yield n\n        n -= 1", "f_answer")
    opened = assignment(right, test(f"{text}\n2", "f", 2))
    assert points(graded(opened)) == {"f": 2}
    (cell,) = graded(opened, {"f_answer": answer}).verdict.notebooks[0].cells
    assert (cell.points, cell.offered, cell.judged) == (None, 2, "outside")
    assert cell.refused and "assert" not in cell.checks[0].message


@pytest.mark.slow
def test_what_the_solution_does_not_pass_twice_is_judged_in_the_kernel():
    right = solution("def f(x): return x", "f_answer")
    (cell,) = graded(assignment(right, test("x = [1]\nassert f(x) is x", "f"))).verdict.notebooks[0].cells
    assert (cell.points, cell.judged) == (1, "kernel")


FOUR = {"1.1:0-4 __call__": [["int", 4]]}
GIVES_FOUR = SolutionRun.of(FOUR, {"1:0 assert": 1}, None)


@pytest.mark.parametrize(
    ("visits", "marks", "points", "why"),
    [
        (FOUR, {"1:0 assert": 1}, 2.0, ""),
        ({"1.1:0-4 __call__": [["float", 4.0]]}, {"1:0 assert": 1}, 2.0, ""),
        ({"1.1:0-4 __call__": [["int", 5]]}, {"1:0 assert": 1}, None, "another number (5, the solution: 4)"),
        (FOUR, {"1:0 assert": 2}, None, "assert: the check is gone through 2 times, not once"),
        (FOUR, {}, None, "assert: the check is gone through 0 times, not once"),
        ({}, {"1:0 assert": 1}, None, "a value came 0 times, not once (nothing, the solution: 4)"),
    ],
)
def test_a_test_that_holds_counts_where_all_that_came_is_the_solutions(visits, marks, points, why):
    found = judge_test("t", 2.0, ended(visits=visits, marks=marks), "", solution=GIVES_FOUR)
    assert (found.points, found.refused) == (points, why)
    assert found.offered == (2.0 if points is None else None)


def test_it_is_said_where_values_differ():
    text = "x = f(1)\n### BEGIN HIDDEN TESTS\nassert f(2) == 4\n### END HIDDEN TESTS"
    places = "2.1:7-11 __call__", "1.1:4-8 __call__", "name x", "check 1a.1:0 assert x"
    assert [where_in(text, place) for place in places] == ["f(2)", "f(1)", "x", "assert x"]


def test_of_a_test_that_fails_nothing_waits_unless_it_was_refused_or_holds_beside_the_answer():
    failed = ended("error"), ended("error", seen=False), ended("timeout", seen=True)
    waits = ended("error", seen=True), ended("error", refused="an object came")
    found = [judge_test("t", 2.0, outcome, "", solution=GIVES_FOUR).points for outcome in (*failed, *waits)]
    assert found == [0.0, 0.0, 0.0, None, None]


HIDDEN_NUMBERS = (0.0, 0.5, 1.25, 1.999, 2.0, 481516.0, -3.0, float("nan"), float("inf"))


@pytest.mark.parametrize("hidden", [True, False])
def test_a_number_of_the_kernel_that_holds_hidden_tests_is_no_points_and_no_words(hidden):
    """Whatever it shows, students can tell two or three cases apart: it held, it did not, a person looks."""
    seen = set()
    for number in HIDDEN_NUMBERS:
        test = TestOutcome("kernel", PartOutcome("ok"), inside=ended(result=number))
        found = judge_test("t", 2.0, test, "", hidden)
        seen.add((found.status, found.points, found.checks))
    assert len(seen) == 3 and {points for _, points, _ in seen} == {0.0, 2.0, None}


@pytest.mark.parametrize(
    ("result", "most"), [(0.1 + 0.2 + 0.3, 0.6), (1.1 + 2.2, 3.3), (sum(0.1 for _ in range(10)), 1.0)]
)
def test_a_sum_of_fractions_is_all_of_the_points(result, most):
    assert result != most
    assert earned(ended(result=result), most) == most
    found = judge_test("t", most, ended(result=result), "")
    assert (found.status, found.points) == ("passed", most)


def stored(root: Path, one: Assignment) -> Calibration | None:
    return read_calibration(root, one.name, one.version, one.bundled_version)


@pytest.mark.slow
def test_what_was_found_out_without_time_is_found_out_again(tmp_path):
    answer = solution("import time\ntime.sleep(1.5)\ndef f(): return 1", "f_answer")
    slow = assignment(answer, test("assert f() == 1", "f"))
    for seconds, judged in ((1.0, "kernel"), (10.0, "outside")):
        made = calibrate_and_keep(tmp_path, slow, kernels(), Limits(cell_seconds=seconds))
        assert made.calibration.cells_of("nb")["f"].judged == judged
    assert stored(tmp_path, slow) == made.calibration


@pytest.mark.slow
def test_a_solution_that_ends_its_process_stops_no_class(tmp_path):
    """The workers judge by what was found out now, though it will be found out again."""
    cells = solution("def f(): return 1", "a"), test("assert f() == 1", "f"), solution("import os\nos._exit(0)", "b")
    source = tmp_path / "source" / "ps1" / "p.ipynb"
    source.parent.mkdir(parents=True)
    nbformat.write(new_notebook(cells=[*cells, test("assert True", "g")], metadata={"kernelspec": PYTHON}), source)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'ends'\n")
    assert nbgrader(tmp_path, "generate_assignment", "ps1").returncode == 0
    for student in ("ada", "bob"):
        hand_in(tmp_path, student, "ps1", {"a": "def f(): return 1", "b": "g = 1"})
    rows = grade_class(Course(tmp_path), GradingOptions("ps1", workers=2))
    assert [(row.failure, row.total) for row in rows] == [("", 2), ("", 2)]


def test_a_calibration_is_kept_for_one_version_of_the_source(tmp_path):
    kept = Calibration({"nb": {"mean": CellCalibration("outside", expected={"1.1 __call__": []}, solution=GIVES_FOUR)}})
    one = assignment(solution("def mean(xs): return sum(xs) / len(xs)", "a"), test("assert mean([1]) == 1", "mean"))
    other = assignment(solution("def mean(xs): return 1", "a"), test("assert mean([1]) == 1", "mean"))
    write_calibration(tmp_path, one.name, one.version, kept)
    assert stored(tmp_path, one) == kept
    assert stored(tmp_path, other) is None
