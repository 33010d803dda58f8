"""A course in which everything can change after a class was graded, and the twenty ways in which it does.

Two notebooks: in the first a function that stored answers judge, in the second a plain test of a function, which reads
the first notebook, and an answer in words.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell
from safetensors.numpy import load, save

from autograder.assignment.assignment import Assignment
from autograder.authoring.course_folder import make_course
from autograder.model import cells
from autograder.model.course import Course
from autograder.references.write import EXPECTED, checksums, read_files, stored_exercises, write_archives
from autograder.release.as_submitted import solved
from autograder.release.generate import generate
from tests.feedback.toy import marks, plain_exercise, python_notebook

SHEET, FIRST, SECOND = "signals", "1_smoothing", "2_later"
STUDENTS = ("ada", "bob")
STORED = Path(".autograder", "executed", SHEET)
WRONG = "def moving_average(values, window):\n    return np.convolve(values, np.ones(window), 'valid')"
STOPS = "def moving_average(values, window):\n    return values.no"
READS = """import json
text = json.load(open("1_smoothing.ipynb"))
count = sum("".join(cell["source"]).count("return") for cell in text["cells"])"""
TESTS = "assert twice(2) == 4\n### BEGIN HIDDEN TESTS\nassert twice(3) == 6\nassert count\n### END HIDDEN TESTS"

Change = Callable[[Path], None]


def make(root: Path) -> None:
    """Released, and handed in: ada is right, bob is not."""
    make_course(root)
    course = Course(root)
    second = python_notebook(
        new_code_cell(READS, id="reads"),
        *plain_exercise("twice", "return 2 * x", TESTS, 3, "x"),
        new_markdown_cell("Because.", id="why", metadata=marks("why", grade=True, solution=True, points=1)),
    )
    nbformat.write(second, course.source(SHEET) / f"{SECOND}.ipynb")
    (course.source(SHEET) / "words.csv").write_text("one\n")
    generate(course, SHEET)
    for student in STUDENTS:
        hand_in(root, student)
    set_answer("bob", "moving_average_answer", WRONG)(root)


def hand_in(root: Path, student: str) -> None:
    course = Course(root)
    folder = course.submitted(student, SHEET)
    folder.mkdir(parents=True)
    for name, data in solved(Assignment.open(course, SHEET)).notebooks.items():
        (folder / f"{name}.ipynb").write_bytes(data)


def set_answer(student: str, grade_id: str, text: str) -> Change:
    def change(root: Path) -> None:
        for path in Course(root).submitted(student, SHEET).glob("*.ipynb"):
            _in_notebook(path, grade_id, lambda cell: cell.update(source=text))

    return change


def _in_notebook(path: Path, grade_id: str, change: Callable[[nbformat.NotebookNode], None]) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cells.grade_id(cell) == grade_id:
            change(cell)
    nbformat.write(notebook, path)


def _of_the_source(grade_id: str, change: Callable[[nbformat.NotebookNode], None]) -> Change:
    def changed(root: Path) -> None:
        for path in Course(root).source(SHEET).glob("*.ipynb"):
            _in_notebook(path, grade_id, change)
        generate(Course(root), SHEET)

    return changed


def _replace(file: str, old: str, new: str) -> Change:
    def change(root: Path) -> None:
        text = (root / file).read_text()
        assert old in text
        (root / file).write_text(text.replace(old, new))

    return change


def _mend_library(root: Path) -> None:
    (package,) = root.glob(f"*_checks/{SHEET}/__init__.py")
    package.write_text(f"# mended\n{package.read_text()}")


def store_other_answers(folder: Path, exercise: str, more: float) -> None:
    """Stored references of an assignment whose expected answers are greater by ``more`` in one exercise."""
    stored = {name: read_files(folder, name) for name in stored_exercises(folder)}
    expected = load(stored[exercise][EXPECTED])
    stored[exercise][EXPECTED] = save({name: array + more for name, array in expected.items()})
    write_archives(folder, stored)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["exercises"][exercise]["sha256"] = checksums(stored[exercise])
    (folder / "manifest.json").write_text(json.dumps(manifest))


def _other_answers(root: Path) -> None:
    store_other_answers(root / "exercises" / SHEET, "moving_average", 1e-3)


def _more_points(cell: nbformat.NotebookNode) -> None:
    cell.metadata["nbgrader"]["points"] += 1


def _another_test(cell: nbformat.NotebookNode) -> None:
    cell.source = cell.source.replace("twice(3) == 6", "twice(4) == 8")


def _own_cell(root: Path) -> None:
    path = Course(root).submitted("ada", SHEET) / f"{SECOND}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(new_code_cell("print('mine')", id=f"own{len(notebook.cells)}"))
    nbformat.write(notebook, path)


def _lost(root: Path) -> None:
    (Course(root).submitted("bob", SHEET) / f"{SECOND}.ipynb").unlink()


def _words_beside(root: Path) -> None:
    for folder in (Course(root).source(SHEET), Course(root).release(SHEET)):
        with (folder / "words.csv").open("a") as file:
            file.write("two\n")


def _cut_short(root: Path) -> None:
    """A stored run is damaged, and a rule changes: it is needed now."""
    for path in sorted((root / STORED).glob("*.zip"))[:1]:
        path.write_bytes(path.read_bytes()[:-40])
    _replace(f"exercises/{SHEET}/moving_average.py", "These are sums", "These seem to be sums")(root)


def _seconds(root: Path) -> None:
    with (root / "course.toml").open("a") as file:
        file.write("\n[limits]\ncell_seconds = 50\n")


#: Each by what it is. All of them may follow each other in any order.
CHANGES: dict[str, Change] = {
    "a mistake's words": _replace(f"exercises/{SHEET}/moving_average.py", "number of values.", "number of them."),
    "a mistake's name": _replace(f"exercises/{SHEET}/moving_average.py", 'Mistake("edges"', 'Mistake("hang-over"'),
    "a tolerance": _replace(f"exercises/{SHEET}/moving_average.py", " cases, mistakes", " cases, atol=0.1, mistakes"),
    "expected answers": _other_answers,
    "a hidden test": _of_the_source("twice", _another_test),
    "a visible cell": _of_the_source("imports", lambda cell: cell.update(source=f"{cell.source}\nimport math")),
    "points": _of_the_source("moving_average", _more_points),
    "points of a plain test": _of_the_source("twice", _more_points),
    "the library": _mend_library,
    "a file beside": _words_beside,
    "a right answer": set_answer("bob", "twice_answer", "def twice(x):\n    return x + x"),
    "a wrong answer": set_answer("ada", "twice_answer", "def twice(x):\n    return x ** 2"),
    "an answer of the first notebook": set_answer("ada", "moving_average_answer", WRONG),
    "an answer that stops": set_answer("bob", "moving_average_answer", STOPS),
    "a written answer": set_answer("bob", "why", "Because it is so."),
    "a cell of one's own": _own_cell,
    "a notebook that is gone": _lost,
    "a new student": lambda root: hand_in(root, "eve"),
    "a limit": _seconds,
    "a run cut short": _cut_short,
}  # fmt: skip


def fresh(root: Path, folder: Path) -> Path:
    """The same course and submissions, of which nothing was graded yet."""
    ignored = shutil.ignore_patterns("autograded", "feedback", "gradebook.db", "executed", "*.jsonl", "answers", "logs")
    shutil.copytree(root, folder, ignore=ignored)
    generate(Course(folder), SHEET)  # the gradebook knows the assignment
    return folder


def without_times(text: str) -> str:
    return re.sub(r'("seconds": )[\d.e-]+', r"\g<1>0", text)
