"""The students' repository: released notebooks, and the course library as it installs in Colab.

What is written is searched for leaks before any of it takes its place. A folder that was published before is brought up
to date: files that are not ours (``.git``, say) stay.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder import cells
from autograder.assignment import Assignment, Course
from autograder.errors import GradingError
from autograder.leaks import leaks
from autograder.release import assignments

TEMPLATES = Path(__file__).resolve().parent / "publish_files"
#: In a published folder: the files that were written there.
LIST = ".published.json"
_AS_THEY_ARE = ("LICENSE", "environment.yml", "docs/student.md")
_PICTURE = re.compile(r"!\[[^\]]*\]\((images/[\w.-]+)\)")
_UNWANTED = shutil.ignore_patterns("__pycache__", "*.pyc", ".ipynb_checkpoints", ".*")
_REPOSITORY = re.compile(r'^REPOSITORY = "([^"]+)"$', re.MULTILINE)


@dataclass(frozen=True)
class Published:
    """``repository``: OWNER/NAME as it stands in badges and setup cells; ``removed``: what was there and is no more."""

    files: tuple[str, ...]
    removed: tuple[str, ...]
    repository: str


def publish(root: Path, folder: Path) -> Published:
    """Write the students' repository of the course at ``root`` into ``folder``.

    Raises GradingError where the folder holds something else, a sheet is not released, or anything leaks; then
    nothing was changed.
    """
    before = _published_before(folder)
    sheets = [_opened(root, name) for name in assignments(root)]
    if not sheets:
        expected = Course(root).source("<assignment>")
        raise GradingError(f"{root} holds no assignment: expected {expected}/<notebook>.ipynb")
    repository = _repository(sheets)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".publish-") as temporary:
        fresh = Path(temporary)
        found = list(_fill_and_search(fresh, root, sheets, repository))
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            raise GradingError(f"nothing was published, because it would leak {found[0]}{more}")
        files = sorted(str(path.relative_to(fresh)) for path in fresh.rglob("*") if path.is_file())
        (fresh / LIST).write_text(json.dumps(files, indent=1) + "\n", encoding="utf-8")
        removed = tuple(sorted(before - set(files)))
        _bring_over(fresh, folder, [*files, LIST], removed)
    return Published(tuple(files), removed, repository)


def _published_before(folder: Path) -> set[str]:
    """The files of an earlier publication. Raises GradingError for a folder that is neither one nor empty."""
    if not folder.exists() or (folder.is_dir() and not any(path.name != ".git" for path in folder.iterdir())):
        return set()
    try:
        listed = json.loads((folder / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise GradingError(
            f"{folder} is not empty and was not published by this command: give a new or an empty folder"
        ) from None
    # only what lies inside: the list may have been edited
    return {name for name in listed if not Path(name).is_absolute() and ".." not in Path(name).parts}


def _opened(root: Path, name: str) -> Assignment:
    if not any(Course(root).release(name).glob("*.ipynb")):
        raise GradingError(f"{name!r} is not released yet: run 'autograder release' first")
    return Assignment.open(root, name)


def _repository(sheets: list[Assignment]) -> str:
    """OWNER/NAME as every setup cell has it. Raises GradingError where two releases differ."""
    named = {
        match
        for sheet in sheets
        for notebook in sheet.release.values()
        for cell in notebook.cells
        for match in _REPOSITORY.findall(cell.source)
    }
    if len(named) != 1:
        raise GradingError(
            f"the released notebooks name {len(named)} repositories ({', '.join(sorted(named)) or 'none'}): set "
            "c.SetRepository.repository in nbgrader_config.py and run 'autograder release'"
        )
    return named.pop()


def _fill_and_search(fresh: Path, root: Path, sheets: list[Assignment], repository: str) -> Iterator[str]:
    """Lay out the repository; every leak in it. A sheet may show what is a line of another sheet's solution, as its own
    release may; the rest may hold nothing of any sheet.
    """
    _fill(fresh, root, sheets, repository)
    yield from leaks(fresh, sheets)
    for sheet in sheets:
        shutil.copytree(Course(root).release(sheet.name), fresh / "release" / sheet.name, ignore=_UNWANTED)
        yield from (f"release/{sheet.name}/{leak}" for leak in leaks(fresh / "release" / sheet.name, sheet))


def _fill(fresh: Path, root: Path, sheets: list[Assignment], repository: str) -> None:
    try:
        shutil.copytree(root / "course", fresh / "course", ignore=_UNWANTED)
        pictures = _PICTURE.findall((root / "docs" / "student.md").read_text(encoding="utf-8"))
        for name in (*_AS_THEY_ARE, *(f"docs/{picture}" for picture in pictures)):
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, fresh / name)
        project = (root / "pyproject.toml").read_text(encoding="utf-8")
    except OSError as error:
        raise GradingError(f"the course is not complete: {error.filename or error} cannot be read") from error
    (fresh / "pyproject.toml").write_text(_for_installing(project), encoding="utf-8")
    shutil.copyfile(TEMPLATES / "gitignore", fresh / ".gitignore")
    environment = Environment(loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, autoescape=False)
    page = environment.get_template("README.md.j2").render(repository=repository, notebooks=list(_rows(sheets)))
    (fresh / "README.md").write_text(page + "\n", encoding="utf-8")


def _for_installing(project: str) -> str:
    """``pyproject.toml`` without the settings of tools that only developers run."""
    tables = re.split(r"(?m)^(?=\[)", project)
    return "".join(one for one in tables if not one.startswith("[tool.") or one.startswith("[tool.setuptools"))


def _rows(sheets: list[Assignment]) -> Iterator[tuple[str, str, str]]:
    for sheet in sheets:
        for name, notebook in sheet.release.items():
            points = sum(cells.max_points(cell) for cell in notebook.cells if cells.is_graded(cell))
            yield sheet.name, name, f"{points:g}"


def _bring_over(fresh: Path, folder: Path, files: list[str], removed: tuple[str, ...]) -> None:
    for name in files:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(fresh / name, target)
    for name in removed:
        (folder / name).unlink(missing_ok=True)
        for parent in (folder / name).parents:
            if parent == folder or any(parent.iterdir()):
                break
            parent.rmdir()
