"""What changes in one kernel changes in the other: arguments, names, what a call handed over."""

import pytest

from tests.remote.kernels import Kernels

CODE = """
import random
import numpy as np
log = []
count = 0
table = {"a": [1]}
class Cart:
    def __init__(self): self.items = []
    def add(self, item): self.items.append(item)
    def safe(self): return list(self.items)
    def total(self): return sum(self.items)
cart = Cart()
def note(text):
    global count
    count += 1
    log.append(text)
def rebind():
    global log
    log = ["new"]
def drop():
    global count
    del count
def total(): return sum(len(values) for values in table.values())
def draw(): return random.random(), float(np.random.rand())
"""
ARGUMENTS = {
    "list": ("[3, 1]", "value.sort()", "[1, 3]"), "dict": ("{'a': 1}", "value['b'] = 2", "{'a': 1, 'b': 2}"),
    "set": ("{1}", "value.add(2)", "{1, 2}"),
    "bytearray": ("bytearray(b'a')", "value.extend(b'b')", "bytearray(b'ab')"),
    "nested": ("[[1], [2]]", "value[0].append(5)", "[[1, 5], [2]]"),
    "deque": ("collections.deque([1])", "value.appendleft(0)", "collections.deque([0, 1])"),
    "counter": ("collections.Counter('aa')", "value.update('b')", "collections.Counter('aab')"),
    "array": ("np.zeros(3)", "value[1] = 4", "np.array([0.0, 4, 0])"),
    "object": ("Point(1)", "value.x = 7; value.extra = 'e'", "Point(7)"),
}  # fmt: skip
TRUSTED = """
import collections
import numpy as np
class Point:
    def __init__(self, x): self.x = x
    def __eq__(self, other): return self.x == other.x
"""


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_an_argument_that_is_changed_in_place_is_changed_for_the_test(kind):
    given, change, expected = ARGUMENTS[kind]
    kernels = Kernels(f"def change(value): {change}", TRUSTED)
    kernels.test(f"""
        value = {given}
        alias = value
        assert change(value) is None
        assert np.all(value == {expected}) and alias is value
    """)


@pytest.mark.parametrize("body", [
    "before = log; note('a'); note('b'); assert log == ['a', 'b'] and before is log",
    "note('a'); assert count == 1",
    "rebind(); assert log == ['new']",
    "table['b'] = [2, 3]; assert total() == 3",
    "table['a'].append(9); assert total() == 2",
    "cart.items.append(5); assert cart.total() == 5",
    "items = cart.items; cart.add(2); assert items == [2]",
    "copy = cart.safe(); copy.append(5); assert cart.total() == 0 and copy == [5]",
    "for n in range(200): cart.add(n)\nassert cart.total() == 19900 and len(cart.items) == 200",
])  # fmt: skip
def test_names_and_parts_of_objects_stay_the_same_on_both_sides(body):
    Kernels(CODE).test(body)


def test_a_name_that_a_call_deletes_is_gone():
    with pytest.raises(NameError):
        Kernels(CODE).test("drop()\ncount")


def test_a_seed_of_the_test_is_the_students_seed():
    Kernels(CODE).test("""
        import random
        import numpy as np
        random.seed(4); np.random.seed(5)
        one = draw()
        assert draw() != one
        random.seed(4); np.random.seed(5)
        assert draw() == one
    """)


def test_an_argument_that_the_student_keeps_is_followed():
    kernels = Kernels(
        "class Box:\n    def __init__(self, items): self.items = items\n    def size(self): return len(self.items)"
    )
    kernels.test("items = [1]\nbox = Box(items)\nitems.append(2)\nassert box.size() == 2")


def test_what_nobody_can_reach_any_more_is_forgotten_on_both_sides():
    kernels = Kernels("def make(n): return [n] * 10\ndef keep(values): return values[0]")
    kernels.test("for n in range(500): assert keep(make(n)) == n")
    assert len(kernels.remote.shared) < 100


def test_a_grid_of_many_lists_is_there_for_every_cell_and_follows_each_change():
    code = "grid = [[[n] for n in range(3)] for _ in range(200)]\ndef make(): return [[n] for n in range(200)]"
    kernels = Kernels(f"{code}\ndef f(): return 1\ndef change(): grid[150][1][0] = 9")
    for value in (1, 9, 9):
        kernels.remote.bind(kernels.names)
        kernels.test(f"""
            got = make()
            assert f() == 1 and f() == 1 and got == [[n] for n in range(200)]
            assert grid[150][1] == [{value}] and len(grid) == 200
            change()
            assert grid[150][1] == [9] and make() == got
        """)
