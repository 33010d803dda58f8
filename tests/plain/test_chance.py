"""Answers that are objects of random classes earn nothing; random courses have nbgrader's points."""

import contextlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from autograder.model.limits import Limits
from tests.plain import one_process
from tests.plain.one_process import execute, main_module, silent
from tests.plain.tiny import assignment, cell, graded, solution, test

pytestmark = pytest.mark.slow
LIMITS = Limits(cell_seconds=10, submission_seconds=300)
SEEDS = given(st.integers(0, 1 << 32).map(Random))
EACH = settings(max_examples=6, deadline=None, database=None, derandomize=True, phases=[Phase.generate])

TABLES = tomllib.loads((Path(__file__).parent / "chance.toml").read_text(encoding="utf-8"))
FORMS = [(one["want"], form) for one in TABLES["form"] for form in one["tests"]]
HELPERS = "import unittest\nimport numpy as np\nimport pytest\nfrom itertools import cycle"
#: Kind of data -> a wrong value of it.
WRONG = {"object": "", "int": "7", "float": "7.5", "str": "'7'", "list": "[7]", "tuple": "(7, 8)", "dict": "{'z': 7}",
         "set": "{7}", "np.ndarray": "np.array([7.0])"}  # fmt: skip
#: Methods, and what they say where they lie well.
LIES = {
    "True": "__eq__ __lt__ __le__ __gt__ __ge__ __contains__ __instancecheck__ startswith all __array_function__",
    "False": "__ne__", "0.0": "__sub__ __rsub__ __abs__ __mod__",
    "1": "__truediv__ __rtruediv__ bit_length count index __floordiv__ __hash__",
    "4": "__int__ __float__ __index__ __round__ __neg__ __pow__", "3": "__len__ __length_hint__ sum",
    "iter(())": "__iter__ items values __reversed__",
    "self": "__add__ __radd__ __mul__ __matmul__ __getitem__ __call__ __invert__ __divmod__ get upper mean tolist T",
    "np.zeros((0, 2))": "__array__ __array_ufunc__", "'abc'": "__str__ __format__", "(2, 2)": "shape",
}  # fmt: skip
RESULTS = ["True", "False", "0", "2", "''", "[]", "[1, 2, 3]", "{}", "NotImplemented", "np.array(True)", "self", "list"]


@dataclass(frozen=True)
class Chance:
    """A class by chance. methods: what each says in turn. as_class: it stands in the function's place."""

    base: str
    methods: dict[str, list[str]]
    as_class: bool


def class_by(chance: Random) -> Chance:
    share, methods = chance.choice([0.2, 0.6, 1.0]), {}
    for result, names in LIES.items():
        for name in names.split():
            if chance.random() < share:
                methods[name] = [result if chance.random() < 0.8 else one for one in chance.sample(RESULTS, 2)]
    if "__getitem__" in methods:
        methods["__getitem__"].append("[][0]")  # or loops over it never end
    return Chance(chance.choice(list(WRONG)), methods, chance.random() < 0.2)


def answer(name: str, made: Chance) -> str:
    """Code of a function that gives an object of the class, or of the class in its place."""
    array, made_of = made.base == "np.ndarray", f"{name}_({WRONG[made.base]})"
    lines = [f"class {name}_({made.base}):"]
    if made.as_class or not WRONG[made.base]:
        new = "np.array([7.0]).view(cls)" if array else "super().__new__(cls)"
        lines += [f"    def __new__(cls, *a, **k): return {new}", "    def __init__(self, *a, **k): pass"]
    for number, (method, results) in enumerate(made.methods.items()):
        says = ", ".join(f"lambda self: {one}" for one in results)
        lines += [f"    turn{number} = cycle([{says}])",
                  f"    def {method}(self, *a, **k): return next(type(self).turn{number})(self)"]  # fmt: skip
        if method in ("shape", "T"):
            lines.append(f"    {method} = property({method})")
    given_back = f"{WRONG[made.base]}.view({name}_)" if array else made_of
    return "\n".join([*lines, f"{name} = {name}_" if made.as_class else f"def {name}(x): return {given_back}"])


def test_no_wrong_value_passes_one_of_the_tests_and_the_right_one_passes_all():
    for want, form in FORMS:
        for value in filter(None, [want, *WRONG.values()]):
            with silent(), main_module() as space:
                execute(f"{HELPERS}\ndef f(x): return {value}", space)
                try:
                    execute(form, space)
                except Exception:
                    assert value != want, (form, value)
                else:
                    assert value == want, (form, value)


def exercises_by(chance: Random) -> list[tuple[str, str, str]]:
    """Solution, test and answer of twelve exercises."""
    found = []
    for number in range(12):
        want, form = chance.choice(FORMS)
        name = f"f{number}"
        found.append(
            (f"def {name}(x): return {want}", form.replace("f(2)", f"{name}(2)"), answer(name, class_by(chance)))
        )
    return found


def passes_in_one_process(tested: str, answered: str) -> bool:
    with silent(), main_module() as space:
        try:
            execute(f"{HELPERS}\n{answered}", space)
            execute(tested, space)
        except Exception:
            return False
    return True


def test_many_of_the_classes_by_chance_pass_under_nbgrader():
    tried = [passes_in_one_process(*one[1:]) for seed in range(20) for one in exercises_by(Random(seed))]
    assert sum(tried) > len(tried) / 8, sum(tried)


@EACH
@SEEDS
def test_objects_that_answer_by_chance_never_pass_without_doubt(chance):
    cells, answers = [cell(HELPERS, "helpers", locked=True)], {}
    for number, (solved, tested, answered) in enumerate(exercises_by(chance)):
        cells += [solution(solved, f"f{number}_answer"), test(tested, f"f{number}")]
        answers[f"f{number}_answer"] = answered
    verdicts = graded(assignment(*cells), answers, limits=LIMITS).verdict.notebooks[0].cells
    paid = [one.cell for one in verdicts if one.points]
    assert [(name, cells[2 * int(name[1:]) + 2].source, answers[f"{name}_answer"]) for name in paid] == []


@dataclass(frozen=True)
class Block:
    """One exercise: what the instructor gives, what the solution does, what the test reads."""

    given: str
    solution: str
    test: str


#: How a test may ask whether something is true.
WRAPS = ["assert {0}", "ok = {0}\nassert ok, 'no'", "def check():\n    return {0}\nassert check()", "1 if {0} else 0",
         "import unittest\nunittest.TestCase().assertTrue({0})",
         "assert all([{0}])\nassert all(x for x in [1])"]  # fmt: skip


def block_by(chance: Random, number: int) -> Block:
    if chance.random() < 0.5:
        one = chance.choice(TABLES["bound"])
        block = Block("", one["way"], chance.choice(WRAPS).format(one["true"]))
    else:
        one = chance.choice(TABLES["change"])
        way, true = chance.choice(one["ways"]), chance.choice(WRAPS).format(one["true"])
        if chance.random() < 0.5:  # a function, which the test calls
            names = re.findall(r"^(\w_N)(?: [+|])? ?=", way)
            head = f"    global {', '.join(names)}\n" if names else ""
            way, true = f"def do_N():\n{head}    {way}", f"do_N()\n{true}"
        block = Block(one["given"], way, true)
    texts = (block.given, block.solution, block.test)
    return Block(*(text.replace("_N", f"_{number}").replace("(N)", f"({number})") for text in texts))


def in_one_process(found: list[Block], solved: bool) -> dict[str, float]:
    """Points as nbgrader gives them: each cell in one process, an error stops its own cell."""
    points = {}
    with silent(), main_module() as space:
        for number, block in enumerate(found):
            for text in (block.given, block.solution if solved else "raise NotImplementedError"):
                with contextlib.suppress(Exception):
                    execute(text, space)
            try:
                points[f"t{number}"] = one_process.earned(execute(block.test, space), 1)
            except Exception:
                points[f"t{number}"] = 0.0
    return points


@EACH
@SEEDS
def test_courses_by_chance_give_solution_and_blank_the_points_of_one_process(chance):
    found = [block_by(chance, number) for number in range(10)]
    cells = []
    for number, one in enumerate(found):
        if one.given:
            cells.append(cell(one.given, f"g{number}", locked=True))
        cells += [solution(one.solution, f"a{number}"), test(one.test, f"t{number}")]
    opened = assignment(*cells)
    for solved in (True, False):
        answers = {} if solved else {f"a{number}": "raise NotImplementedError" for number in range(len(found))}
        done = graded(opened, answers, limits=LIMITS)
        ours = {one.cell: one.points for one in done.verdict.notebooks[0].cells}
        stock = in_one_process(found, solved)
        told = [(found[int(name[1:])], stock[name], ours[name]) for name in stock if stock[name] != ours[name]]
        assert told == [], "solution" if solved else "untouched"
