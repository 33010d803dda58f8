"""Only what the instructor's solution makes a class may compute with the values of a test."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.pipeline.steps import steps_of
from autograder.plain.names import classes_of
from autograder.remote.tester import RemoteRefused
from tests.remote.kernels import Kernels

NEAR = """
class area:
    def __init__(self, r): pass
    __sub__ = lambda self, other: 0.0
"""


def test_a_class_in_place_of_a_function_sees_no_value_of_the_test():
    kernels = Kernels(NEAR)
    kernels.remote.bind(["area"], [])
    with pytest.raises(RemoteRefused):
        kernels.test("assert abs(area(2) - 12.566) < 1e-3")
    assert kernels.remote.failures


def test_a_class_below_one_that_the_instructor_has_is_none_of_the_instructors():
    kernels = Kernels("class Account: pass\n" + NEAR.replace("area:", "area(Account):"))
    kernels.remote.bind(["area", "Account"], ["Account"])
    with pytest.raises(RemoteRefused):
        kernels.test("assert isinstance(Account(), Account)\nassert area(2) - 12.566 == 0")


def test_a_class_that_the_instructor_has_computes_with_the_values_of_the_test():
    kernels = Kernels("class Money:\n    n = 5\n    def __sub__(self, m): return self.n - m")
    kernels.remote.bind(["Money"], ["Money"])
    kernels.test("assert Money() - 3 == 2")


def test_a_name_that_the_test_has_bound_itself_is_never_bound_to_what_the_student_has():
    student = "def twice(f, x):\n    globals().update(wanted=[f(x)])\n    return f(x)"
    kernels = Kernels(student, "def half(x): return x / 2", ["twice", "wanted"])
    with pytest.raises(AssertionError):
        kernels.test("wanted = [2.0]\nassert twice(half, 8) == wanted[0]")


def test_a_name_that_only_the_student_binds_follows_what_a_call_makes_of_it():
    kernels = Kernels("def count():\n    global n\n    n = n + 1\nn = 0", names=["count", "n"])
    kernels.test("count()\ncount()\nassert n == 2")


def test_what_makes_a_class_is_read_from_the_instructors_text():
    source = "from collections import namedtuple\nP = namedtuple('P', 'x')\nclass A: pass\ndef f(): pass\ng = f()"
    assert classes_of(source) == {"P", "A"}
    assert classes_of("class A(:") == frozenset()


def test_a_cell_of_the_tester_knows_the_classes_among_the_students_names():
    def cell(text, name, **marks):
        made = new_code_cell(text)
        made.metadata["nbgrader"] = {"grade_id": name, "grade": False, "solution": False, "locked": False} | marks
        return made

    solution = cell("class A: pass\nclass B: pass\ndef f(): return A()", "answer", solution=True)
    again = cell("def B(): pass", "again", solution=True)
    test = cell("assert isinstance(f(), A) and B() is None", "test", grade=True, locked=True, points=1)
    (*_, step) = steps_of(new_notebook(cells=[solution, again, test]))
    assert (step.remote, step.classes) == (("A", "B", "f"), ("A",))
