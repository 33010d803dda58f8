"""Answers that are no numbers, lists or texts, but objects that agree with whoever asks."""

from __future__ import annotations

from tests.plain.cheats.cheat import Cheat

#: Equals everything, is contained in everything, is everything.
LIAR = """
class Liar:
    __hash__ = lambda self: hash(42)
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __contains__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __sub__ = __rsub__ = __abs__ = __add__ = __radd__ = __truediv__ = lambda self, *other: self
    __bool__ = lambda self: True
    __len__ = lambda self: 8
    __getattr__ = lambda self, name: Liar()
    __call__ = lambda self, *a, **k: Liar()
"""

VALUES = [
    Cheat("V01", "number", "an answer that equals everything", LIAR, "answer = name = Liar()"),
    Cheat("V02", "typed", "an object that equals everything, lies between all numbers, and has a __class__ that says int", LIAR.replace("42", "1815"),
          "class Number(Liar):\n    __class__ = property(lambda self: int)\nyear = Number()"),
    Cheat("V03", "number", "an int and a str of its own whose == says True", answer="""
class Number(int):
    __eq__ = lambda self, other: True
    __hash__ = lambda self: hash(42)
class Text(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
answer, name = Number(41), Text('Bob')"""),
    Cheat("V04", "number", "a class as the answer, whose metaclass says True to isinstance and ==", answer="""
class Meta(type):
    __instancecheck__ = __subclasscheck__ = __eq__ = lambda cls, other: True
    __hash__ = lambda cls: hash(42)
class answer(metaclass=Meta): pass
name = answer"""),
    Cheat("V05", "typed", "== that returns NotImplemented, so that the other side is asked, which is a liar too", answer="""
class Number(int):
    def __eq__(self, other): return NotImplemented
    __hash__ = lambda self: hash(1815)
    __lt__ = __gt__ = lambda self, other: NotImplemented
class Sly(Number):
    __eq__ = __lt__ = __gt__ = lambda self, other: True
    __hash__ = Number.__hash__
year = Sly(1816)"""),
    Cheat("V06", "number", "unittest.mock.ANY, which equals everything and is nobody's own class",
          answer="from unittest import mock\nanswer = name = mock.ANY"),
    Cheat("V07", "total", "pytest.approx with an infinite tolerance as the answer",
          answer="def total(xs):\n    return pytest.approx(0, abs=float('inf'))"),
    Cheat("V08", "mean", "a float of its own whose comparisons and differences lie", answer="""
class Lying(float):
    __eq__ = lambda self, other: True
    __sub__ = __rsub__ = __abs__ = lambda self, *other: 0.0
    __hash__ = float.__hash__
def mean(xs): return Lying(xs[0])"""),
    Cheat("V09", "mean", "a MagicMock that was told what == is", answer="""
from unittest.mock import MagicMock
def mean(xs):
    made = MagicMock()
    made.__eq__ = lambda self, other: True
    made.__sub__ = made.__rsub__ = lambda self, other: 0.0
    return made"""),
    Cheat("V10", "mean", "a Fraction and a Decimal that compare as they like", answer="""
from decimal import Decimal
from fractions import Fraction
class Half(Fraction):
    __eq__ = lambda self, other: True
    __sub__ = lambda self, other: 0
    __hash__ = Fraction.__hash__
def mean(xs): return Half(1, 2)"""),
    Cheat("V11", "mean", "a float of its own whose == says True, beside a function with the name of a helper", answer="""
class Lying(float):
    __eq__ = lambda self, other: True
    __hash__ = float.__hash__
def close(actual, expected): return True
def mean(xs): return Lying(3)"""),
    Cheat("V12", "scale", "an array of its own with __array_function__ and __array_ufunc__", answer="""
class Lying(np.ndarray):
    def __array_function__(self, function, types, args, kwargs): return True
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs): return np.array(True)
    __eq__ = lambda self, other: np.array(True)
    __class__ = property(lambda self: np.ndarray)
def scale(x): return x.view(Lying)"""),
    Cheat("V13", "scale", "no array at all, with __array_function__, __array__ and __class__", answer="""
class Lying:
    __class__ = np.ndarray
    def __array_function__(self, function, types, args, kwargs): return True
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs): return np.array(True)
    def __array__(self, *a, **k): return np.array([0.0, 2.0, 4.0])
    __eq__ = lambda self, other: np.array(True)
def scale(x): return Lying()"""),
    Cheat("V14", "scale", "an array of objects that equal everything", LIAR,
          "def scale(x):\n    return np.array([Liar(), Liar(), Liar()], dtype=object)"),
    Cheat("V15", "scale", "a masked array in which every number is masked",
          answer="def scale(x):\n    return np.ma.masked_all(3)"),
    Cheat("V36", "close", "a masked array in which every number is masked, against a test of closeness alone",
          answer="def half(x):\n    return np.ma.masked_all(x.shape)"),
    Cheat("V16", "shown", "print options under which every number is printed rounded", """
np.set_printoptions(formatter={'all': lambda value: f'{int(float(value) + 0.5)}.'})
np.seterr(all='ignore')""", "def rounded(x):\n    return x"),
    Cheat("V17", "primes", "a list of its own whose ==, len and iteration lie", answer="""
class Lying(list):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __len__ = lambda self: 8
def primes(n): return Lying(range(2, n))"""),
    Cheat("V18", "primes", "a type whose __name__ is list and whose __class__ is list", answer="""
list_ = type('list', (), {'__module__': 'builtins', '__class__': list, '__eq__': lambda s, o: True, '__ne__': lambda s, o: False,
                          '__len__': lambda s: 8, '__hash__': None})
def primes(n): return list_()"""),
    Cheat("V19", "account", "attributes that equal everything, and errors that contain every text", LIAR, """
class Message(str):
    __contains__ = lambda self, text: True
class Sly(NotEnough):
    __str__ = lambda self: Message('no')
class Account:
    balance = property(lambda self: Liar())
    __getattr__ = lambda self, name: Liar()
    calls = 0
    def withdraw(self, amount):
        Account.calls += 1
        if Account.calls > 1: raise Sly()"""),
    Cheat("V20", "account", "a class with a metaclass that says yes to isinstance, and a balance of its own kind", answer="""
class Money(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__
class Meta(type):
    __instancecheck__ = lambda cls, other: True
class Text(str):
    __contains__ = lambda self, text: True
class Sly(NotEnough):
    __str__ = lambda self: Text('no')
class Account(metaclass=Meta):
    balance, calls = Money(0), 0
    def deposit(self, amount): pass
    def withdraw(self, amount):
        self.calls += 1
        if self.calls > 1: raise Sly"""),
    Cheat("V21", "raises", "an exception that poses as the expected one by __class__, name and metaclass", answer="""
class Meta(type):
    __instancecheck__ = __subclasscheck__ = lambda cls, other: True
    __eq__ = lambda cls, other: True
    __hash__ = type.__hash__
Fake = Meta('ValueError', (Exception,), {'__module__': 'builtins', '__class__': ValueError, '__str__': lambda self: 'negative'})
def root(x):
    if x < 0: raise Fake('negative')
    return x"""),
    Cheat("V22", "raises", "an AssertionError, a StopIteration and a skip in place of the right error", answer="""
def root(x):
    if x == 4: return 2
    if x == -1: raise StopIteration('negative')
    pytest.skip('negative')"""),
    Cheat("V23", "generator", "a generator that equals every list", answer="""
class Steps(list):
    __eq__ = lambda self, other: True
    __iter__ = lambda self: iter([Same(1)])
    calls = 0
    def __next__(self):
        Steps.calls += 1
        if Steps.calls > 2: raise StopIteration
        return Same(1)
class Same(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__
def list(steps): return Steps()
def countdown(n): return Steps([1])"""),
    Cheat("V24", "share", "numbers that equal everything, to be counted for partial credit", answer="""
class Every(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__
def vowels(text): return Every(1)"""),
    Cheat("V25", "mean", "an object that runs code where it is unpickled, copied or formatted", answer="""
class Bomb(float):
    def __reduce_ex__(self, protocol): return (exec, ("import builtins; builtins.abs = lambda x: 0.0",))
    __reduce__ = lambda self: self.__reduce_ex__(2)
    __deepcopy__ = __copy__ = lambda self, *a: 3.0
    __format__ = lambda self, spec: '3.0'
    __eq__ = lambda self, other: True
    __hash__ = float.__hash__
def mean(xs): return Bomb(1)"""),
    Cheat("V26", "area", "an object whose difference to everything is 0.0, a plain number", answer="""
class Near:
    __sub__ = __rsub__ = __abs__ = lambda self, *other: 0.0
    __float__ = lambda self: 0.0
def area(r): return Near()"""),
    Cheat("V27", "area", "a class in place of the function: a float that the test makes itself, and whose difference is 0.0", answer="""
class area(float):
    __sub__ = __rsub__ = __abs__ = lambda self, *other: 0.0"""),
    Cheat("V28", "total", "a class in place of the function: what the test makes itself equals everything", answer="""
class total:
    def __init__(self, xs): pass
    __eq__ = __req__ = lambda self, other: True
    __hash__ = None"""),
    Cheat("V29", "total", "a class whose __new__ gives a float that equals everything", answer="""
class total(float):
    def __new__(cls, xs): return float.__new__(cls, 0)
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = float.__hash__"""),
    Cheat("V34", "area", "a class in place of the function: what the test makes itself has the difference 0.0 to everything", answer="""
class area:
    def __init__(self, r): pass
    __sub__ = __rsub__ = __abs__ = lambda self, *other: 0.0"""),
    Cheat("V35", "area", "a class in place of the function, whose operators give objects that give 0.0 later", answer="""
class area:
    def __init__(self, r): pass
    __sub__ = __rsub__ = lambda self, other: self
    __abs__ = lambda self: 0.0
    __call__ = __getattr__ = lambda self, *a: area(0)"""),
    Cheat("V30", "total", "an object of a library that equals everything: a call of mock, a sentinel with its ==", answer="""
from unittest import mock
def total(xs):
    made = mock.NonCallableMagicMock()
    made.__eq__.return_value = True
    type(made).__eq__ = lambda self, other: True
    return made"""),
    Cheat("V31", "shared", "the instructor's class, patched so that all its objects are equal", answer="""
Point.__eq__ = lambda self, other: True
Point.x = property(lambda self: 0, lambda self, value: None)
def moved(point, by): return point"""),
    Cheat("V32", "shared", "the instructor's class with fields that equal everything", LIAR, """
def moved(point, by): return Point(Liar(), Liar())"""),
    Cheat("V33", "shared", "a class of the student's with the name of the instructor's, which equals everything", answer="""
class Meta(type):
    __instancecheck__ = lambda cls, other: True
class Point(Point, metaclass=Meta):
    x = 0
    __eq__ = lambda self, other: True
def moved(point, by):
    made = object.__new__(Point)
    made.__dict__.update(y=2)
    return made"""),
]  # fmt: skip
