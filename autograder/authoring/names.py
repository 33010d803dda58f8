"""What ``autograder new`` is asked for: ``ASSIGNMENT[/NOTEBOOK][/EXERCISE]``, read and checked."""

import keyword
import re
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import GradingError
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
