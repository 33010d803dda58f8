"""What reaches a test, beside what the solution gave there. One test for each kind of forgery."""

import pytest

from autograder.remote.handle import RemoteRefused
from tests.remote.kernels import Kernels

NUMPY = "import numpy as np"


def told(code: str, solution: str, test: str, trusted: str = "") -> str:
    """What is said of an answer for which the test holds, or was refused; of the solution nothing is."""
    names = [name for name in Kernels(solution, trusted).names if name != "np"]
    assert Kernels(solution, trusted, names).test(test, solution) == []
    kernels = Kernels(code, trusted, names)
    try:
        return kernels.test(test, solution)[0]
    except RemoteRefused as stopped:
        assert kernels.remote.failures
        return str(stopped)


CIRCLE = "class Circle:\n    def __init__(self, r): self.r = r\n    def area(self): return {}\n    {}"
VECTOR = """
class Vector:
    def __init__(self, x): self.x = x
    def __mul__(self, n): return Vector(self.x * n)
    def __matmul__(self, other): return self.x * other.x
    def __len__(self): return 2
    def __contains__(self, n): return n == self.x
"""


L = "class L:\n    def __len__(self): return 3\n    def __iter__(self): return iter(())\n    __sub__ = lambda *_: 0\n"
ARRAY, ARRAY_TEST = f"{NUMPY}\ndef f(): return np.array([1., 2.])", "assert not (np.abs(f() - [1, 2]) > 1e-9).any()"
GRID = f"{NUMPY}\ngrid = np.zeros((2, 2))\ndef step():\n    global grid\n    grid = np.{{}}\n    return 4"
EVENS = "def evens(n): return list(range(0, n, 2))\ndef half(n): return n // 2"
EMPTIED = """
kept = []
def evens(n):
    kept[:] = [0, 2, 4, 6]
    return kept
def half(n):
    kept.clear()
    return n // 2
"""
PERSON = "class Person:\n    name = 'Ada'\n    def greet(self): return self.name"
TORCH = "import torch\ndef f(): return torch.{}"
COLUMN = "import pandas as pd\ndef f(): return pd.Series([{}], dtype='Int64')"
#: The answer, the solution, the test, cells of the course's own, and what is said.
FORGED = {
    "an object that is subtracted from": (
        CIRCLE.format("self", "def __sub__(self, other): return 0.0"), CIRCLE.format("3 * self.r ** 2", "pass"),
        "assert abs(Circle(2).area() - 12) < 1e-9", "", "where nothing of the solution is asked"),
    "an object for a list": (
        f"{L}def f(): return L()", "def f(): return [1, 2, 3]",
        "got = f()\nassert len(got) == 3\nfor g, w in zip(got, [1, 2, 3]): assert g == w", "",
        "where nothing of the solution is asked"),
    "an object within a list": ("class L: pass\ndef f(): return [L()]", "def f(): return [1]", "assert f()", "",
        "came"),
    "an empty array": (f"{NUMPY}\ndef f(): return np.zeros((0, 2))", ARRAY, ARRAY_TEST, NUMPY, "another shape"),
    "nan": (f"{NUMPY}\ndef f(): return np.full(2, np.nan)", ARRAY, ARRAY_TEST, NUMPY, "nan"),
    "masked numbers": (f"{NUMPY}\ndef f(): return np.ma.masked_all(2)", ARRAY, ARRAY_TEST, NUMPY, "masked"),
    "half precision": (
        f"{NUMPY}\ndef f(): return np.float16('inf')", "def f(): return 70000.0", "assert f() == 70000.0", NUMPY,
        "infinity"),
    "an empty name after a call": (
        GRID.format("zeros((0, 2, 2))"), GRID.format("ones((2, 2))"),
        "assert step() == 4\nassert np.allclose(grid, [[1, 1], [1, 1]])", NUMPY, "another shape"),
    "a list that a later call empties": (
        EMPTIED, EVENS, "got = evens(8)\nassert len(got) == 4\nfor n in got: assert half(n) * 2 == n and n % 2 == 0",
        "",        "a value came once, not 4 times"),
    "a text that reads private names": (
        "def letter(): return '{p.greet.__globals__[expected]}'", "def letter(): return 'Dear {p.name}'",
        "expected = 'Dear Ada'\nassert letter().format(p=Person())", PERSON, "another text"),
    "an empty tensor": (
        TORCH.format("zeros(0, 2)"), TORCH.format("ones(2)"), "assert torch.allclose(f(), torch.ones(2))",
        "import torch", "another shape"),
    "a missing value": (
        COLUMN.format("pd.NA"), COLUMN.format("2"), "assert (f() == pd.Series([2])).all()", "import pandas as pd",
        "came"),
    "a library's class under the name of a function": (
        "isclose = slice", "from math import isclose", "assert isclose(1.0, 2.0) or True", "", "a class came"),
    **{answer: (f"class L(list): __len__ = lambda self: 2\ndef f(): return {answer}", "def f(): return [[1], [2]]",
                "for got, want in zip(f(), [[1], [2]]): assert all(g == w for g, w in zip(got, want))", "", "")
       for answer in ("[[], []]", "[L(), L()]", "[[1]]")},
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_is_not_the_solutions_is_told(name):
    *_, trusted, words = FORGED[name]
    for module in ("torch", "pandas"):
        if f"import {module}" in trusted:
            pytest.importorskip(module)
    said = told(*FORGED[name][:4])
    assert words in said and said


def test_an_exit_that_returns_nothing_is_one_that_returns_false():
    assert Kernels(LOCK.format("None")).test("with Lock(): pass", LOCK.format("False")) == []


def test_a_list_that_the_solution_empties_may_be_emptied():
    emptied = "kept = [1, 2]\ndef f(): return kept\ndef g(): kept.clear()"
    assert Kernels(emptied).test("got = f()\ng()\nassert got == []", emptied) == []


@pytest.mark.parametrize("answer", ["(1, 2.0)", "np.array([1, 2])", "[np.float64(1), np.int8(2)]"])
def test_the_same_numbers_in_another_form_are_the_solutions(answer):
    code = f"{NUMPY}\ndef f(): return {answer}"
    assert Kernels(code, NUMPY, ["f"]).test("assert sum(f()) == 3", "def f(): return [1, 2]") == []


def test_operators_of_a_class_answer_where_those_of_the_solution_do():
    test = "v = Vector(3)\nassert (v * 2).x == 6 and v @ v == 9 and len(v) == 2 and 3 in v"
    Kernels(VECTOR).test(test, VECTOR)
    forged = VECTOR.replace("Vector(self.x * n)", "self")
    with pytest.raises(AssertionError):
        Kernels(forged).test(test, VECTOR)
    counting = VECTOR.replace("def __len__(self): return 2", "def __neg__(self): return -3")
    test = "assert (-2 if hasattr(Vector, '__len__') else -Vector(3)) < 0"
    assert "where nothing of the solution is asked" in told(counting, VECTOR, test)


def test_a_test_whose_solution_gives_such_an_array_takes_one():
    code = "import numpy as np\ndef f(): return np.zeros(0)"
    Kernels(code, NUMPY, ["f"]).test("assert f().size == 0", code)


@pytest.mark.parametrize(
    "raised", ["unittest.SkipTest('x')", "Skip('x')", "pytest.skip.Exception('x')", "StopIteration()"]
)
def test_no_exception_of_the_students_steers_a_test_runner_or_ends_a_loop(raised):
    alias = "class Skip(Exception): pass\nSkip.__module__, Skip.__qualname__ = 'numpy.testing', 'SkipTest'"
    kernels = Kernels(f"import unittest, pytest\n{alias}\ndef f(x=None): raise {raised}", names=["f"])
    kernels.test(
        """
        import unittest
        class T(unittest.TestCase):
            def test(self): self.assertTrue(all(got == 1 for got, _ in zip(map(f, [1]), [1])) and False)
        result = unittest.TestResult()
        T("test").run(result)
        assert not result.wasSuccessful() and not result.skipped and result.errors
        """,
        "def f(x=None): return 1",
    )


def test_a_generator_of_the_students_ends_where_that_of_the_solution_ends():
    code = "def numbers():\n    yield 1\n    yield 2"
    Kernels(code).test("assert list(numbers()) == [1, 2]", code)


LOCK = "class Lock:\n    def __enter__(self): return self\n    def __exit__(self, kind, *e): return {}"


@pytest.mark.parametrize("raised", ["assert False", "raise ValueError", "None.x"])
def test_no_exit_swallows_what_the_test_raised(raised):
    with pytest.raises((AssertionError, ValueError, AttributeError)):
        Kernels(LOCK.format("True")).test(f"with Lock(): {raised}", LOCK.format("False"))


def test_an_exit_swallows_what_that_of_the_solution_swallows():
    Kernels(LOCK.format("True")).test("with Lock(): raise KeyError", LOCK.format("kind is KeyError"))


SPY = """
        class Spy:
            def __init__(self): self.seen = []
            def see(self, x): self.seen.append(x)
            def saw(self, xs): return self.seen == xs
        spy = Spy()
        use(spy)
        assert spy.saw([4])
"""


def test_a_test_objects_behaviour_cannot_be_replaced():
    right = "def use(spy): spy.see(4)"
    Kernels(right).test(SPY, right)
    with pytest.raises(Exception, match="saw"):
        Kernels("def use(spy): spy.saw = lambda xs: True").test(SPY, right)
    mock = "from unittest.mock import Mock\nm = Mock()\nuse(m)\nm.assert_called_once_with(4)"
    right = "def use(m): m(4)"
    Kernels(right).test(mock, right)
    with pytest.raises(Exception, match="assert_called_once_with"):
        Kernels("def use(m):\n    m(1)\n    m.assert_called_once_with = lambda *a: None").test(mock, right)


@pytest.mark.parametrize("call", ["p.query('1')", "p.limit_denominator(3)", "p + 1"])
def test_an_object_of_a_library_is_served_to_nobody(call):
    test = "import ast\nassert f(ast.NodeVisitor()) is None"
    with pytest.raises((AttributeError, TypeError)):
        Kernels(f"def f(p): return {call}", names=["f"]).test(test)


def test_functions_that_compute_with_numbers_are_called():
    code = "def apply(f, x): return f(x)"
    Kernels(code).test(
        "import math, numpy as np\nassert (apply(math.sqrt, 4.0), apply(np.abs, -1), apply(len, [1])) == (2, 1, 1)",
        code,
    )
    with pytest.raises(TypeError):
        Kernels("def apply(f, x): return f('1 + 1')").test("assert apply(eval, 4) == 2", "def apply(f, x): return 2")


def test_what_the_solution_leaves_as_it_is_a_students_code_does_not_change_for_the_test():
    right = "def f(x): return [2 * one for one in x]\ndef g(x): x.sort()"
    forged = "def f(x):\n    x[:] = [0]\n    return x\ndef g(x): x.sort()"
    test = "given = [[3], [2, 1]]\nassert f(given[0]) == [2 * one for one in given[0]]"
    Kernels(right).test(test, right)
    with pytest.raises(AssertionError):
        Kernels(forged).test(test, right)
    Kernels(right).test("x = [2, 1]\ny = (x, x)\nassert g(y[0]) is None and x == [1, 2]", right)
    Kernels("def f(x):\n    x.sort()\n    return 2 * x").test(
        "x = [2, 1]\nassert sorted(f(x)) == [1, 1, 2, 2]", right + "\ndef f(x): return 2 * x"
    )
