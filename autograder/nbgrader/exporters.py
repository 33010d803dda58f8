"""What nbgrader's commands read and write, by our stages: submissions, the pages of feedback, ``grades.csv``."""

import os
from collections.abc import Callable
from datetime import UTC
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter, NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader import api
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.plugins import CsvExportPlugin

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import exchange_files, read_submission
from autograder.classroom.status import stale_grade_warnings
from autograder.errors import GradingError, UnreadableSubmission
from autograder.exports.formats import remarks
from autograder.exports.sheet import Cell, to_csv
from autograder.feedback.page import render_notebook
from autograder.files.atomic import write_file
from autograder.gradebook.gather import gather_from, gather_one
from autograder.gradebook.read import Student
from autograder.gradebook.results import ResultsTable, StudentResult, check_one_version
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.plain_text import forms, one_form, one_line
from autograder.model.verdict import CellVerdict, NotebookVerdict, Status, same, total
from autograder.nbgrader.preprocessors import forget
from autograder.release.agreement import check_before_grading


class SubmissionExporter(NotebookExporter):
    """``c.Autograde.exporter_class``: takes for a submission the same notebooks as ``autograder grade``.

    nbgrader opens every file that is named like a notebook of the assignment and parses it before the first
    preprocessor runs: a renamed notebook is then missing, and one that is empty or a link stops the whole submission.
    Its exporter is made once for every run, from the list of what is to be graded: there the list is put right. It
    opens no submitted file; the preprocessors read the submission themselves.
    """

    def __init__(self, config: Any = None, **kw: Any) -> None:
        super().__init__(config=config, **kw)
        if isinstance(self.parent, Autograde):
            export_existing_results(self.parent)

    def from_filename(self, filename: str, resources: dict[str, Any] | None = None, **kw: Any) -> Any:
        made = ResourcesDict() if resources is None else resources
        path, name = os.path.split(filename)
        made["metadata"] = ResourcesDict(name=name.removesuffix(".ipynb"), path=path)
        return self.from_notebook_node(new_notebook(), made, **kw)


def export_existing_results(converter: Autograde) -> None:
    """Let nbgrader convert, for every student, the notebooks that can be taken for the assignment's.

    Raises nbgrader's own error, which it knows as said, where ``autograder grade`` would refuse the assignment.
    """
    forget()
    wanted = converter.coursedir
    course = Course(Path(wanted.root))
    try:
        assignment = Assignment.open(course, wanted.assignment_id)
        check_before_grading(course.root, assignment)
    except GradingError as error:
        converter.log.error("%s", one_line(str(error)))
        raise NbGraderException(str(error)) from error
    ungradable: dict[str, str] = {}
    for student in course.everybody_submitted(wanted.assignment_id):
        if not fnmatchcase(student, one_form(wanted.student_id)):
            continue
        keys = [converter._format_source(wanted.assignment_id, form) for form in forms(student)]
        key = next(filter(os.path.lexists, keys), keys[0])
        try:
            taken = read_submission(course.submitted(student, wanted.assignment_id), student, assignment).notebooks
        except UnreadableSubmission as error:
            ungradable[student] = str(error)
            taken = dict.fromkeys(assignment.source, b"")
        names = [name for name in taken if fnmatchcase(name, wanted.notebook_id)]
        if names:
            converter.assignments[key] = [os.path.join(key, f"{name}.ipynb") for name in names]
    converter.init_destination = _refusing(converter.init_destination, ungradable)


def _refusing(start: Callable[[str, str], bool], ungradable: dict[str, str]) -> Callable[[str, str], bool]:
    """nbgrader's first step for a submission, which fails where there is nothing to grade: loudly, and without a 0."""

    def init_destination(assignment_id: str, student_id: str) -> bool:
        if one_form(student_id) in ungradable:
            raise GradingError(one_line(ungradable[one_form(student_id)]))
        return start(assignment_id, student_id)

    return init_destination


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


COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip


class GradesExporter(CsvExportPlugin):
    """``c.ExportApp.plugin_class``: scores as ``autograder export`` has them; empty where there is none yet.

    nbgrader's own exporter writes 0.0 for a submission that could not be graded or that nobody has handed in, the sum
    so far for one that waits to be read, and texts without quotes. Columns, file name and options are nbgrader's.
    """

    def export(self, gradebook: api.Gradebook) -> None:
        """Exit code 1 and one line, for a wrong late policy or results of two versions, say."""
        try:
            self._export(gradebook)
        except GradingError as error:
            raise SystemExit(f"nbgrader export: {error}") from error

    def _export(self, gradebook: api.Gradebook) -> None:
        course = Course(self._root())
        wanted = {str(student) for student in self.student} or None
        lines: list[list[Cell]] = [[*COLUMNS]]
        for assignment in gradebook.assignments:
            if self.assignment and assignment.name not in [str(name) for name in self.assignment]:
                continue
            table = gather_from(course, assignment.name, gradebook, wanted)
            check_one_version(table)
            most = _max_score(assignment, table)
            lines += [_line(assignment, row, most) for row in table.rows]
            for remark in remarks(table) + stale_grade_warnings(course, assignment.name):
                self.log.warning("%s: %s", assignment.name, remark)
        self.log.info("Exporting grades to %s", self.to or "grades.csv")
        write_file(Path(self.to or "grades.csv"), to_csv(lines))

    def _root(self) -> Path:
        directory = getattr(self.parent, "coursedir", None)
        return Path(directory.root) if directory is not None else Path.cwd()


def _max_score(assignment: api.Assignment, table: ResultsTable) -> float:
    """As ``autograder export`` has it: without the exercises that were dropped, which are in no sum."""
    if not table.released:
        return float(assignment.max_score)
    dropped = {one.key for one in table.waivers if one.counts == "drop"}
    return total(points for key, points in table.released.items() if key not in dropped)


def _line(assignment: api.Assignment, row: StudentResult, max_score: float) -> list[Cell]:
    student = row.student
    return [
        assignment.name,
        str(assignment.duedate or ""),
        "" if row.submitted_at is None else str(row.submitted_at.astimezone(UTC).replace(tzinfo=None)),
        student.id,
        student.last_name,
        student.first_name,
        student.email,
        row.points,
        row.deduction,
        row.score,
        max_score,
    ]
