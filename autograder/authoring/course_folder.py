"""``autograder init``: a course that works. ``autograder adopt``: what a course of nbgrader gets added.

``autograder new``: the files of a new exercise, as stubs that say what goes where. What is left to fill in stands
behind the word ``STUB:``; :mod:`autograder.release.verify` finds it.
"""

import ast
import contextlib
import difflib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata
from importlib.util import find_spec
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.authoring.notebook_cells import NewExercise, heading, render, text_of, with_exercise
from autograder.authoring.packs import RULES, patched_solutions, write_library
from autograder.errors import GradingError
from autograder.files.atomic import write_file, writing
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import NAME
from autograder.model.nbgrader import CONFIG
from autograder.model.source import read_notebook
from autograder.references.draw import new_seed
from autograder.references.store import FOLDER, References

#: The assignment that every new course begins with.
EXAMPLE = "signals"
DISTRIBUTION = "transformer-course-autograder"
#: Path in the course -> template.
_FILES = {
    "README.md": "course/README.md.j2",
    "course.toml": "course/course.toml.j2",
    "nbgrader_config.py": "course/nbgrader_config.py.j2",
    "requirements.txt": "course/requirements.txt.j2",
    ".gitignore": "course/gitignore",
    ".github/workflows/ci.yml": "course/github/workflows/ci.yml",
    "pyproject.toml": "course/pyproject.toml.j2",
    "source/signals/1_smoothing.ipynb": "course/source/signals/1_smoothing.ipynb.j2",
    "exercises/signals/moving_average.py": "course/exercises/signals/moving_average.py",
    "{library}/__init__.py": "course/library/__init__.py.j2",
    "{library}/_rules/__init__.py": "exercise/rules_package.py.j2",
    "{library}/signals/__init__.py": "exercise/checks_package.py.j2",
}
#: What may be in the folder already: a repository without a file, say.
_MAY_BE_THERE = {".git"}


def make_course(folder: Path) -> list[str]:
    """Write a course into ``folder``, all of it or nothing; returns the paths that an author may want to see.

    The hidden inputs are drawn from a seed that nobody can guess. Raises GradingError where the folder is not empty or
    cannot be written.
    """
    folder = folder.absolute()
    with writing(folder):
        _require_empty(folder)
        was_there = folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # references, submissions and grades
        try:
            with tempfile.TemporaryDirectory(dir=folder, prefix=".init-") as temporary:
                fresh = Path(temporary)
                written = _fill(fresh, folder.name)
                for path in sorted(fresh.iterdir()):
                    shutil.move(path, folder / path.name)
        except BaseException:
            if not was_there:
                shutil.rmtree(folder, ignore_errors=True)
            raise
    return written


def _require_empty(folder: Path) -> None:
    if folder.is_dir():
        found = next((path.name for path in sorted(folder.iterdir()) if path.name not in _MAY_BE_THERE), None)
        if found is None:
            return
        raise GradingError(f"{folder} is not empty (it holds {found}): give a new or an empty folder")
    if folder.exists():
        raise GradingError(f"{folder} is a file: give a new or an empty folder")


def _fill(folder: Path, name: str) -> list[str]:
    """Write the files, hidden and public cases; returns the paths of what is written down by hand."""
    values = dict(_values(name))
    files = {path.format(**values): template for path, template in _FILES.items()}
    for path, template in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(template, **values), encoding="utf-8")
    course = Course(folder)
    with patched_solutions(course, EXAMPLE) as run:
        References.of_course(folder).build(EXAMPLE, new_seed(), run=run)
        write_library(course, EXAMPLE, run)
    return list(files)


def _values(name: str) -> Iterator[tuple[str, object]]:
    """What the templates ask for, as text that fits Markdown, TOML and Python."""
    title = heading(re.sub(r"[^\w -]+", " ", name)) or "A course"
    yield "heading", title
    yield "title", json.dumps(title, ensure_ascii=False)
    library = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    library = f"{library if library[:1].isalpha() else 'course'}_checks"
    yield from {"library": library, "checks": library, "assignment": EXAMPLE}.items()
    yield "course_id", json.dumps(re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "course")
    yield "grader", _requirement()
    yield from {"shows": True, "discover": False}.items()


def _requirement() -> str:
    """What pip installs the grader by: it is on no package index, so from its repository."""
    repository = _repository(DISTRIBUTION) or "https://github.com/example/transformer-course"
    return f"{DISTRIBUTION} @ git+{repository}#subdirectory=autograder"


def _repository(distribution: str) -> str:
    """Where the distribution says that its source lies; empty where it does not say."""
    try:
        urls = metadata(distribution).get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    known = dict(str(entry).split(", ", 1) for entry in urls if ", " in str(entry))
    return next((known[name] for name in ("Repository", "Source") if name in known), "")


_PLUGS_IN = """
# Added by `autograder adopt`: nbgrader's own commands and the formgrader's buttons grade, write feedback and export as
# the autograder command does. Without these two lines they are nbgrader's again.
from autograder.nbgrader.plug_in import plug_in

plug_in(get_config(), __file__)
"""
_COURSE = """# This course's own settings for the autograder command. nbgrader's settings lie in nbgrader_config.py.
title = {title}

# Imported once, before the first kernel starts, so that no notebook waits for it.
warm = {warm}
"""
#: Takes long to import, and can be imported before a process is forked.
_WARM = ("matplotlib", "networkx", "numpy", "pandas", "scipy", "seaborn", "sklearn", "statsmodels", "sympy", "torch")


@dataclass(frozen=True)
class Addition:
    """A file as it is (None: it is not there) and as it would be."""

    path: Path
    before: str | None
    after: str

    def diff(self, root: Path) -> str:
        """In the form of ``diff -u``. root: the course's folder, which names in it are relative to."""
        name = str(self.path.relative_to(root) if self.path.is_relative_to(root) else self.path)
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, "/dev/null" if self.before is None else name, name)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def additions(course: Course) -> list[Addition]:
    """What the course lacks; empty where it has everything. Raises GradingError where a file cannot be read."""
    config, file = course.settings.config or course.root / CONFIG, course.root / NAME
    before = _text(config)
    found = []
    if "autograder.nbgrader" not in (before or ""):
        found.append(Addition(config, before, _plugged_in(before)))
    if _text(file) is None:
        title = json.dumps(course.settings.course_id or course.root.name, ensure_ascii=False)
        found.append(Addition(file, None, _COURSE.format(title=title, warm=json.dumps(_imported(course)))))
    return found


def add(found: list[Addition]) -> None:
    """Write them. Raises GradingError where one cannot be written."""
    for one in found:
        write_file(one.path, one.after.encode())


def _plugged_in(before: str | None) -> str:
    if before is None:
        return "c = get_config()\n" + _PLUGS_IN
    ending = "\r\n" if "\r\n" in before else "\n"
    gap = "" if before.endswith("\n") or not before else ending
    return before + gap + _PLUGS_IN.replace("\n", ending)


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GradingError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise GradingError(f"{path} is no UTF-8 text: {error}") from error


def _imported(course: Course) -> list[str]:
    """The modules that the source notebooks import, as far as they are worth importing beforehand."""
    folders = map(course.source, course.assignments())
    notebooks = (path for folder in folders for path in sorted(folder.glob("*.ipynb")))
    names = {name for path in notebooks for name in _imports(path)}
    return sorted(name for name in names if (top := name.partition(".")[0]) in _WARM and find_spec(top))


def _imports(path: Path) -> Iterator[str]:
    for cell in read_notebook(path).cells:
        if cell.cell_type != "code":
            continue
        try:
            tree = cells.parse(cell.source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module


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
