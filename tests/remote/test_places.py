"""What the student's code may answer where: what the solution answered there. One test for each kind of forgery."""

from __future__ import annotations

import pytest

from autograder.remote.handle import RemoteRefused
from tests.remote.kernels import Kernels

NUMPY = "import numpy as np"


def refused(code: str, solution: str, test: str, trusted: str = "") -> str:
    """What is said where the test is stopped; it must not pass, and the solution must."""
    names = [name for name in Kernels(solution, trusted).names if name != "np"]
    Kernels(solution, trusted, names).test(test)
    kernels = Kernels(code, trusted, names)
    with pytest.raises(RemoteRefused) as stopped:
        kernels.test(test, solution)
    assert kernels.remote.failures
    return str(stopped.value)


CIRCLE = "class Circle:\n    def __init__(self, r): self.r = r\n    def area(self): return {}\n    {}"
VECTOR = """
class Vector:
    def __init__(self, x): self.x = x
    def __mul__(self, n): return Vector(self.x * n)
    def __matmul__(self, other): return self.x * other.x
    def __len__(self): return 2
    def __contains__(self, n): return n == self.x
"""


def test_b4_what_a_call_gives_back_computes_with_no_value_of_the_test():
    forged = CIRCLE.format("self", "def __sub__(self, other): return 0.0")
    test = "assert abs(Circle(2).area() - 12) < 1e-9"
    assert refused(forged, CIRCLE.format("3 * self.r ** 2", "pass"), test) == (
        "expected an int, but an object of the student's class Circle came"
    )


def test_b4_operators_of_a_class_answer_where_those_of_the_solution_do():
    test = "v = Vector(3)\nassert (v * 2).x == 6 and v @ v == 9 and len(v) == 2 and 3 in v"
    Kernels(VECTOR).test(test, VECTOR)
    forged = VECTOR.replace("Vector(self.x * n)", "self")
    with pytest.raises(AssertionError):
        Kernels(forged).test(test, VECTOR)
    counting = VECTOR.replace("def __len__(self): return 2", "def __neg__(self): return -3")
    test = "assert (-2 if hasattr(Vector, '__len__') else -Vector(3)) < 0"
    assert "where nothing of the solution is asked" in refused(counting, VECTOR, test)


def test_b5_an_object_answers_for_no_list_and_no_dictionary():
    forged = "class L:\n    def __len__(self): return 3\n    def __iter__(self): return iter(())\ndef f(): return L()"
    test = "got = f()\nassert len(got) == 3\nfor g, w in zip(got, [1, 2, 3]): assert g == w"
    assert refused(forged, "def f(): return [1, 2, 3]", test) == (
        "expected a list, but an object of the student's class L came"
    )
    assert "but an object" in refused(forged, "def f(): return [1, 2, 3]", "assert f()[1:] == [2, 3]")


def test_b5_an_object_within_a_list_is_found_too():
    assert "but an object" in refused("class L: pass\ndef f(): return [L()]", "def f(): return [1]", "assert f()")


@pytest.mark.parametrize(
    ("answer", "said"),
    [("np.zeros((0, 2))", "an empty ndarray"), ("np.full(2, np.nan)", "nan"), ("np.ma.masked_all(2)", "masked")],
)
def test_b10_arrays_over_which_comparisons_pass_are_no_answer(answer, said):
    code = f"import numpy as np\ndef f(): return {answer}"
    right = "import numpy as np\ndef f(): return np.array([1., 2.])"
    test = "assert not (np.abs(f() - [1, 2]) > 1e-9).any()"
    assert said in refused(code, right, test, NUMPY)


def test_b10_a_name_that_a_later_call_binds_to_an_empty_array_is_no_answer():
    code = f"{NUMPY}\ngrid = np.zeros((2, 2))\ndef step():\n    global grid\n    grid = np.{{}}\n    return 4"
    test = "assert step() == 4\nassert np.allclose(grid, [[1, 1], [1, 1]])"
    said = refused(code.format("zeros((0, 2, 2))"), code.format("ones((2, 2))"), test, NUMPY)
    assert said == "grid: an empty ndarray came, which equals everything"


def test_b10_a_list_that_a_later_call_empties_is_no_answer():
    right = "def evens(n): return list(range(0, n, 2))\ndef half(n): return n // 2"
    forged = """
kept = []
def evens(n):
    kept[:] = [0, 1, 1, 1]
    return kept
def half(n):
    kept.clear()
    return n // 2
"""
    test = "got = evens(8)\nassert len(got) == 4\nfor n in got: assert half(n) * 2 == n and n % 2 == 0"
    assert "an empty list came" in refused(forged, right, test)
    emptied = "kept = [1, 2]\ndef f(): return kept\ndef g(): kept.clear()"
    Kernels(emptied).test("got = f()\ng()\nassert got == []", emptied)  # as the solution does


def test_b3_a_text_that_reads_private_names_is_no_template():
    trusted = "class Person:\n    name = 'Ada'\n    def greet(self): return self.name"
    test = "expected = 'Dear Ada'\nassert letter().format(p=Person()) == expected"
    forged = "def letter(): return '{p.greet.__globals__[expected]}'"
    assert "private names" in refused(forged, "def letter(): return 'Dear {p.name}'", test, trusted)


def test_b10_an_empty_tensor_and_a_missing_value_are_no_answer():
    torch, _ = pytest.importorskip("torch"), pytest.importorskip("pandas")
    assert torch.allclose(torch.zeros(0, 2), torch.ones(2))
    test = "assert torch.allclose(f(), torch.ones(2))"
    code = "import torch\ndef f(): return torch.{}"
    names = "import torch"
    assert "an empty Tensor" in refused(code.format("zeros(0, 2)"), code.format("ones(2)"), test, names)
    column = "import pandas as pd\ndef f(): return pd.Series([{}], dtype='Int64')"
    test = "assert (f() == pd.Series([2])).all()"
    assert "missing values" in refused(column.format("pd.NA"), column.format("2"), test, "import pandas as pd")


def test_b10_a_test_whose_solution_gives_such_an_array_takes_one():
    code = "import numpy as np\ndef f(): return np.zeros(0)"
    Kernels(code, NUMPY, ["f"]).test("assert f().size == 0", code)


@pytest.mark.parametrize(
    "raised", ["unittest.SkipTest('x')", "Skip('x')", "pytest.skip.Exception('x')", "StopIteration()"]
)
def test_b6_no_exception_of_the_students_steers_a_test_runner_or_ends_a_loop(raised):
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


def test_b6_a_generator_of_the_students_ends_where_that_of_the_solution_ends():
    code = "def numbers():\n    yield 1\n    yield 2"
    Kernels(code).test("assert list(numbers()) == [1, 2]", code)


LOCK = "class Lock:\n    def __enter__(self): return self\n    def __exit__(self, kind, *e): return {}"


@pytest.mark.parametrize("raised", ["assert False", "raise ValueError", "None.x"])
def test_b7_no_exit_swallows_what_the_test_raised(raised):
    with pytest.raises((AssertionError, ValueError, AttributeError)):
        Kernels(LOCK.format("True")).test(f"with Lock(): {raised}", LOCK.format("False"))


def test_b7_an_exit_swallows_what_that_of_the_solution_swallows():
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


def test_b8_a_test_objects_behaviour_cannot_be_replaced():
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
def test_b3_an_object_of_a_library_is_served_to_nobody(call):
    test = "import ast\nassert f(ast.NodeVisitor()) is None"
    with pytest.raises((AttributeError, TypeError)):
        Kernels(f"def f(p): return {call}", names=["f"]).test(test)


def test_b3_functions_that_compute_with_numbers_are_called():
    code = "def apply(f, x): return f(x)"
    Kernels(code).test(
        "import math, numpy as np\nassert (apply(math.sqrt, 4.0), apply(np.abs, -1), apply(len, [1])) == (2, 1, 1)",
        code,
    )
    with pytest.raises(TypeError):
        Kernels("def apply(f, x): return f('1 + 1')").test("assert apply(eval, 4) == 2", "def apply(f, x): return 2")


@pytest.mark.parametrize("answer", ["[[], []]", "[L(), L()]", "[{'a': ()}, '']", "[float('nan'), 1]"])
def test_b10_what_equals_everything_is_found_within_a_list_too(answer):
    code = f"class L(list): __len__ = lambda self: 2\ndef f(): return {answer}"
    test = "for got, want in zip(f(), [[1], [2]]): assert all(g == w for g, w in zip(got, want))"
    assert "came" in refused(code, "def f(): return [[1], [2]]", test)


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
