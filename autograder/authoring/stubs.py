"""``autograder new``: the files of a new exercise, as stubs that say what goes where.

What is left to fill in stands behind the word ``STUB:``; :mod:`autograder.release.verify` finds it.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.authoring.notebook_cells import NewExercise, render, text_of, with_exercise
from autograder.authoring.packs import RULES
from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.model import cells
from autograder.model.course import Course
from autograder.references.store import FOLDER


def write_stubs(course: Course, new: NewExercise) -> list[Path]:
    """Write the exercise's files, all or none, and put its cells into the notebook; returns what was written.

    Where ``course.toml`` names a package of visible checks, and it is there, the exercise gets one: made of a pack
    where the package holds the rules that such checks need, else a module to be written by hand. Raises GradingError
    where anything of this name exists.
    """
    notebook = course.source(new.assignment) / f"{new.notebook}.ipynb"
    _require_new(course, new)
    top = course.root.joinpath(*course.file.checks.split(".")) if course.file.checks else course.root / "no checks"
    checks, shows = course.file.checks if top.is_dir() else "", (top / RULES / "__init__.py").is_file()
    own = course.root / FOLDER / f"{new.slug}.py"
    files = {own: render("exercise/exercise.py.j2", exercise=new.exercise, shows=shows)}
    files |= _check(course, new, checks, shows=shows) if checks else {}
    setup = notebook.parent.parent / "setup_cell.py"
    text = setup.read_text(encoding="utf-8") if setup.is_file() else ""
    made = with_exercise(notebook, new, checks, text, shows=shows)
    _write(files, notebook, text_of(made))
    return [notebook, *files]


def _require_new(course: Course, new: NewExercise) -> None:
    folder = course.root / FOLDER / new.slug
    for path in (folder, folder.with_suffix(".py")):
        if path.exists():
            raise GradingError(f"{new.slug} exists already ({path}): choose another name for the exercise")
    if new.assignment not in course.assignments():
        return
    for name, notebook in Assignment.unreleased(course, new.assignment).source.items():
        if {cells.grade_id(cell) for cell in notebook.cells} & {new.exercise, f"{new.exercise}_answer"}:
            raise GradingError(f"{name}.ipynb has a cell of an exercise {new.exercise!r} already: choose another name")


def _check(course: Course, new: NewExercise, checks: str, *, shows: bool) -> dict[Path, str]:
    """What makes the visible check, and the package around it where it is the assignment's first."""
    top = course.root.joinpath(*checks.split("."))
    package = top / new.assignment
    module = package.with_suffix(".py")
    if module.exists():
        raise GradingError(f"{module} is a module: expected a package {package}/, with one module for each exercise")
    values = {"assignment": new.assignment, "exercise": new.exercise, "checks": checks, "shows": shows}
    files = {} if shows else {package / f"{new.exercise}.py": render("exercise/check.py.j2", **values)}
    _require_absent(*files)
    if not (package / "__init__.py").exists():
        discover = (top / "discover.py").is_file()
        files[package / "__init__.py"] = render("exercise/checks_package.py.j2", **values, discover=discover)
    return files


def _require_absent(*paths: Path) -> None:
    for path in paths:
        if path.exists():
            raise GradingError(f"{path} exists already: choose another name for the exercise")


def _write(files: Mapping[Path, str], notebook: Path, text: str) -> None:
    before = {path: path.read_bytes() if path.exists() else None for path in files}
    try:
        for path, content in files.items():
            write_file(path, content.encode())
        write_file(notebook, text.encode())
    except BaseException:
        for path, data in before.items():
            if data is not None:
                path.write_bytes(data)
                continue
            path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # it holds something else, or was never made
                path.parent.rmdir()
        raise
