"""Plain tests in the tester: what earns points, what each kernel gets to see, and what hostile code costs."""

from dataclasses import replace

import pytest

from autograder.assignment.calibration import Calibration, CellCalibration
from autograder.model.limits import Limits
from autograder.pipeline import tester_kernel
from autograder.pipeline.steps import OWN, aligned, parts_of, steps_of
from tests.plain.tiny import assignment, cell, graded, points, solution, test

pytestmark = pytest.mark.slow

#: An assignment of two plain tests, the first of ``square``, the second of ``total``.
HELPERS = "import os\nimport numpy as np\ndef close(a, b):\n    assert abs(a - b) < 1e-9, 'not close'"
SQUARE = solution("def square(x):\n    return x * x", "square_answer")
SQUARED = test(
    "assert square(2) == 4\nprint('seen')\n### BEGIN HIDDEN TESTS\nprint('secret')\nclose(square(3), 9)\n"
    "assert square(5) == 25, 'five'\n### END HIDDEN TESTS",
    "square",
    2,
)
TOTAL = solution("def total(xs):\n    return sum(xs)", "total_answer")
TOTALLED = test("score = 0\nif total([1, 2]) == 3: score += 1\nif total([]) == 0: score += 1\nscore", "total", 2)
OPENED = assignment(cell(HELPERS), SQUARE, SQUARED, TOTAL, TOTALLED)
#: The student's text of ``square`` -> points of the cell, its status, words of its message.
ANSWERS = {
    "def square(x):\n    return x ** 2": (2, "passed", ""),
    "def square(x):\n    return x + x": (0, "failed", "A hidden test failed."),
    "def square(x):\n    return x * x if x < 5 else 1": (0, "failed", "five"),
    "def square(x):\n    return 1": (0, "failed", "This test failed: assert square(2) == 4"),
    "def square(x):\n    return 1 / 0": (0, "failed", "Your code stopped with ZeroDivisionError: division by zero"),
    "raise NotImplementedError()": (0, "failed", "A name is missing"),
    "def square(x):\n    os._exit(0)": (0, "crashed", "ended the Python process"),
    "def square(x):\n    raise SystemExit": (0, "failed", "SystemExit"),
    "def square(x):\n    return 'x' * 40_000_000": (None, "manual", ""),
    "class Equal:\n    __eq__ = lambda *_: True\nsquare = lambda x: Equal()": (None, "manual", ""),
    "close = lambda *_: None\ndef square(x):\n    return 4 if x == 2 else 25 if x == 5 else 0": (0, "failed", "hidden"),
    "import builtins\nbuiltins.abs = lambda x: 0\ndef square(x):\n    return x + x": (0, "failed", "hidden"),
}  # fmt: skip


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_has_the_points_that_its_values_earn_and_costs_no_other_cell(answer):
    done = graded(OPENED, {"square_answer": answer})
    (said, other) = done.verdict.notebooks[0].cells
    earned, status, words = ANSWERS[answer]
    assert (said.points, said.status, said.judged) == (earned, status, "outside")
    assert words in "".join(check.message for check in said.checks)
    assert (other.points, other.status) == (2, "passed")


def test_a_number_as_the_result_is_partial_credit():
    done = graded(OPENED, {"total_answer": "def total(xs):\n    return 3"})
    assert points(done) == {"square": 2, "total": None}
    assert done.verdict.notebooks[0].cells[1].offered == 1


def test_what_the_visible_part_shows_is_kept_and_what_the_hidden_part_shows_is_not():
    done = graded(OPENED, {"square_answer": "def square(x):\n    print('mine', x)\n    return x * x"})
    shown = str(done.notebooks["nb"].cells[2].outputs)
    assert "seen" in shown and "mine 2" in shown
    assert "secret" not in shown and "mine 3" not in shown


def test_the_line_of_the_student_that_stopped_is_named():
    done = graded(OPENED, {"square_answer": "def square(x):\n    y = x\n    return y.missing"})
    (check,) = done.verdict.notebooks[0].cells[0].checks
    assert check.hint.endswith("It stopped at: return y.missing")


def test_the_values_that_came_are_said_of_a_visible_test_and_never_those_that_were_expected():
    hidden = test("### BEGIN HIDDEN TESTS\nassert square(7) == 49\n### END HIDDEN TESTS", "hidden")
    visible = test("expected = 40 + 9\nassert square(7) == expected", "visible")
    done = graded(assignment(SQUARE, visible, hidden), {"square_answer": "def square(x):\n    return [x, {'a': 1.5}]"})
    seen, unseen = done.verdict.notebooks[0].cells
    assert seen.checks[0].message == "This test failed: assert square(7) == expected"
    assert seen.checks[0].hint == "Your code gave [7, {'a': 1.5}]."
    assert "49" not in str(done.notebooks["nb"].cells[1].outputs)
    assert (unseen.checks[0].message, unseen.checks[0].hint) == ("A hidden test failed.", "")


PROBE = """
import gc, sys
traced = set()
def probe(*given):
    found = []
    word = "_".join(["SECRET", "7788"])
    frame = sys._getframe()
    while frame:
        seen = *frame.f_code.co_consts, *frame.f_code.co_names, *frame.f_locals.values()
        found += [text for text in seen if type(text) is str and word in text]
        frame = frame.f_back
    for held in gc.get_objects():
        inside = held.values() if type(held) is dict else held if type(held) in (list, tuple) else ()
        found += [text for text in list(inside) if type(text) is str and word in text]
    found += [text for text in [*In, *traced] if word in text]
    found += [text for _, _, text in get_ipython().history_manager.get_range() if word in text]
    return len([text for text in found if text != word]), os.getcwd()
sys.settrace(lambda frame, event, arg: traced.update(frame.f_code.co_names))
"""


def test_the_students_process_sees_arguments_and_nothing_of_the_test():
    look = """### BEGIN HIDDEN TESTS
import os
SECRET_7788 = 1
found, at = probe()
assert found == 0 and at != os.getcwd()
"""
    opened = assignment(
        cell(HELPERS),
        solution("def probe(*given):\n    return len(given), ''", "probe_answer"),
        test(look + "### END HIDDEN TESTS", "unseen"),
        test("found, place = probe('_'.join(['SECRET', '7788']))\nassert found > 0", "told"),
    )
    # the second shows that the probe finds what is there: its argument, in the request
    told = graded(opened, {"probe_answer": PROBE}).verdict.notebooks[0].cells
    assert [(one.offered, one.refused.split(": ")[1][:14]) for one in told] == [
        (1, "another text ("),
        (1, "another number"),
    ]


BOX = """
class Box:
    def __init__(self, x):
        self.x = x
    def twice(self):
        return 2 * self.x
"""


def test_after_a_crash_the_tests_before_are_executed_again_and_so_their_names_are_of_the_next_kernel():
    opened = assignment(
        cell("kept = []"),
        solution(BOX, "box_answer"),
        test("first = Box(1)\nassert first.twice() == 2", "before"),
        solution("def leave():\n    return 1", "leave_answer"),
        test("assert leave() == 1", "crash"),
        test("box = Box(3)\nassert box.twice() == 6", "after"),
        test("assert first.twice() == 2", "old"),
    )  # fmt: skip
    done = graded(opened, {"leave_answer": "def leave():\n    import os\n    os._exit(1)"})
    assert points(done) == {"before": 1, "crash": 0, "after": 1, "old": 1}


def test_a_crash_that_a_test_would_swallow_fails_its_cell():
    swallow = "try:\n    square(2)\nexcept BaseException:\n    pass"
    opened = assignment(cell(HELPERS), SQUARE, test(swallow, "swallowed"), test("assert square(2) == 4", "next"))
    assert points(graded(opened)) == {"swallowed": 1, "next": 1}
    died = graded(opened, {"square_answer": "def square(x, calls=[]):\n    os._exit(0)"})
    assert points(died) == {"swallowed": 0, "next": 0}


def test_a_trusted_name_is_never_the_students():
    """Also where the cell that binds it failed because of what the student's code gave."""
    opened = assignment(
        SQUARE,
        cell("start = square(1)\ndef equal(a, b):\n    assert a == b"),
        test("equal(square(2), 4)", "equal"),
    )
    assert points(graded(opened)) == {"equal": 1}
    cheat = "def square(x):\n    raise ValueError\ndef equal(a, b):\n    pass"
    assert points(graded(opened, {"square_answer": cheat})) == {"equal": 0}


def test_names_that_a_test_binds_are_there_for_the_cells_below():
    opened = assignment(
        SQUARE,
        test("given = 3\nassert square(given) == 9", "first"),
        solution("def again():\n    return square(given)", "again_answer"),
        test("assert again() == 9", "second"),
    )
    assert points(graded(opened)) == {"first": 1, "second": 1}


@pytest.mark.parametrize("gave", ["4", "-1", "float('nan')", "10 ** 400"])
def test_a_result_beyond_the_points_is_none_and_told(gave):
    opened = assignment(SQUARE, test("square(2)", "shown", 2))
    verdict = graded(opened, {"square_answer": f"def square(x):\n    return {gave}"}).verdict.notebooks[0]
    assert [(said.status, said.points) for said in verdict.cells] == [("failed", 0)]
    assert "no number from 0 to its 2 points" in " ".join(verdict.notes)
    assert gave not in f"{verdict.notes} {verdict.cells[0].checks}".replace("from 0 to its 2", "")


BOTH = Calibration({"nb": {"called": CellCalibration("outside"), "uncalled": CellCalibration("outside")}})


def test_a_test_that_says_nothing_after_a_call_fails_and_one_without_a_call_is_the_graders_fault(monkeypatch):
    opened = assignment(SQUARE, test("assert square(2) == 4", "called"))
    other = assignment(SQUARE, test("assert True", "uncalled"))
    monkeypatch.setattr(tester_kernel, "_outcome", lambda *_: {}["ended"])
    assert points(graded(replace(opened, calibration=BOTH))) == {"called": 0}
    assert points(graded(replace(other, calibration=BOTH))) == {"uncalled": None}


def test_of_a_cell_that_is_judged_in_the_students_kernel_a_part_of_the_points_waits_for_a_person():
    source = "import inspect\nassert 'lambda' not in inspect.getsource(square)\nround(square(1) / 2, 1)"
    opened = assignment(SQUARE, test(source, "source", 2))
    (said,) = graded(opened).verdict.notebooks[0].cells
    assert (said.judged, said.status, said.points, said.offered) == ("kernel", "manual", None, 0.5)
    (said,) = graded(opened, {"square_answer": "square = lambda x: x * x"}).verdict.notebooks[0].cells
    assert (said.judged, said.points, said.status) == ("kernel", 0, "failed")


def test_a_test_is_cut_at_its_markers_where_its_pieces_are_python():
    pieces = parts_of("a = 1\n### BEGIN HIDDEN TESTS\nb = 2\n### END HIDDEN TESTS\nc = 3")
    assert [(one.source, one.hidden) for one in pieces] == [("a = 1", False), ("b = 2", True), ("c = 3", False)]
    within = "for x in y:\n    a(x)\n    ### BEGIN HIDDEN TESTS\n    b(x)\n    ### END HIDDEN TESTS"
    assert [(one.source, one.hidden) for one in parts_of(within)] == [(within, True)]


def test_a_cell_that_a_student_added_is_the_students_whatever_its_id_is():
    trusted = cell("import math")
    opened = assignment(trusted, SQUARE, SQUARED)
    steps = steps_of(opened.source["nb"], {})
    notebook = opened.source["nb"].copy()
    added = cell("math = None")
    added["id"] = trusted["id"]
    notebook.cells = [added, *notebook.cells]
    assert aligned(opened.source["nb"], steps, notebook) == [OWN, *steps]


def test_a_slow_answer_has_the_whole_time_in_each_of_its_two_runs() -> None:
    answer = "import time\ntime.sleep(3)\ndef square(x):\n    return x * x"
    done = graded(OPENED, {"square_answer": answer}, limits=Limits(cell_seconds=5, submission_seconds=5))
    assert [one.points for one in done.verdict.notebooks[0].cells] == [2, 2]


def test_a_test_that_kills_its_kernel_when_it_is_executed_again_costs_no_later_one():
    opened = assignment(
        cell(HELPERS),
        solution("def first():\n    return 1", "first_answer"),
        test("assert first() == 1", "before"),
        solution("def leave():\n    return 1", "leave_answer"),
        test("assert leave() == 1", "crash"),
        SQUARE,
        test("assert square(2) == 4", "after"),
    )
    dies_later = "import os\ndef first():\n    return 1 if 'leave' not in globals() else os._exit(1)"
    answers = {"first_answer": dies_later, "leave_answer": "def leave():\n    os._exit(1)"}
    assert points(graded(opened, answers)) == {"before": 1, "crash": 0, "after": 1}


def test_what_was_told_in_an_answer_that_came_too_late_costs_no_later_test():
    """The student's side has put an object into a list that both hold, and told it in an answer that nobody read."""
    kept = "class Kept:\n    x = 3\nkept = []\ndef make():\n    return kept\n"
    more = "def more():\n    kept.append(2)\n    return kept\n"
    opened = assignment(
        solution(f"{kept}{more}def loop():\n    return 1", "make_answer"),
        test("shared = make()\nassert shared == []", "before"),
        test("assert loop() == 1", "late"),
        test("assert more()[-1] == 2", "after"),
    )
    late = "def loop():\n    kept.append(Kept())\n    while True:\n        pass"
    done = graded(opened, {"make_answer": kept + more + late}, limits=Limits(cell_seconds=3, submission_seconds=60))
    assert points(done) == {"before": 1, "late": 0, "after": 1}


#: Writes on the socket by which the grader speaks with the code that serves calls.
INTRUDER = """
import os, threading, time
from autograder.tester import line
def flood():
    while True:
        for said in (%s):
            try: os.write(line.DESCRIPTOR, said)
            except OSError: time.sleep(0.001)
def square(x):
    %s
    return x + 1000
"""
START = "threading.Thread(target=flood, daemon=True).start()"


@pytest.mark.parametrize(
    ("said", "does", "later"),
    [
        ("b'.' + b'4'", START, {2}),
        ("b'+' + b'x' * 60000", START, {2}),  # a text that never ends
        ("b''", START, {2}),
        ("b'.' + request() + b'4'", START, {0, 2}),  # signed: it may spoil its own later answers
        ("b''", "os.close(line.DESCRIPTOR)", {2}),
        ("b''", "os.dup2(os.open('/dev/zero', os.O_RDWR), line.DESCRIPTOR)", {2}),
        ("b''", "os.read(line.DESCRIPTOR, 1 << 16) if x else 0", {2}),
    ],
)
def test_code_that_writes_on_the_graders_socket_earns_nothing_and_confuses_no_later_cell(said, does, later):
    name = "def request(): return get_ipython().kernel.get_parent('shell')['header']['msg_id'].encode()\n"
    answer = name + INTRUDER % (said, does)
    done = graded(OPENED, {"square_answer": answer}, limits=Limits(cell_seconds=3, submission_seconds=30))
    (one, other) = done.verdict.notebooks[0].cells
    assert one.points == 0 and one.status in ("failed", "crashed", "timeout"), one
    assert other.points in later, other
