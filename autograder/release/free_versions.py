"""Before a release: does ``free`` in ``course.toml`` do what it says?"""

from __future__ import annotations

from autograder.errors import GradingError
from autograder.model.cells import is_solution
from autograder.model.course import Course, unknown_assignment
from autograder.model.free import widened
from autograder.model.settings import read_config
from autograder.model.source import MARKERS, instructors_notebook

_BEGIN, _END = (MARKERS[f"ClearSolutions.{one}_solution_delimeter"] for one in ("begin", "end"))
_STEP = "FreeVersions"


def require_free(course: Course, assignment: str) -> None:
    """Raises GradingError for a free version that names nothing, changes nothing, or would not be made."""
    for named in course.file.free:
        folder, _, name = named.partition("/")
        if folder not in course.assignments():
            raise GradingError(f"course.toml: free: {unknown_assignment(course, folder)}")
        if folder == assignment and name not in course.file.deliverables.get(assignment, ()):
            _require_notebook(course, assignment, name)


def _require_notebook(course: Course, assignment: str, name: str) -> None:
    path = course.source(assignment) / f"{name}.ipynb"
    if not path.is_file():
        raise GradingError(
            f"course.toml: free: {assignment}/{name} is no notebook of {assignment} and no file that [deliverables] "
            f"names: expected, say, {assignment}/{_some_notebook(course, assignment)}"
        )
    steps = read_config(course.root).GenerateAssignment.get("preprocessors")
    if not isinstance(steps, list) or _STEP not in {step.__name__ for step in steps}:
        raise GradingError(
            f"course.toml: free: {assignment}/{name}: nbgrader_config.py does not have {_STEP} in the list "
            "c.GenerateAssignment.preprocessors, so that students would get the guided version: put it in front "
            "('from autograder.nbgrader.preprocessors import FreeVersions')"
        )
    notebook = instructors_notebook(path, course.settings.form)
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "code" and is_solution(cell))
    if all(widened(text, _BEGIN, _END) == text for text in texts):
        raise GradingError(
            f"course.toml: free: {assignment}/{name}: no function there has given lines around a gap, so that there is "
            "nothing to free; take it out of the list"
        )


def _some_notebook(course: Course, assignment: str) -> str:
    return min(path.stem for path in course.source(assignment).glob("*.ipynb"))
