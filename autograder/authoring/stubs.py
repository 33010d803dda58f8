"""``autograder new``: the files of a new exercise, as stubs that say what goes where.

What is left to fill in stands behind the word ``STUB:``; :mod:`autograder.release.stubs` finds it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from autograder.authoring.names import NewExercise
from autograder.authoring.notebook_cells import text_of, with_exercise
from autograder.authoring.render import render
from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.model import cells
from autograder.model.assignment import Assignment
from autograder.model.course import Course
from autograder.references.loader import ANSWERS, ORACLE
from autograder.references.store import FOLDER


def write_stubs(course: Course, new: NewExercise) -> list[Path]:
    """Write the exercise's files, all or none, and append its cells to the notebook; returns what was written.

    Where ``course.toml`` names a package of visible checks, and it is there, the exercise gets a module in it.
    Raises GradingError where anything of this name exists.
    """
    notebook = course.source(new.assignment) / f"{new.notebook}.ipynb"
    _require_new(course, new)
    checks = course.file.checks
    checks = checks if checks and course.root.joinpath(*checks.split(".")).is_dir() else ""
    files = {**_exercise(course, new), **(_check(course, new, checks) if checks else {})}
    for path in files:
        if path.exists():
            raise GradingError(f"{path} exists already: choose another name for the exercise")
    setup = notebook.parent.parent / "setup_cell.py"
    made = with_exercise(notebook, new, checks, setup.read_text(encoding="utf-8") if setup.is_file() else "")
    _write(files, notebook, text_of(made))
    return [notebook, *files]


def _require_new(course: Course, new: NewExercise) -> None:
    folder = course.root / FOLDER / new.slug
    if folder.exists():
        raise GradingError(f"{new.slug} exists already ({folder}): choose another name for the exercise")
    if new.assignment not in course.assignments():
        return
    for name, notebook in Assignment.unreleased(course, new.assignment).source.items():
        if {cells.grade_id(cell) for cell in notebook.cells} & {new.exercise, f"{new.exercise}_answer"}:
            raise GradingError(f"{name}.ipynb has a cell of an exercise {new.exercise!r} already: choose another name")


def _exercise(course: Course, new: NewExercise) -> dict[Path, str]:
    folder = course.root / FOLDER / new.slug
    return {
        folder / ORACLE: render("exercise/oracle.py.j2"),
        folder / ANSWERS: render("exercise/answers.py.j2", exercise=new.exercise),
    }


def _check(course: Course, new: NewExercise, checks: str) -> dict[Path, str]:
    """The module of the visible check, and the package around it where it is the assignment's first."""
    top = course.root.joinpath(*checks.split("."))
    package = top / new.assignment
    module = package.with_suffix(".py")
    if module.exists():
        raise GradingError(f"{module} is a module: expected a package {package}/, with one module for each exercise")
    values = {"assignment": new.assignment, "exercise": new.exercise, "checks": checks}
    files = {package / f"{new.exercise}.py": render("exercise/check.py.j2", **values)}
    if not (package / "__init__.py").exists():
        discover = (top / "discover.py").is_file()
        files[package / "__init__.py"] = render("exercise/checks_package.py.j2", **values, discover=discover)
    return files


def _write(files: Mapping[Path, str], notebook: Path, text: str) -> None:
    written: list[Path] = []
    try:
        for path, content in files.items():
            written.append(path)
            write_file(path, content.encode())
        write_file(notebook, text.encode())
    except BaseException:
        for path in written:  # none of them was there before
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # it holds something else, or was never made
                path.parent.rmdir()
        raise
