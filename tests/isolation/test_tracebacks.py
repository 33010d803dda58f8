"""A traceback in a forked kernel says what it says in any kernel, and does not look through all modules for it."""

from __future__ import annotations

from tests.isolation.conftest import Go, cell, text

#: A cell that fails in itself, in a library and in itself again, as text without colours.
SHOWN = """
import inspect, json, re, sys

def laid_out():
    def fails(values):
        return json.loads(values)
    try:
        fails("{")
    except ValueError:
        lines = get_ipython().InteractiveTB.structured_traceback(*sys.exc_info())
    return re.sub("\\x1b[^m]*m", "", "\\n".join(lines))
"""


def test_it_is_that_of_a_kernel_that_knows_nothing_of_its_cells(go: Go) -> None:
    forget = "inspect.modulesbyfile.clear(), inspect._filesbymodname.clear()"
    ran = go(cell(SHOWN), cell(f"print(laid_out())\n{forget}\nprint('|')\nprint(laid_out())"))
    first, second = text(ran.notebook).replace("\n|\n", "|").strip().split("|")
    assert "fails(values)" in first and "JSONDecodeError" in first and "json/__init__.py" in first
    assert first == second


def test_no_module_is_looked_at_for_the_lines_of_a_cell(go: Go) -> None:
    counted = """
looked = []
is_module = inspect.ismodule
inspect.ismodule = lambda value: looked.append(value) or is_module(value)
try:
    1 / 0
except ZeroDivisionError:
    get_ipython().InteractiveTB.structured_traceback(*sys.exc_info())
inspect.ismodule = is_module
print(len(sys.modules) > 500, len(looked) < 100)
"""
    assert text(go(cell(SHOWN), cell(counted)).notebook).split() == ["True", "True"]
