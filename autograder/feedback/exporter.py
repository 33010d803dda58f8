"""The same page from ``nbgrader generate_feedback`` and from the formgrader's button."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder import cells
from autograder import verdict as verdicts
from autograder.assignment import Course, exchange_files
from autograder.feedback.marks import Marks, read_marks
from autograder.feedback.page import render_notebook
from autograder.verdict import CellVerdict, NotebookVerdict, Status


class FeedbackExporter(HTMLExporter):
    """``c.GenerateFeedback.exporter_class``. Takes the verdict from beside the notebook, marks from the gradebook."""

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, ResourcesDict]:
        made = self._init_resources(resources)
        names = made["nbgrader"]
        student, assignment, notebook = names["student"], names["assignment"], names["notebook"]
        marks = read_marks(names["db_url"], assignment, student).get((student, notebook), Marks())
        verdict = _verdict(Path(made["metadata"]["path"]), notebook) or _without_verdict(nb, names)
        page = render_notebook(nb, verdict, marks.comments, marks.manual, marks.late_penalty)
        made["output_extension"] = ".html"
        return page, made


def _verdict(folder: Path, notebook: str) -> NotebookVerdict | None:
    try:
        submission = verdicts.read(folder / "verdicts.json")
    except FileNotFoundError:
        return None
    return next((verdict for verdict in submission.notebooks if verdict.notebook == notebook), None)


def _without_verdict(nb: NotebookNode, names: dict[str, str]) -> NotebookVerdict:
    """What the gradebook alone says, for a submission that was graded before there were verdicts."""
    with Gradebook(names["db_url"]) as gradebook:
        stored = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
        scores = {grade.name: (grade.auto_score, grade.max_score) for grade in stored.grades}
    found = []
    for cell in nb.cells:
        name = cells.grade_id(cell)
        if name is not None and name in scores:
            points, most = scores[name]
            status: Status = "manual" if points is None else "passed" if points == most else "failed"
            found.append(CellVerdict(name, status, points, most))
    return NotebookVerdict(names["student"], names["assignment"], names["notebook"], tuple(found))


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
