"""Objects that pose as data: no assertion of these passes, whatever their class says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.remote.kernels import Kernels

CODE = """
import collections, numpy as np
class Fake:
    def __init__(s): pass
    __array__ = lambda s, dtype=None, copy=None: np.array([1.,2.])
    @property
    def __array_interface__(s): return {"shape":(10,),"typestr":"<f8","data":(12345,True),"version":3}
    __array_ufunc__ = lambda *a, **k: True
    __array_function__ = lambda *a, **k: True
    __class__ = property(lambda s: int)
def fake(): return Fake()
class D(dict):
    def __eq__(s,o): return True
    def __iter__(s): return iter([])
    def items(s): return []
def d(): return D(a=1)
class S(set):
    def __eq__(s,o): return True
    def issubset(s,o): return True
    def __le__(s,o): return True
def s(): return S([1])
class T(tuple):
    def __eq__(s,o): return True
def t(): return T((1,2))
class A(np.ndarray):
    def __eq__(s,o): return np.array([True])
    def __array_ufunc__(s,*a,**k): return True
def a(): return np.zeros(2).view(A)
from unittest.mock import ANY, MagicMock
def any_(): return ANY
def magic():
    m = MagicMock(); m.__eq__.return_value=True; return m
class Meta(type):
    def __eq__(s,o): return True
    def __hash__(s): return 1
    def __instancecheck__(c,o): return True
class M(metaclass=Meta): pass
def m(): return M
class E(AssertionError): pass
def gen():
    while True: yield Fake()
def it():
    class I:
        def __iter__(s): return s
        def __next__(s): return 1
        def __len__(s): return 2
    return I()
def prop():
    class P:
        shape=(2,); dtype=np.dtype(float)
        def __getattr__(s,n): return True
    return P()
class Str(str):
    def __format__(s,f): return "42"
    def __str__(s): return "yes"
    __repr__=__str__
def st(): return Str("no")
def b():
    class B:
        def __bool__(s): return True
        def __index__(s): return 3
    return B()
class F(float):
    def __abs__(s): return 0.0
    def __round__(s,n=None): return 3.0
    def __float__(s): return 3.0
    def __sub__(s,o): return 0.0
def f(): return F(1)
ns=collections.namedtuple("ns","x")
class NS(ns):
    def __eq__(s,o): return True
    x = property(lambda s: 5)
def nt(): return NS(1)
"""
RIGHT = """
import numpy as np
def fake(): return np.array([3., 4.])
def d(): return {"b": 2}
def s(): return {2}
def t(): return (3, 4)
def a(): return np.ones(2)
def any_(): return 3
magic = m = b = any_
def prop(): return [1]
def st(): return "42"
def f(): return 3.0
def nt(): return (5,)
def it(): return [1]
"""
NAMES = ["fake", "d", "s", "t", "a", "any_", "magic", "m", "prop", "st", "b", "f", "nt", "it"]
ASSERTIONS = [
    "np.testing.assert_allclose(fake(), [3,4])",
    "assert np.allclose(fake(), [3,4])",
    "assert fake()==1",
    "assert isinstance(fake(),int) and fake()+0==1",
    'assert d()=={"b":2}',
    'assert {"b":2}==d()',
    "assert s()=={2}",
    "assert s()<={2}",
    "assert s().issubset({2,3})",
    "assert {2}>=s()",
    "assert t()==(3,4)",
    "assert (3,4)==t()",
    "assert (a()==np.ones(2)).all()",
    "np.testing.assert_array_equal(a(), np.ones(2))",
    "assert any_()==3",
    "assert 3==any_()",
    "assert [any_()]==[3]",
    "assert magic()==3",
    "assert m()==3",
    "assert m()==int",
    "assert prop().equals([1])",
    "assert prop().all_equal([1]) is False",
    "assert b()==3",
    "assert abs(f()-3)<1e-9",
    "assert round(f(),2)==3.0",
    "assert f()==3.0",
    "assert math.isclose(f(),3.0)",
    "assert nt()==(5,)",
    'import unittest; unittest.TestCase().assertEqual(d(),{"b":2})',
    'import unittest; unittest.TestCase().assertDictEqual(d(),{"b":2})',
    "import unittest; unittest.TestCase().assertAlmostEqual(f(),3.0)",
    "import pytest; assert f()==pytest.approx(3.0)",
    'import pytest; assert d()==pytest.approx({"b":2})',
    "assert max(f(),2.5)==3.0",
    "assert np.isclose(f(),3.0)",
    "assert np.array(f())==3.0",
    "assert np.array_equal(t(),[3,4])",
]


@pytest.mark.parametrize("assertion", ASSERTIONS)
def test_no_object_talks_an_assertion_into_passing(assertion):
    kernels = Kernels(CODE, "import math\nimport numpy as np", NAMES)
    with pytest.raises(BaseException):  # noqa: B017
        kernels.test(assertion, RIGHT)


def test_the_same_assertions_pass_where_they_are_in_one_process():
    namespace: dict = {"np": np, "math": math}
    exec(CODE, namespace)
    passed = 0
    for assertion in ASSERTIONS:
        if "fake()" in assertion:  # NumPy would read memory that is not its own
            continue
        try:
            exec(assertion, namespace)
        except Exception:
            continue
        passed += 1
    assert passed >= 20


@pytest.mark.parametrize("cls", [int, float, str, list, dict, set, bool])
def test_a_class_with_the_name_of_a_class_of_data_is_not_that_class(cls):
    code = f"Named = type({cls.__name__!r}, (), {{'__module__': 'builtins'}})\ndef made(): return Named()"
    kernels = Kernels(code, names=["made"])
    kernels.test(f"assert type(made()).__name__ == {cls.__name__!r}")
    kernels.test(f"assert type(made()) != {cls.__name__} and type(made()) not in (bytes, {cls.__name__})")
