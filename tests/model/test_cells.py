"""Cells as IPython reads them: what ``ast`` cannot, in several threads at once; their checksums are nbgrader's."""

import ast
import itertools
import threading

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import compute_checksum

from autograder.model import cells
from autograder.model.cells import checksum_of, tree_of

DEEP = "\n".join(
    f"def f{n}(a):\n    class B:\n        def g(self):\n            return [a for a in range({n}) if a]"
    for n in range(60)
)


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("timing = %timeit -o -q f(10)\nassert timing.best < 1", "timing = None\nassert timing.best < 1"),
        ("names = !ls *.csv\nassert names", "names = None\nassert names"),
        ("first, *rest = !ls\nassert rest", "first, *rest = None\nassert rest"),
        ("if x != 3:\n    %matplotlib inline", "if x != 3:\n    pass"),
        ("%%time\nassert f(2) == 4", "pass\nassert f(2) == 4"),
        ("f?\nassert f(2) == 4", "pass\nassert f(2) == 4"),
        ("np.sum??\n?f\nassert f(2) == 4", "pass\npass\nassert f(2) == 4"),
        ("assert (await f(2)) == 4", "assert (await f(2)) == 4"),
    ],
)
def test_what_ipython_reads_is_no_syntax_error(source: str, read: str) -> None:
    assert ast.unparse(cells.parse(source)) == ast.unparse(ast.parse(read))


@pytest.mark.parametrize("new_cell", [new_code_cell, new_markdown_cell])
@pytest.mark.parametrize(("grade", "solution", "locked"), itertools.product([True, False, None], repeat=3))
def test_the_checksum_of_a_cell_is_nbgraders(new_cell, grade, solution, locked):
    marks = {"grade": grade, "solution": solution, "locked": locked}
    said = {name: value for name, value in marks.items() if value is not None}
    for points in (2, 0.5, "3"):
        cell = new_cell("x = 'ä €'\n", metadata={"nbgrader": {"grade_id": "a", "points": points, **said}})
        assert checksum_of(cell) == compute_checksum(cell)


class Circle:
    """Garbage that runs Python code when it is collected: another thread may go on there."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        threading.Event().wait(0)


@pytest.mark.parametrize(
    ("given", "said"), [("sum", "cell 'sum'"), ("cell-3", "cell 3 ('total = 1')"), ("cell-7", "cell 'cell-7'")]
)
def test_a_cell_that_got_its_id_here_is_told_by_its_first_words(given: str, said: str) -> None:
    assert cells.place(new_code_cell("\ntotal = 1\nprint(total)", id=given), 3) == said


def test_threads_may_read_trees_at_once() -> None:
    failed: list[BaseException] = []

    def read() -> None:
        for _ in range(30):
            [Circle() for _ in range(50)]
            try:
                tree_of(DEEP)
            except SystemError as error:
                failed.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
