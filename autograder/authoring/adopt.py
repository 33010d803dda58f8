"""``autograder adopt``: what a course that was made with nbgrader alone gets added, and nothing else of it changes."""

import ast
import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from autograder.errors import GradingError
from autograder.files.atomic import write_file
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import NAME
from autograder.model.nbgrader import CONFIG
from autograder.model.source import read_notebook

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
