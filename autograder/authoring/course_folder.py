"""``autograder init``: a folder with a course that works, with one small exercise in it."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from autograder.authoring.render import TEMPLATES, heading, render
from autograder.errors import GradingError
from autograder.files.atomic import writing
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
    "source/signals/1_smoothing.ipynb": "course/source/signals/1_smoothing.ipynb",
    "exercises/signals/moving_average/oracle.py": "course/exercises/signals/moving_average/oracle.py",
    "exercises/signals/moving_average/answers.py": "course/exercises/signals/moving_average/answers.py",
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
                _fill(fresh, folder.name)
                for path in sorted(fresh.iterdir()):
                    shutil.move(path, folder / path.name)
        except BaseException:
            if not was_there:
                shutil.rmtree(folder, ignore_errors=True)
            raise
    return list(_FILES)


def _require_empty(folder: Path) -> None:
    if folder.is_dir():
        found = next((path.name for path in sorted(folder.iterdir()) if path.name not in _MAY_BE_THERE), None)
        if found is None:
            return
        raise GradingError(f"{folder} is not empty (it holds {found}): give a new or an empty folder")
    if folder.exists():
        raise GradingError(f"{folder} is a file: give a new or an empty folder")


def _fill(folder: Path, name: str) -> None:
    values = dict(_values(name))
    for path, template in _FILES.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(template, **values), encoding="utf-8")
    References(TEMPLATES / "course" / FOLDER).build(EXAMPLE, new_seed(), into=folder / FOLDER)


def _values(name: str) -> Iterator[tuple[str, str]]:
    """What the templates ask for, as text that fits Markdown, TOML and Python."""
    title = heading(re.sub(r"[^\w -]+", " ", name)) or "A course"
    yield "heading", title
    yield "title", json.dumps(title, ensure_ascii=False)
    yield "course_id", json.dumps(re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "course")
    yield "grader", _requirement()


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
