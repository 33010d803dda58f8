"""Grading for tests: student code goes into the real released notebook and through the real stages."""

import ast
import atexit
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import Submission
from autograder.kernel.imports import imports_of
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Graded, NotebookVerdict
from autograder.pipeline.execute import Kernels, Limits
from autograder.pipeline.grade import grade_submission as grade
from autograder.references import loader
from autograder.references.store import References
from autograder.release.as_submitted import without_markers

ROOT = Path(__file__).resolve().parent.parent
REFERENCES = References.of_course(ROOT)


def exercise_module(place: str) -> ModuleType:
    """A module of this course's exercises, by its place below their folder, without ``.py``."""
    return loader.module(REFERENCES.folder, REFERENCES.folder / f"{place}.py")


def copy_exercises(course: Path, assignment: str) -> None:
    """Copy the exercises of an assignment, and the modules that they share with others, into a course's folder."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "exercises" / assignment, course / "exercises" / assignment, ignore=ignore)
    for module in (ROOT / "exercises").glob("*.py"):
        shutil.copy(module, course / "exercises")


def copy_course(root: Path, *assignments: str, stages: Iterable[str] = ("source", "release")) -> Course:
    """This course with some of its assignments: settings, exercises, and what the stages hold."""
    ignore = shutil.ignore_patterns("__pycache__")
    for name in assignments:
        for stage in stages:
            shutil.copytree(ROOT / stage / name, root / stage / name, ignore=ignore)
        copy_exercises(root, name)
    for name in ("nbgrader_config.py", "course.toml"):
        shutil.copy(ROOT / name, root)
    return Course(root)


@lru_cache
def kernels() -> Kernels:
    """One template for all tests of a process."""
    until_exit = ExitStack()
    atexit.register(until_exit.close)
    return until_exit.enter_context(Kernels.open("auto", imports=imports_of(Course(ROOT))))


@lru_cache
def assignment(name: str) -> Assignment:
    return Assignment.open(ROOT, name)


def solution(assignment_name: str, notebook: str, grade_id: str) -> str:
    """The text of the instructor's solution cell, without markers: the start of most wrong answers."""
    for cell in assignment(assignment_name).source[notebook].cells:
        if cells.grade_id(cell) == grade_id:
            return without_markers(cell.source)
    raise KeyError(f"{assignment_name}/{notebook} has no cell {grade_id!r}")


def filled(
    assignment_name: str, notebook: str, answers: Mapping[str, str], release: NotebookNode | None = None
) -> bytes:
    """The released notebook with its solution cells filled: by ``answers``, else by the instructor's solution."""
    student = nbformat.from_dict(release or assignment(assignment_name).release[notebook])
    known = {cells.grade_id(cell) for cell in student.cells if cells.is_solution(cell)}
    assert set(answers) <= known, f"{notebook} has no solution cells {set(answers) - known}"
    for cell in student.cells:
        grade_id = cells.grade_id(cell)
        if grade_id and cells.is_solution(cell):
            cell.source = answers[grade_id] if grade_id in answers else solution(assignment_name, notebook, grade_id)
    return nbformat.writes(student).encode()


def exercises_alone(
    assignment_name: str, notebook: str, answers: Iterable[str] = ()
) -> tuple[NotebookNode, NotebookNode]:
    """The source and the release of a notebook without the code cells that only show something.

    Exercises are kept, and cells that bind a name which a kept cell or an answer uses. Whole notebooks run in the
    release's checks.
    """
    opened = assignment(assignment_name)
    needed = {word for answer in answers for word in re.findall(r"\w+", answer)}
    kept: set[str] = set()
    for cell in reversed(opened.source[notebook].cells):
        exercise = cells.is_graded(cell) or cells.is_solution(cell)
        if cell.cell_type == "code" and not exercise and not _names(cell, ast.Store) & needed:
            continue
        if cell.cell_type == "code":
            needed |= _names(cell, ast.Load)
        kept.add(key(cell))
    source, release = nbformat.from_dict(opened.source[notebook]), nbformat.from_dict(opened.release[notebook])
    for one in (source, release):
        one.cells = [cell for cell in one.cells if key(cell) in kept]
    return source, release


def key(cell: NotebookNode) -> str:
    """What a cell is called in source and release: their ids differ where the source's could say something."""
    return cells.grade_id(cell) or cell.id


def _names(cell: NotebookNode, context: type[ast.expr_context]) -> set[str]:
    """The names that a cell uses (Load) or binds (Store)."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(cells.without_magics(cell.source))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, context):
            found.add(node.id)
        elif context is ast.Store and isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif context is ast.Store and isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return found


def leave_out_shown(course: Path, assignment_name: str) -> None:
    """Take the cells that only show something out of a course's folder: of sources, releases and submissions.

    Who has the assignment graded again and again in a test looks at points, and need not wait for pictures.
    """
    for path in (course / "source" / assignment_name).glob("*.ipynb"):
        kept = {key(cell) for cell in exercises_alone(assignment_name, path.stem)[0].cells}
        for copy in course.glob(f"*/**/{assignment_name}/{path.name}"):
            notebook = nbformat.read(copy, as_version=4)
            notebook.cells = [cell for cell in notebook.cells if key(cell) in kept]
            nbformat.write(notebook, copy)


def alone_with(opened: Assignment, notebook: str, source: NotebookNode, release: NotebookNode) -> Assignment:
    """The assignment with one notebook, this one."""
    return replace(opened, source={notebook: source}, release={notebook: release})


def grade_cells(
    assignment_name: str, notebook: str, answers: Mapping[str, str], files: Mapping[str, bytes] | None = None
) -> NotebookVerdict:
    """The verdict on one notebook whose other solution cells are right. ``files``: deliverables such as models.py."""
    opened = assignment(assignment_name)
    source, release = exercises_alone(assignment_name, notebook, answers.values())
    alone = alone_with(opened, notebook, source, release)
    beside = dict(opened.solutions) if files is None else dict(files)
    submission = Submission("student", {notebook: filled(assignment_name, notebook, answers, release)}, beside, ())
    return grade(submission, alone, kernels(), Limits()).verdict.notebooks[0]


def grade_submission(
    assignment_name: str, notebooks: Mapping[str, bytes], files: Mapping[str, bytes] | None = None
) -> Graded:
    """A whole submission from raw notebook bytes."""
    return grade(Submission("student", notebooks, files or {}, ()), assignment(assignment_name), kernels(), Limits())


def cell_of(verdict: NotebookVerdict, grade_id: str) -> CellVerdict:
    return next(cell for cell in verdict.cells if cell.cell == grade_id)


def mistakes_of(verdict: NotebookVerdict) -> set[str]:
    """The ids of all named mistakes in a notebook's verdict."""
    return {check.mistake for cell in verdict.cells for check in cell.checks if check.mistake}
