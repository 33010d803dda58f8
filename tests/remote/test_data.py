"""Data crosses between the kernels as it is: the same type, the same content, the same shared parts."""

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.remote.alike import DATA, alike
from tests.remote.kernels import Kernels

FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
TRUSTED = """
import collections, dataclasses, enum
@dataclasses.dataclass
class Point:
    x: float
    y: list = dataclasses.field(default_factory=list)
@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    a: int
Pair = collections.namedtuple("Pair", "left right")
class Node:
    __slots__ = ("value", "next")
    def __init__(self, value, next=None):
        self.value, self.next = value, next
class Bag(dict):
    def total(self): return sum(self.values())
class Colour(enum.Enum):
    RED = 1
class Level(enum.IntEnum):
    LOW = 1
class Celsius(float):
    pass
"""


def arrived(value: Any) -> Any:
    """The value as the tester gets it from the student's kernel."""
    kernels = Kernels("", names=[])
    kernels.student["value"] = value
    kernels.remote.bind(["value"])
    return kernels.tester["value"]


@FEW
@given(DATA)
def test_data_from_the_student_has_its_type_and_content(value):
    assert alike(arrived(value), value)


@pytest.mark.slow
@FEW
@given(DATA)
def test_data_from_the_test_has_its_type_and_content_in_the_students_kernel(value):
    kernels = Kernels("def keep(value):\n    global kept\n    kept = value")
    kernels.tester["keep"](value)
    assert alike(kernels.student["kept"], value)


@FEW
@given(
    arrays.arrays(st.one_of(arrays.scalar_dtypes(), arrays.array_dtypes()), arrays.array_shapes(min_dims=0, min_side=0))
)
def test_an_array_has_its_shape_type_and_bytes(value):
    other = arrived(value)
    assert type(other) is type(value)
    assert other.dtype == value.dtype and other.shape == value.shape and other.tobytes() == value.tobytes()


@FEW
@given(arrays.from_dtype(np.dtype("f4")) | arrays.from_dtype(np.dtype("M8[s]")) | arrays.from_dtype(np.dtype("i2")))
def test_a_numpy_scalar_stays_one(value):
    other = arrived(value)
    assert type(other) is type(value) and other.dtype == value.dtype and other.tobytes() == value.tobytes()


@pytest.mark.parametrize(
    "value",
    [
        np.array([1, "a", None, [2]], dtype=object), np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
        np.asfortranarray(np.arange(6).reshape(2, 3)), np.matrix([[1, 2]]), np.ma.array([1, 2], mask=[True, False]),
    ],
    ids=["objects", "records", "fortran", "matrix", "masked"],
)  # fmt: skip
def test_kinds_of_arrays(value):
    other = arrived(value)
    assert type(other) is type(value) and other.dtype == value.dtype and other.tolist() == value.tolist()
    assert other.flags.f_contiguous == value.flags.f_contiguous


@pytest.mark.parametrize("make", ["random.Random(3)", "np.random.default_rng(3)", "np.random.RandomState(3)"])
def test_a_generator_of_the_test_is_drawn_from_in_the_students_kernel(make):
    code = "def draw(generator): return [float(generator.uniform(0, 1)) for _ in range(3)]"
    Kernels(code).test(f"""
        import random, numpy as np
        here, there = {make}, {make}
        assert draw(there) == [here.uniform(0, 1) for _ in range(3)] and here.uniform(0, 1) == there.uniform(0, 1)
    """)


@pytest.mark.parametrize("text", [
    "Point(1.0, [2, Point(3)])", "Fixed(4)", "Pair(1, [2])", "Node(1, Node(2))", "Bag(a=1)", "Colour.RED", "Level.LOW",
    "Celsius(21.5)", "[Point, Colour, Node]",
])  # fmt: skip
def test_objects_of_the_courses_own_classes_cross_by_what_they_hold(text):
    kernels = Kernels(f"value = {text}\ndef same(given): return type(given).__name__", TRUSTED)
    theirs, ours = kernels.tester["value"], eval(text, kernels.tester)
    assert type(theirs) is type(ours)
    shown = (lambda v: (v.value, v.next.value)) if text.startswith("Node") else lambda v: v
    assert shown(theirs) == shown(ours)
    assert kernels.tester["same"](ours) == type(ours).__name__


def test_a_value_that_holds_itself_arrives_so():
    value: list = [1]
    value.append({"self": value})
    other = arrived(value)
    assert other[1]["self"] is other


def test_a_list_of_ten_thousand_levels_crosses():
    value: list = []
    for _ in range(10_000):
        value = [value]
    other, depth = arrived(value), 0
    while other:
        other, depth = other[0], depth + 1
    assert depth == 10_000


def test_two_names_of_one_list_are_one_list():
    kernels = Kernels("a = [1]\nb = a\nc = {'a': a}")
    kernels.test("assert a is b and c['a'] is a")


def test_a_text_file_that_is_passed_is_written_into():
    kernels = Kernels("def report(file): print('total', 3, file=file)")
    kernels.tester["file"] = io.StringIO()
    kernels.test("report(file=file)\nassert file.getvalue() == 'total 3\\n'")
