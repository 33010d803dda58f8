"""What the student's code makes of the instructor's values is seen by the tests that read them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.pipeline import grade
from autograder.pipeline.steps import steps_of
from autograder.release.verify import _solved
from tests.plain.one_process import execute, main_module
from tests.plain.tiny import LIMITS, assignment, cell, graded, kernels, points, solution, test

pytestmark = pytest.mark.slow

FRAME = "import pandas as pd\ndf = pd.DataFrame({'x': [1.0, 2.0, None, 4.0]})"
#: What setup makes, the solution, a test; then answers that nbgrader gives a point, and answers that it gives none.
CASES = {
    "frame": (
        FRAME,
        "clean = df.dropna()",
        "assert len(clean) == 3\nassert len(df) == 4, 'leave df alone'",
        ["df['scratch'] = 1\nclean = df[['x']].dropna()", "df.attrs['note'] = 'mine'\nclean = df.copy().dropna()"],
        ["df.dropna(inplace=True)\nclean = df", "df = df.dropna()\nclean = df", "clean = df.dropna()\ndel df"],
    ),
    "list": (
        "data = [3, 1, 2]",
        "result = sorted(data)",
        "assert result == [1, 2, 3] and data[0] == 3",
        ["data.append(9)\ndata.pop()\nresult = sorted(data)", "data.append(9)\nresult = sorted(data)[:3]"],
        ["data.sort()\nresult = data", "result = sorted(data)\ndata.clear()"],
    ),
    "dict": (
        "prices = {'tea': 3, 'milk': 1}",
        "def total(of):\n    return sum(prices[one] for one in of)",
        "assert total(['tea', 'milk']) == 4\nassert prices == {'tea': 3, 'milk': 1}",
        ["def total(of):\n    left = dict(prices)\n    return sum(left.pop(one) for one in of)"],
        ["def total(of):\n    return sum(prices.pop(one) for one in of)"],
    ),
    "parts": (
        "grid = [[0, 0], [0, 0]]",
        "def play(row, column):\n    new = [one[:] for one in grid]\n    new[row][column] = 1\n    return new",
        "assert play(0, 1) == [[0, 1], [0, 0]]\nassert grid == [[0, 0], [0, 0]]",
        ["def play(row, column):\n    new = [grid[0][:], grid[1][:]]\n    new[row][column] = 1\n    return new"],
        ["def play(row, column):\n    grid[row][column] = 1\n    return grid"],
    ),
    "calls": (
        "calls = []",
        "def plus(x):\n    return x + 1",
        "assert plus(1) == 2\nassert calls == []",
        ["mine = []\ndef plus(x):\n    mine.append(x)\n    return x + 1"],
        ["def plus(x):\n    calls.append(x)\n    return x + 1"],
    ),
    "through a helper of the test": (
        "data = [3, 1, 2]\ndef untouched():\n    return data == [3, 1, 2]",
        "result = max(data)",
        "assert result == 3 and untouched()",
        ["result = sorted(data)[-1]"],
        ["data.sort()\nresult = data[-1]"],
    ),
    "an object of a class of the setup": (
        "class Shelf:\n    def __init__(self):\n        self.books = ['a']\nshelf = Shelf()",
        "count = len(shelf.books)",
        "assert count == 1 and shelf.books == ['a']",
        ["shelf.books.append('b')\nshelf.books.remove('b')\ncount = 1"],
        ["shelf.books.append('b')\ncount = 1"],
    ),
    "a number": (
        "rate = 2",
        "def tax(x):\n    return x * rate",
        "assert tax(5) == 5 * rate\nassert rate == 2",
        ["def tax(x, rate=rate):\n    return x * rate"],
        ["rate = 3\ndef tax(x):\n    return x * rate"],
    ),
    "import": (
        "data = [1, 2, 6]",
        "from statistics import mean\ndef centred(x):\n    return [one - mean(x) for one in x]",
        "assert centred(data) == [-2, -1, 3]\nassert mean(data) == 3",
        [  # the last one has no such name: the tester has it
            "def mean(x):\n    return sum(x) / len(x)\ndef centred(x):\n    return [one - mean(x) for one in x]",
            "from numpy import mean\ndef centred(x):\n    return [one - mean(x) for one in x]",
            "def centred(x):\n    return [one - sum(x) / len(x) for one in x]",
        ],
        ["def mean(x):\n    return sum(x)\ndef centred(x):\n    return [one - sum(x) / len(x) for one in x]"],
    ),
}  # fmt: skip
ANSWERS = [
    (name, answer, earned)
    for name, (*_, right, wrong) in CASES.items()
    for answer, earned in [*((one, 1) for one in right), *((one, 0) for one in wrong)]
]


def opened(setup: str, solved: str, *tests: str):
    graded_cells = [test(text, f"t{number}") for number, text in enumerate(tests)]
    return assignment(cell(setup, "setup", locked=True), solution(solved, "answer"), *graded_cells)


@pytest.fixture
def runs(monkeypatch) -> Iterator[list[int]]:
    """The number of cells of each notebook that is run."""
    found: list[int] = []

    def run(notebook, **others):
        found.append(len(notebook.cells))
        return original(notebook, **others)

    original = grade.run
    monkeypatch.setattr(grade, "run", run)
    return found


@pytest.mark.parametrize(
    ("name", "answer", "earned"), ANSWERS, ids=[f"{name}-{n}" for n, (name, *_) in enumerate(ANSWERS)]
)
def test_an_answer_has_the_points_that_nbgrader_gives_it(name, answer, earned):
    setup, solved, tested, *_ = CASES[name]
    assert points(graded(opened(setup, solved, tested), {"answer": answer})) == {"t0": earned}


def test_in_one_process_as_under_nbgrader_no_answer_has_more_points():
    for name, answer, earned in ANSWERS:
        setup, _, tested, *_ = CASES[name]
        with main_module() as space:
            execute(setup, space)
            try:
                execute(f"{answer}\n{tested}", space)
            except (AssertionError, NameError, LookupError):
                assert not earned or name == "import"  # a name that is absent
            else:
                assert earned, (name, answer)


@pytest.mark.parametrize("name", CASES)
def test_where_nothing_is_changed_the_notebook_is_run_once(name, runs):
    setup, solved, tested, *_ = CASES[name]
    assert points(graded(opened(setup, solved, tested))) == {"t0": 1}
    assert runs == [3]


def test_the_student_reads_the_tests_own_words():
    setup, solved, tested, _, wrong = CASES["frame"]
    done = graded(opened(setup, solved, tested), {"answer": wrong[0]})
    (check,) = done.verdict.notebooks[0].cells[0].checks
    assert "leave df alone" in check.message
    assert "has made of df" in "".join(done.log)


@pytest.mark.parametrize(
    "setup",
    [
        "import random, time\ndata = [random.random() for _ in range(5)]\nnow = time.time()",
        "import numpy as np\ndata = np.random.rand(5)\nnow = np.random.default_rng()",
        "import random, os, datetime\ndata = {random.random()}\nnow = [datetime.datetime.now(), os.getpid()]",
        "import threading\ndata = [lambda: 1, threading.Lock()]\nnow = (one for one in data)",
        "import sqlite3\nnow = sqlite3.connect(':memory:')\ndata = {'file': open('/dev/null'), 'self': object()}",
    ],
)
def test_chance_time_and_objects_that_are_no_data_are_no_change(setup, runs):
    done = graded(
        opened(setup, "n = len(data)", "assert n == len(data) and now"), {"answer": "n = sum(1 for _ in data)"}
    )
    assert points(done) == {"t0": 1}
    assert runs == [3]


def with_another_setup(again: str):
    return assignment(
        cell("import random\ndata = [3]", "setup", locked=True), solution("x = 1", "answer"),
        cell(again, "again", locked=True), test("assert x == 1 and len(data) == n == 2", "t0"),
    )  # fmt: skip


def test_a_cell_of_the_instructor_that_changes_its_own_values_is_no_change(runs):
    made = with_another_setup("data.append(4)\nn = len(data)")
    assert points(graded(made, {"answer": "x = 2 - 1"})) == {"t0": 1}
    assert runs == [4]
    assert points(graded(made, {"answer": "x = 1\ndata.append(1)"})) == {"t0": 0}


def test_one_that_changes_them_by_chance_costs_no_points():
    made = with_another_setup("data.append(random.random())\nn = len(data)")
    assert points(graded(made)) == points(graded(made, {"answer": "x = 2 - 1"})) == {"t0": 1}


def test_what_functions_remember_is_counted_once_in_each_run():
    counter = "n = 0\ndef count():\n    global n\n    n += 1\n    return n"
    tests = "assert count() == 1 and data", "assert count() == 2 and data", "assert n == 2 and data"
    done = graded(opened("data = [1]", counter, *tests), {"answer": f"data.append(2)\n{counter}"})
    assert points(done) == {"t0": 1, "t1": 1, "t2": 1}


def test_what_a_test_changes_stays_changed_for_the_next_one():
    tests = "data.clear()\ndata.extend([4, 5])\nassert total(data) == 9", "assert total(data) == 9 and data == [4, 5]"
    done = graded(opened("data = [1]", "total = sum", *tests), {"answer": "data.append(2)\ntotal = sum"})
    assert points(done) == {"t0": 1, "t1": 1}


@pytest.mark.parametrize("answer", ["top = stack.pop()", "top = stack[-1]", "top = 3\nstack.clear()"])
def test_what_the_solution_changes_as_well_costs_nobody_points(answer):
    made = opened("stack = [1, 2, 3]", "top = stack.pop()", "assert top == stack[-1]")
    assert points(graded(made)) == points(graded(made, {"answer": answer})) == {"t0": 1}


def test_the_author_reads_why_a_solution_that_changes_a_value_in_place_loses_points():
    made = opened(FRAME, "df['y'] = df['x'] * 2", "assert 'y' in df.columns")
    problems = list(_solved(made, kernels(), LIMITS, {}))
    assert any("the solution changes df in place" in one and "a name of its own" in one for one in problems)
    assert not list(_solved(opened("data = [2, 1]", "data.sort()\nx = data[0]", "assert x == min(data)"),
                            kernels(), LIMITS, {}))  # fmt: skip


def test_the_lower_number_counts():
    made = opened("data = [1, 2]", "x = 1", "round(0.5 + 0.5 * (len(data) == 2), 2)")
    assert points(graded(made)) == {"t0": 1}
    assert points(graded(made, {"answer": "x = 1\ndata.append(3)"})) == {"t0": 0.5}
    better = opened("data = [1, 2]", "x = 1", "round(0.5 + 0.5 * (len(data) == 3), 2)")
    assert points(graded(better, {"answer": "x = 1\ndata.append(3)"})) == {"t0": 0.5}


#: In the student's kernel, where the grader's own code is only code.
LIES = {
    "nothing changed": "before = student.digest_of(globals(), 'data')\nstudent.digest_of = lambda *_: before",
    "all changed": "student.digest_of = lambda space, name: name",
    "no texts": "student.digest_of = lambda *_: [data]",
    "an error": "student.digest_of = lambda *_: 1 / 0",
    "too much": "student.digest_of = lambda *_: 'x' * 40_000_000",
}


@pytest.mark.parametrize("lie", LIES)
def test_who_lies_about_values_has_no_point_that_an_honest_kernel_has_not(lie):
    made = opened("data = [3, 1, 2]", "total = sum(data)", "assert total == sum(data)", "assert total == 6")
    cheat = f"from autograder.remote import student\n{LIES[lie]}\n"
    assert points(graded(made, {"answer": f"{cheat}data.clear()\ntotal = 0"})) == {"t0": 0, "t1": 0}
    assert points(graded(made, {"answer": f"{cheat}total = sum(data)"})) == {"t0": 1, "t1": 1}


def test_what_the_tester_refuses_the_second_time_says_nothing():
    equal = "class Equal:\n    __eq__ = lambda *_: False\n    __hash__ = None\ndata[0] = Equal()\nx = 1"
    assert points(graded(opened("data = [1]", "x = 1", "assert x == 1 and data[0] == 1"), {"answer": equal})) == {
        "t0": 1
    }


def test_of_large_values_the_number_of_parts_is_seen():
    setup = "import numpy as np\nlarge = np.zeros((2_000_000,))\nmany = list(range(300_000))"
    tests = "assert x == 1 and len(large) == 2_000_000", "assert many[0] == 0"
    made = opened(setup, "x = 1", *tests)
    assert points(graded(made)) == {"t0": 1, "t1": 1}
    assert points(graded(made, {"answer": "x = 1\nlarge = large[1:]\nmany.pop(0)"})) == {"t0": 0, "t1": 0}


def test_notebooks_without_plain_tests_and_tests_of_their_own_values_ask_nothing():
    made = opened("data = [1]\nunread = 2", "x = 1", "assert x == 1")
    assert all(not step.made and not step.watched for step in steps_of(made.source["nb"]))
    made = opened("data = [1]\nunread = 2", "x = 1", "assert x == data[0]")
    setup, _, tested = steps_of(made.source["nb"])
    assert (setup.made, tested.watched) == (("data",), ("data",))
