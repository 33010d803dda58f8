"""``autograder init``: a folder with a course that works, with one small exercise in it."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from autograder.authoring.notebook_cells import heading, render
from autograder.authoring.packs import write_library
from autograder.authoring.patched import patched_solutions
from autograder.errors import GradingError
from autograder.files.atomic import writing
from autograder.model.course import Course
from autograder.references.draw import new_seed
from autograder.references.store import References

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
