"""The same page from ``nbgrader generate_feedback`` and from the formgrader's button."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode

from autograder.assignment.submission import exchange_files
from autograder.feedback.page import render_notebook
from autograder.gradebook.gather import gather_one
from autograder.gradebook.read import Student
from autograder.gradebook.results import StudentResult
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.points import same
from autograder.model.verdict import CellVerdict, NotebookVerdict, Status


class FeedbackExporter(HTMLExporter):
    """``c.GenerateFeedback.exporter_class``. Takes the verdict from beside the notebook, marks from the gradebook."""

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, ResourcesDict]:
        made = self._init_resources(resources)
        names = made["nbgrader"]
        student, assignment, notebook = names["student"], names["assignment"], names["notebook"]
        course = Course(Path.cwd())  # nbgrader's converters change into the course's root
        result = gather_one(course, assignment, student) or StudentResult(Student(student))
        verdict = _verdict(result, notebook) or _without_verdict(nb, result, assignment, notebook)
        page = render_notebook(course.file.fill_in(nb), verdict, result, course.file.library)
        made["output_extension"] = ".html"
        return page, made


def _verdict(result: StudentResult, notebook: str) -> NotebookVerdict | None:
    submission = result.verdict
    if submission is None:
        return None
    return next((verdict for verdict in submission.notebooks if verdict.notebook == notebook), None)


def _without_verdict(nb: NotebookNode, result: StudentResult, assignment: str, notebook: str) -> NotebookVerdict:
    """What the gradebook alone says, for a submission that was graded before there were verdicts."""
    found = []
    for cell in nb.cells:
        name = cells.grade_id(cell) or ""
        if one := result.exercises.get((notebook, name)):
            status: Status = (
                "manual" if one.points is None else "passed" if same(one.points, one.max_points) else "failed"
            )
            found.append(CellVerdict(name, status, one.points, one.max_points))
    return NotebookVerdict(result.student.id, assignment, notebook, tuple(found))


def pages_only(root: Path | str) -> Callable[..., None]:
    """``c.GenerateFeedback.post_convert_hook``: stock copies whatever lies beside the notebook; it goes away again.

    What nbgrader's exchange needs to hand the pages out is put there anew, from the submission.
    """

    def hook(*, assignment: str, student: str, **_: object) -> None:
        course = Course(Path(root))  # not before: the configuration that names this hook is being read
        for one, folder in course.feedback_folders(assignment).items():
            if not fnmatchcase(one, student):
                continue
            for path in folder.rglob("*"):
                if path.is_symlink() or (path.is_file() and path.suffix != ".html"):
                    path.unlink()
            for name, data in exchange_files(course.submitted(one, assignment)).items():
                (folder / name).write_bytes(data)

    return hook
