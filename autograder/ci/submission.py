"""One folder through the grader's stages, with nothing kept: no gradebook, no journal, no ``submitted/``."""

from __future__ import annotations

from pathlib import Path

from autograder.ci.outcome import SubmissionOutcome, failed_outcome, outcome_of
from autograder.classroom.workers import Isolation
from autograder.errors import NothingToGrade
from autograder.isolation import require
from autograder.kernel.imports import imports_of
from autograder.model.assignment import Assignment
from autograder.model.course import Course
from autograder.model.submission import read_submission
from autograder.pipeline.execute import Kernels
from autograder.pipeline.grade import grade_submission
from autograder.release.judgeable import require_judgeable


def grade_folder(
    course: Course, assignment_name: str, folder: Path, student: str, isolation: Isolation
) -> SubmissionOutcome:
    """Grade the notebooks in ``folder``, as ``autograder grade`` would.

    An outcome with a failure where there is nothing to grade, or where the grader itself cannot do its work.
    Raises GradingError where the instructor asked for what does not exist.
    """
    assignment = Assignment.open(course, assignment_name)
    require_judgeable(assignment)
    imports = imports_of(course)
    try:
        submission = read_submission(folder, student, assignment)
        if isolation == "auto":
            require()  # real attempts to escape, before the first line of a student's code
        with Kernels.open(isolation, imports=imports) as kernels:
            return outcome_of(grade_submission(submission, assignment, kernels, course.file.limits), assignment)
    except NothingToGrade:
        expected = ", ".join(f"{name}.ipynb" for name in assignment.source)
        return failed_outcome(student, assignment_name, f"no notebook was handed in; expected {expected}")
    except Exception as error:  # whatever goes wrong on our side must not look like a zero
        return failed_outcome(student, assignment_name, f"the grader failed ({type(error).__name__}: {error})")
