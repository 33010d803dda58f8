"""What would let the student's code decide a comparison is refused, with a sentence that says why."""

from __future__ import annotations

import pytest

from autograder.remote.link import RemoteDied, RemoteRefused
from tests.remote.kernels import Kernels

CODE = """
class Liar:
    def __eq__(self, other): return True
    __lt__ = __gt__ = __le__ = __ge__ = __contains__ = __eq__
    def __sub__(self, other): return 0.0
    __rsub__ = __add__ = __radd__ = __mod__ = __sub__
    def __hash__(self): return hash(3)
    def __getattr__(self, name): return lambda *a, **k: True
class Number(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    def __hash__(self): return 3
class Text(str):
    def __eq__(self, other): return True
    def startswith(self, *a): return True
    def __contains__(self, item): return True
class Items(list):
    def __eq__(self, other): return True
    def count(self, item): return 3
    def __contains__(self, item): return True
    def __len__(self): return 5
class Point:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return True
    def __add__(self, other): return Point(self.x + other)
    def norm(self): return Liar()
    def __contains__(self, item): return True
def answer(): return Liar()
def number(): return Number(1.5)
def text(): return Text("no")
def items(): return Items([1])
class Bad(Exception): pass
"""
NAMES = ["answer", "number", "text", "items", "Point"]
RIGHT = """
class Point:
    def __init__(self, x): self.x = x
    def __add__(self, other): return Point(self.x + other)
    def norm(self): return 3.0
    def __contains__(self, item): return True
def answer(): return 3.0
def number(): return 1.5
def text(): return "no"
def items(): return [1]
"""
OBJECT = "expected a float, but an object of the student's class Liar came"
REFUSED = {
    "answer() == 3": OBJECT,
    "3 == answer()": OBJECT,
    "answer() < 3": OBJECT,
    "answer() - 3": OBJECT,
    "abs(3 - answer()) < 1e-9": OBJECT,
    "answer() in [1, 2]": OBJECT,
    "answer().startswith('Hello')": OBJECT,
    "Point(3) == 3": "decide what is equal",
    "Point(3).norm() - 3": OBJECT,
    "Point(3) - 3": "where nothing of the solution is asked",
    "import numpy as np; np.testing.assert_allclose(answer(), 3)": OBJECT,
    "import pytest; assert answer() == pytest.approx(3)": OBJECT,
    "class Mine(Point): pass": "derive Mine",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_would_let_the_students_code_decide_is_refused(body):
    kernels = Kernels(CODE.replace("def norm", "__sub__ = __add__\n    def norm"), names=NAMES)
    with pytest.raises(RemoteRefused, match=REFUSED[body]):
        kernels.test(body, RIGHT)
    assert body.startswith("class") or kernels.remote.failures


def test_no_except_clause_of_a_test_hides_a_refusal():
    kernels = Kernels(CODE, names=NAMES)
    exec("try:\n    answer() == 3\nexcept:\n    pass", kernels.tester)
    assert kernels.remote.failures


@pytest.mark.parametrize("body", [
    "assert number() != 3 and not number() == 3 and number() == 1.5",
    "assert abs(number() - 3) == 1.5 and abs(3 - number()) == 1.5",
    "assert not text().startswith('Hello') and text() != 'yes' and 'x' not in text() and text() == 'no'",
    "assert items() != [2] and items() == [1] and items().count(1) == 1 and 9 not in items() and len(items()) == 1",
    "assert isinstance(items(), list) and isinstance(text(), str) and isinstance(number(), float)",
    "assert {1.5: 'a'}[number()] == 'a'",
])  # fmt: skip
def test_a_subclass_of_data_is_compared_by_what_it_holds(body):
    Kernels(CODE, names=NAMES).test(body, RIGHT)


@pytest.mark.parametrize("body", [
    "assert Point(3) == Point(4)",
    "assert (Point(3) + 4).x == 7",
    "assert 8 in Point(3)",
    "assert Point(3) != None and not Point(3) == None",
    "assert answer() is not None and bool(answer())",
    "p = Point(1); p.x = 5; assert p.x == 5 and hasattr(p, 'x') and not hasattr(p, 'y')",
    "assert Point(1).norm().anything()",
])  # fmt: skip
def test_what_a_test_makes_itself_may_use_its_own_operators(body):
    Kernels(CODE, names=NAMES).test(body)


def test_a_kernel_that_is_gone_ends_the_test():
    kernels = Kernels("def f(): return 1")
    kernels.remote._send = lambda text: (_ for _ in ()).throw(RemoteDied("the student's kernel is gone"))
    with pytest.raises(RemoteDied):
        exec("try:\n    f()\nexcept Exception:\n    pass", kernels.tester)
    assert kernels.remote.failures == ["the student's kernel is gone"]


def test_a_kernel_that_was_started_anew_is_asked_again_and_old_handles_say_so():
    kernels = Kernels("class A: pass\ndef f(): return 1", names=["A", "f"])
    exec("old = A()\nold_f = f", kernels.tester)
    kernels.student = dict(kernels.student)
    kernels.remote.bind(["A", "f"])
    kernels.test("assert f() == 1")
    with pytest.raises(RemoteDied, match="started anew"):
        exec("old.x", kernels.tester)


def test_a_function_of_the_test_shows_nothing_but_what_it_returns():
    kernels = Kernels(
        """
        def use(f):
            found = []
            for name in ("__globals__", "__code__", "__closure__", "__defaults__", "__dict__", "__self__", "__func__"):
                try:
                    found.append(repr(getattr(f, name)))
                except BaseException as error:
                    found.append(type(error).__name__)
            return found
        """
    )
    kernels.test("secret = 987654\nfound = use(lambda x, hidden=987654: x)\nassert '987654' not in str(found), found")


@pytest.mark.parametrize("cls", [int, float, str, list, dict, set, bool])
def test_a_class_with_the_name_of_a_class_of_data_is_not_that_class(cls):
    code = f"Named = type({cls.__name__!r}, (), {{'__module__': 'builtins'}})\ndef made(): return Named()"
    kernels = Kernels(code, names=["made"])
    kernels.test(f"assert type(made()).__name__ == {cls.__name__!r}")
    kernels.test(f"assert type(made()) != {cls.__name__} and type(made()) not in (bytes, {cls.__name__})")
