"""What the rebuild makes of a damaged notebook: the work's own points, a note, and never a final 0 beside words.

Random damage is compared with what nbgrader gives. Both are judged in one way: the cells are executed in order, errors
and all, as nbgrader's Execute does, and a test that ends without an error has its points. One test holds this against
real runs of both.
"""

import copy
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.model import cells
from autograder.model.cells import checksum_of
from autograder.model.course import Course
from autograder.model.submitted_cells import SubmittedCell, read_submitted
from autograder.pipeline.rebuild import rebuild
from tests import damaged_lab as lab
from tests.damaged_lab import Cell, Notebook, answered, at, changed, name_of, retyped

#: What is done to the file: (name of the deed, numbers that say where).
Deed = tuple[str, int, int]


def merge(found: list[Cell], here: int, keep: int) -> None:
    """As Jupyter does it: the text of both, with the metadata of one."""
    here %= len(found) - 1
    first, second = found[here], found[here + 1]
    text = f"{first['source']}\n\n{second['source']}"
    found[here : here + 2] = [(first, second)[keep % 2] | {"source": text}]


def split_cell(found: list[Cell], here: int, line: int) -> None:
    """Both halves keep the metadata, or the first alone does."""
    here %= len(found)
    lines = found[here]["source"].split("\n")
    cut = line % (len(lines) + 1)
    second = copy.deepcopy(found[here]) | {"source": "\n".join(lines[cut:])}
    if line % 2:
        second["metadata"] = {}
    found[here : here + 1] = [found[here] | {"source": "\n".join(lines[:cut])}, second]


def double(found: list[Cell], here: int, there: int) -> None:
    found.insert(there % (len(found) + 1), copy.deepcopy(found[here % len(found)]))


def begin_anew(found: list[Cell], here: int, lines: int) -> None:
    """A half-finished copy above."""
    here %= len(found)
    text = found[here]["source"]
    found.insert(here, copy.deepcopy(found[here]) | {"source": text[: len(text) // (2 + lines % 3)]})


def switch_off(found: list[Cell], here: int, kind: int) -> None:
    """A copy of another type below."""
    here %= len(found)
    other = "raw" if kind % 2 else "markdown" if found[here]["cell_type"] == "code" else "code"
    found.insert(here + 1, retyped(found[here], other) | {"source": "An earlier draft, for me"})


def retype(found: list[Cell], here: int, kind: int) -> None:
    here %= len(found)
    found[here] = retyped(found[here], ("markdown", "code", "raw")[kind % 3])


def lose_mark(found: list[Cell], here: int, _: int) -> None:
    found[here % len(found)]["metadata"] = {}


def lose_all(found: list[Cell], _: int, __: int) -> None:
    for cell in found:
        cell["metadata"] = {}


def move(found: list[Cell], here: int, there: int) -> None:
    cell = found.pop(here % len(found))
    found.insert(there % (len(found) + 1), cell)


def delete_stub(found: list[Cell], here: int, _: int) -> None:
    """Delete a cell, but none with an answer: what is gone cannot be graded."""
    if re.search("NotImplementedError|YOUR ANSWER", found[here % len(found)]["source"]):
        found.pop(here % len(found))


def elsewhere(found: list[Cell], here: int, there: int) -> None:
    """Take what stands in a cell into a new one, and leave the cell empty."""
    here %= len(found)
    cell = found[here]
    fresh = retyped({"metadata": {}, "source": cell["source"]}, cell["cell_type"])
    found[here] = cell | {"source": ""}
    found.insert(there % (len(found) + 1), fresh)


def touch(found: list[Cell], here: int, where: int) -> None:
    """White space, as editors leave it."""
    text = found[here % len(found)]["source"]
    found[here % len(found)]["source"] = f"\n{text}" if where % 2 else f"{text}\n "


_DEEDS = (
    merge, split_cell, double, begin_anew, switch_off, retype, lose_mark, lose_all, move, delete_stub, elsewhere, touch,
)  # fmt: skip
DEEDS: dict[str, Callable[[list[Cell], int, int], None]] = {deed.__name__: deed for deed in _DEEDS}
numbers = st.integers(0, 30)
deeds: st.SearchStrategy[list[Deed]] = st.lists(
    st.tuples(st.sampled_from(sorted(DEEDS)), numbers, numbers), min_size=1, max_size=3
)


def damaged(notebook: Notebook, done: Iterable[Deed]) -> Notebook:
    other = copy.deepcopy(notebook)
    for name, here, there in done:
        if len(other["cells"]) > 1:
            DEEDS[name](other["cells"], here, there)
    return other


@dataclass(frozen=True)
class Graded:
    """``tests``: grade id -> whether it passed, of tests in code; ``decided``: written answers with a final 0."""

    tests: dict[str, bool]
    decided: set[str]
    text: str
    notes: str = ""


def by_nbgrader(source: NotebookNode, release: NotebookNode, sent: Notebook) -> Graded:
    """DeduplicateIds, OverwriteCells and Execute, in words of our own."""
    ours = {cells.grade_id(cell): cell for cell in source.cells if cells.grade_id(cell)}
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells}
    found, seen = [], set()
    for cell in reversed(sent["cells"]):
        name, kind, text = name_of(cell), cell["cell_type"], cell["source"]
        if name in seen or name not in ours:
            name = ""
        if name:
            seen.add(name)
            kind = ours[name].cell_type
            text = ours[name].source if cells.is_locked(ours[name]) else text
        found.append((name, kind, text))
    tests, decided = executed(found[::-1], {name for name, cell in ours.items() if cells.is_autograded(cell)}), set()
    for name, _, text in found:
        if name and cells.is_manually_graded(ours[name]) and text == stubs[name]:
            decided.add(name)
    return Graded(tests, decided, "")


def by_rebuild(source: NotebookNode, release: NotebookNode, sent: Notebook) -> Graded:
    made = rebuild(source, release, read_submitted(json.dumps(sent).encode()))
    nbformat.validate(made.notebook)
    found = [(cells.grade_id(cell) or "", cell.cell_type, cell.source) for cell in made.notebook.cells]
    tests = executed(found, {cells.grade_id(cell) for cell in source.cells if cells.is_autograded(cell)})
    decided = {
        cells.nbgrader(cell)["grade_id"]
        for cell in made.notebook.cells
        if cells.is_manually_graded(cell) and cells.nbgrader(cell)["checksum"] == checksum_of(cell)
    }
    text = "\n".join(text for _, _, text in found)
    return Graded(tests, decided - made.waiting, text, " ".join(made.notes))


def executed(found: Iterable[tuple[str, str, str]], tests: set[str | None]) -> dict[str, bool]:
    space: dict[str, object] = {}
    passed = dict.fromkeys(filter(None, tests), False)
    for name, kind, text in found:
        if kind != "code":
            continue
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                exec(compile(text, "cell", "exec"), space)
        except Exception:
            continue
        if name in passed:
            passed[name] = True
    return passed


#: What nbgrader's own preprocessors and ours make of these is compared with real runs of both. Doubled cells are not
#: among them: nbgrader takes the mark off one, and then refuses the notebook for its empty metadata.
RUN_FOR_REAL: dict[str, list[Deed]] = {
    "merged": [("merge", 1, 0), ("merge", 2, 1)],
    "retyped": [("retype", 1, 0), ("retype", 6, 1)],
    "lost": [("lose_mark", 1, 0), ("lose_mark", 3, 0)],
    "moved": [("move", 3, 0), ("elsewhere", 6, 2)],
    "bare": [("lose_all", 0, 0)],
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return lab.make_lab(tmp_path_factory.mktemp("harm") / "course")


def notebooks(course: Course) -> tuple[NotebookNode, NotebookNode]:
    source, release = (folder / f"{lab.NAME}.ipynb" for folder in (course.source(lab.LAB), course.release(lab.LAB)))
    return nbformat.read(source, 4), nbformat.read(release, 4)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(everything=st.booleans(), done=deeds)
def test_damage_never_costs_points_that_nbgrader_gives_and_leaves_no_final_0_beside_words(
    course: Course, everything: bool, done: list[Deed]
) -> None:
    source, release = notebooks(course)
    whole = lab.answered(course)
    if not everything:
        lab.at(whole, "cube")["source"] = lab.at(lab.released(course), "cube")["source"]
    sent = damaged(whole, done)
    theirs, ours = by_nbgrader(source, release, sent), by_rebuild(source, release, sent)
    assert all(ours.tests[name] >= passed for name, passed in theirs.tests.items())
    if any(lab.WORDS in cell["source"] for cell in sent["cells"]):
        assert "explain" not in ours.decided
        assert lab.WORDS in ours.text


@pytest.mark.slow
def test_what_the_property_compares_is_what_nbgrader_and_the_grader_do(course: Course, tmp_path: Path) -> None:
    source, release = notebooks(course)
    stock = lab.make_lab(tmp_path / "stock")
    expected, theirs = {}, {}
    for student, done in RUN_FOR_REAL.items():
        sent = damaged(lab.answered(course), done)
        expected[student], theirs[student] = by_rebuild(source, release, sent), by_nbgrader(source, release, sent)
        for one in (course, stock):
            lab.hand_in(one, student, sent)
    lab.run(course, "grade", lab.LAB)
    command = [sys.executable, "-m", "nbgrader", "autograde", lab.LAB]
    subprocess.run(command, cwd=stock.root, check=True, capture_output=True)
    for one, told in ((course, expected), (stock, theirs)):
        with Gradebook(one.db_url) as book:
            for student, graded in told.items():
                notebook = book.find_submission_notebook(lab.NAME, lab.LAB, student)
                points = {grade.name: grade.auto_score for grade in notebook.grades}
                tests = {name: bool(points[name]) for name in ("test_square", "test_cube")}
                assert tests == graded.tests, (one.root, student)
                assert (points["explain"] == 0) == ("explain" in graded.decided), (one.root, student)


def test_the_damages_do_what_they_say(course: Course) -> None:
    """Else the property would hold of nothing: each deed alone changes the file."""
    whole = lab.answered(course)
    lab.at(whole, "cube")["source"] = lab.at(lab.released(course), "cube")["source"]
    assert all(
        any(json.dumps(damaged(whole, [(name, here, 3)])) != json.dumps(whole) for here in range(7)) for name in DEEDS
    )


# damage by name


def beside_test(notebook: Notebook, text: str) -> Cell:
    """A new cell behind the test of square."""
    cell = lab.code(text)
    notebook["cells"].insert(notebook["cells"].index(at(notebook, "test_square")) + 1, cell)
    return cell


def doubled(notebook: Notebook) -> None:
    notebook["cells"].insert(0, copy.deepcopy(at(notebook, "test_square")))


def split(notebook: Notebook) -> None:
    first, _, second = at(notebook, "test_square")["source"].partition("\n")
    at(notebook, "test_square")["source"] = first
    beside_test(notebook, second)


def answer_split(notebook: Notebook) -> None:
    at(notebook, "square")["source"] = "# first half\nimport math\n"
    notebook["cells"].insert(notebook["cells"].index(at(notebook, "square")) + 1, lab.code(lab.SQUARE))


def reordered(notebook: Notebook) -> None:
    found = notebook["cells"]
    one, other = (found.index(at(notebook, name)) for name in ("test_square", "test_cube"))
    found[one], found[other] = found[other], found[one]


def without_metadata(notebook: Notebook) -> None:
    notebook["metadata"] = {}
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)


def mark(name: str, **marks: object) -> Callable[[Notebook], object]:
    return lambda notebook: at(notebook, name)["metadata"]["nbgrader"].update(marks)


def as_text(name: str) -> Callable[[Notebook], object]:
    def change(notebook: Notebook) -> None:
        index = notebook["cells"].index(at(notebook, name))
        notebook["cells"][index] = retyped(notebook["cells"][index], "markdown")

    return change


def ends_with(text: str) -> Callable[[Notebook], object]:
    return lambda notebook: changed(notebook, square=f"{lab.SQUARE}\n{text}")


#: What was done to a right answer, and what is said of it. It keeps all of its points.
DAMAGE: dict[str, tuple[Callable[[Notebook], object], str]] = {
    "a test deleted": (lambda notebook: changed(notebook, without="test_square"), "was missing; it was put back"),
    "a test doubled": (doubled, "was there 2 times"),
    "a test renamed": (mark("test_square", grade_id="my_cell"), "which the assignment does not have"),
    "an answer renamed": (mark("square", grade_id="my_answer"), "had lost its mark"),
    "a test split": (split, "had been changed"), "an answer split": (answer_split, ""),
    "tests reordered": (reordered, "put back in order"),
    "a test as text": (as_text("test_square"), "had become a markdown cell"),
    "an answer as text": (as_text("square"), ""), "a test not graded": (mark("test_square", grade=False), ""),
    "no metadata": (without_metadata, "had lost its mark"), "format 3": (lab.as_format_3, ""),
    "a number in the test": (lambda notebook: changed(notebook, test_square="2.0"), "had been changed"),
    "a warning": (ends_with("import sys, warnings\nwarnings.warn('careful')\nprint('!', file=sys.stderr)"), ""),
    "a number": (ends_with("-3"), ""), "a text": (ends_with("'twenty points, please'"), ""),
    "an error at the end": (ends_with("raise RuntimeError('an unfinished experiment')"), ""),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:careful")
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_notebook_has_the_points_of_the_undamaged_work(course: Course, damage: str) -> None:
    do, note = DAMAGE[damage]
    sent = answered(course)
    do(sent)
    rebuilt = by_rebuild(*notebooks(course), sent)
    assert rebuilt.tests == {"test_square": True, "test_cube": True}
    assert note in rebuilt.notes and (note or not rebuilt.notes), rebuilt.notes


SORTED, OFF = "parts = sorted(parts)", "# parts = list(filter(None, parts))"


@pytest.mark.parametrize(
    ("sent", "waiting"),
    [
        ({"two": f"{SORTED}\n{OFF}"}, ""), ({"two": f'"""{OFF[2:]}"""\n\n{SORTED}\n\n', "three": SORTED}, ""),
        ({"one": OFF, "two": SORTED, "three": f"{SORTED}\n{OFF}"}, "one"), ({None: OFF, "two": SORTED}, "one three"),
    ],
)  # fmt: skip
def test_what_is_switched_off_in_one_of_three_answers_to_a_name_waits_for_that_one_alone(sent, waiting) -> None:
    source, release = new_notebook(), new_notebook()
    for made, text in ((source, SORTED), (release, "...")):
        for name in ("one", "two", "three"):
            made.cells.append(lab.marked(new_code_cell(text), name, solution=True))
            made.cells.append(lab.marked(new_code_cell("assert parts[0]"), f"test_{name}", 1))
    cells = [SubmittedCell(text, "code", name) for name, text in sent.items()]
    assert rebuild(source, release, cells).waiting == {f"test_{name}" for name in waiting.split()}
