"""What stock ``nbgrader autograde`` takes for a submission: the same notebooks as ``autograder grade``.

nbgrader opens every file that is named like a notebook of the assignment and parses it before the first preprocessor
runs: a renamed notebook is then missing, and one that is empty or a link stops the whole submission. Its exporter is
made once for every run, from the list of what is to be graded: there the list is put right.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat.v4 import new_notebook
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.model.plain_text import one_line
from autograder.nbgrader.preprocessors import forget
from autograder.release.agreement import check_before_grading


class SubmissionExporter(NotebookExporter):
    """``c.Autograde.exporter_class``. Opens no submitted file: the preprocessors read the submission themselves."""

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
        if not fnmatchcase(student, wanted.student_id):
            continue
        key = converter._format_source(wanted.assignment_id, student)
        try:
            taken = read_submission(course.submitted(student, wanted.assignment_id), student, assignment).notebooks
        except GradingError as error:
            ungradable[student] = str(error)
            taken = dict.fromkeys(assignment.source, b"")
        names = [name for name in taken if fnmatchcase(name, wanted.notebook_id)]
        if names:
            converter.assignments[key] = [os.path.join(key, f"{name}.ipynb") for name in names]
    converter.init_destination = _refusing(converter.init_destination, ungradable)


def _refusing(start: Callable[[str, str], bool], ungradable: dict[str, str]) -> Callable[[str, str], bool]:
    """nbgrader's first step for a submission, which fails where there is nothing to grade: loudly, and without a 0."""

    def init_destination(assignment_id: str, student_id: str) -> bool:
        if student_id in ungradable:
            raise GradingError(one_line(ungradable[student_id]))
        return start(assignment_id, student_id)

    return init_destination
