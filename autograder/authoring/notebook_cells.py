"""What ``autograder new`` is asked for, and the cells of a new exercise: in a new notebook, or in one that exists."""

import ast
import keyword
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.course import Course

FORM = "ASSIGNMENT[/NOTEBOOK][/EXERCISE]"
MAX_NAME = 50  # a cell's id has 64 characters at most, and `_answer` comes behind the name
_NOTEBOOK = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
#: Names that a notebook uses itself.
_TAKEN = ("case", "check", "np", "reference")


@dataclass(frozen=True)
class NewExercise:
    """An exercise that is to be made; assignment and notebook may be new as well."""

    assignment: str
    notebook: str
    exercise: str

    @property
    def slug(self) -> str:
        return f"{self.assignment}/{self.exercise}"


def read_name(text: str, course: Course) -> NewExercise:
    """What is left out is named after what is there; two parts are assignment and exercise, as in every slug.

    A second part that begins with a digit is a notebook. Raises GradingError for a name that cannot be used.
    """
    parts = [part.strip() for part in text.strip().strip("/").split("/")]
    if not 1 <= len(parts) <= 3 or not all(parts):
        raise GradingError(f"expected {FORM}, such as signals/median, not {text!r}")
    assignment = parts[0]
    there = _notebooks(course, assignment)
    if assignment not in course.assignments():
        _require_identifier("assignment", assignment)
    elif len(parts) == 1:
        raise GradingError(f"the assignment {assignment!r} exists: say {assignment}/EXERCISE for one more exercise")
    if len(parts) == 3:
        notebook, exercise = parts[1:]
    elif len(parts) == 2 and not parts[1][0].isdigit():
        notebook, exercise = _only_notebook(assignment, there), parts[1]
    else:
        notebook = parts[1] if len(parts) == 2 else f"1_{assignment}"
        exercise = re.sub(r"^[0-9]+[_-]*", "", notebook)
    if notebook in there and exercise not in parts[1:]:
        raise GradingError(f"{assignment}/{notebook}.ipynb exists: say {assignment}/{notebook}/EXERCISE")
    if not _NOTEBOOK.fullmatch(notebook) or len(notebook) > MAX_NAME:
        raise GradingError(f"{notebook!r} cannot be a notebook's name: expected letters, digits, _ and -")
    _require_identifier("exercise", exercise)
    if exercise in _TAKEN:
        raise GradingError(f"{exercise!r} cannot be an exercise's name: notebooks use it themselves")
    return NewExercise(assignment, notebook, exercise)


def _notebooks(course: Course, assignment: str) -> list[str]:
    return sorted(path.stem for path in Path(course.source(assignment)).glob("*.ipynb"))


def _only_notebook(assignment: str, there: list[str]) -> str:
    if len(there) > 1:
        raise GradingError(
            f"{assignment} has {len(there)} notebooks ({', '.join(there)}): say {assignment}/NOTEBOOK/EXERCISE"
        )
    return there[0] if there else f"1_{assignment}"


def _require_identifier(what: str, name: str) -> None:
    """The name of an assignment or exercise is a module's, an exercise's a function's too."""
    usable = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and not keyword.iskeyword(name) and len(name) <= MAX_NAME
    if not usable:
        raise GradingError(
            f"{name!r} cannot be the name of an {what}: expected letters, digits and _, a letter first, as in "
            f"moving_average; at most {MAX_NAME} characters"
        )


POINTS = 1
#: How a text begins that belongs to the exercise above it.
_BELONGS = re.compile(r"<details|\W*(what to notice|hint)\b", re.IGNORECASE)
_PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def with_exercise(path: Path, new: NewExercise, checks: str, setup: str, *, shows: bool = False) -> NotebookNode:
    """The notebook at ``path``, or a new one, with the cells of the exercise after those of its last exercise. What
    follows there closes the notebook.

    checks: the package of the course's visible checks, if it has one; setup: the text of the setup cell, if it has one;
    shows: the visible check is made of a pack.
    """
    notebook = _read(path) if path.exists() else _empty(new, checks, setup)
    alias = _check_of(notebook, checks, new.assignment) if checks else ""
    values = {
        "assignment": new.assignment,
        "exercise": new.exercise,
        "heading": heading(new.exercise),
        "points": POINTS,
        "checks": checks,
        "import_check": bool(checks and not alias),
        "check": alias or "check",
        "shows": shows,
    }
    answer, tests = f"{new.exercise}_answer", new.exercise
    added = [
        new_markdown_cell(_text("text.md.j2", values), id=f"{new.exercise}_text"),
        new_code_cell(_text("answer_cell.py.j2", values), id=answer, metadata=_metadata(answer, solution=True)),
        new_code_cell(_text("graded_cell.py.j2", values), id=tests, metadata=_metadata(tests, points=POINTS)),
    ]
    _require_free(path, notebook, added)
    end = _end_of_exercises(notebook)
    notebook.cells[end:end] = added
    return notebook


def _end_of_exercises(notebook: NotebookNode) -> int:
    """The place after the last graded cell and what belongs to it: hints, code that tries it, what to notice."""
    graded = [place for place, cell in enumerate(notebook.cells) if cells.is_graded(cell)]
    if not graded:
        return len(notebook.cells)
    name = str(cells.grade_id(notebook.cells[graded[-1]])).replace("_", "-")
    for place, cell in enumerate(notebook.cells[graded[-1] + 1 :], graded[-1] + 1):
        named = str(cell.get("id", "")).replace("_", "-").startswith(f"{name}-")
        if cell.cell_type != "code" and not named and not _BELONGS.match(cell.source):
            return place
    return len(notebook.cells)


def text_of(notebook: NotebookNode) -> str:
    if (notebook.nbformat, notebook.nbformat_minor) < (4, 5):  # an older format, in which cells have no ids
        for cell in notebook.cells:
            cell.pop("id", None)
    return str(nbformat.writes(notebook)) + "\n"


def _read(path: Path) -> NotebookNode:
    try:
        return nbformat.read(path, as_version=nbformat.NO_CONVERT)
    except Exception as error:  # nbformat raises many kinds
        raise GradingError(f"{path} cannot be read as a notebook: {error}") from error


def _empty(new: NewExercise, checks: str, setup: str) -> NotebookNode:
    imports = "import numpy as np" + (f"\n\nfrom {checks} import {new.assignment} as check" if checks else "")
    made = [new_markdown_cell(f"# {heading(new.notebook)}\n\nSTUB: what this notebook is about", id="title")]
    if setup:
        made.append(new_code_cell(setup.strip(), id="setup", metadata=_metadata("setup")))
    made.append(new_code_cell(imports, id="imports", metadata=_metadata("imports")))
    return new_notebook(cells=made, metadata=_PYTHON)


def _metadata(grade_id: str, *, solution: bool = False, points: int | None = None) -> dict[str, object]:
    """nbgrader's own marks: a solution is the student's, everything else is locked."""
    marks = {"grade": points is not None, "grade_id": grade_id, "locked": not solution}
    marks |= {"points": points} if points is not None else {}
    return {"nbgrader": marks | {"schema_version": 3, "solution": solution, "task": False}}


def _text(template: str, values: dict[str, object]) -> str:
    return render(f"exercise/{template}", **values).rstrip("\n")


def _check_of(notebook: NotebookNode, checks: str, assignment: str) -> str:
    """What the notebook calls the assignment's visible checks; empty where it does not import them."""
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        try:
            tree = cells.parse(cell.source)
        except SyntaxError:  # a cell that shows a mistake on purpose
            continue
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == checks):
            for alias in (alias for alias in node.names if alias.name == assignment):
                return alias.asname or alias.name
    return ""


def _require_free(path: Path, notebook: NotebookNode, added: list[NotebookNode]) -> None:
    used = {name for cell in notebook.cells for name in (cell.get("id"), cells.grade_id(cell)) if name}
    for cell in added:
        if cell.id in used:
            raise GradingError(f"{path} has a cell {cell.id!r} already: choose another name for the exercise")


TEMPLATES = Path(__file__).resolve().parent / "templates"


def render(name: str, **values: object) -> str:
    """The text of a template. ``name``: its path within ``templates/``; one without ``.j2`` is taken as it stands."""
    if not name.endswith(".j2"):
        return (TEMPLATES / name).read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.get_template(name).render(**values)


def heading(name: str) -> str:
    """A name as a title: ``1_low_pass`` -> ``1 · Low pass``."""
    number, _, rest = name.partition("_")
    words = (rest if number.isdecimal() and rest else name).replace("_", " ").replace("-", " ").strip()
    title = words[:1].upper() + words[1:]
    return f"{number} · {title}" if number.isdecimal() and rest else title
