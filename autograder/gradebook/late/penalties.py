"""Late penalties in nbgrader's gradebook, as the policy and the points of this moment have them.

nbgrader holds one penalty per submitted notebook and subtracts it from that notebook's score. A submission's deduction
is therefore spread over its notebooks in proportion to their points: the sum is the deduction, and none goes below 0.
Points change when people mark by hand, so this is done again before grades are read: it replaces, it never adds.
"""

from contextlib import nullcontext
from datetime import UTC

from sqlalchemy.exc import OperationalError

from autograder.errors import GradingError, gradebook_said
from autograder.gradebook.gather import gather_from, policy_of
from autograder.gradebook.groups import read_groups, submitters
from autograder.gradebook.late.file import NAME, is_ours, read_written, record_written
from autograder.gradebook.read import Gradebook, find_submission, open_book, read_students
from autograder.gradebook.results import ResultsTable, StudentResult
from autograder.model.course import Course
from autograder.model.verdict import total


def check_policy(course: Course, assignment: str) -> None:
    """Raises GradingError for a wrong late policy, or wrong groups: before a class is graded, not after."""
    groups = read_groups(course.root, course.assignments()).get(assignment, ())
    submitters(course, groups, assignment)
    members = {member for group in groups for member in group.members}
    with open_book(course.db_url) or nullcontext() as gradebook:
        policy_of(course, {*read_students(gradebook), *members})


def refresh_penalties(course: Course, assignment: str) -> None:
    """Bring the gradebook's penalties for one assignment up to date. Nothing where no gradebook is, or no policy was.

    Raises GradingError for a wrong late policy, or a gradebook that cannot be written.
    """
    if not (course.root / NAME).is_file() and not read_written(course.root, assignment):
        return  # reading a thousand verdicts for nothing would take its time and memory
    gradebook = open_book(course.db_url)
    if gradebook is not None:
        with gradebook:
            write_penalties(course, gradebook, gather_from(course, assignment, gradebook))


def store_penalties(course: Course, table: ResultsTable) -> None:
    """As :func:`refresh_penalties`, for a table that was gathered just now."""
    gradebook = open_book(course.db_url)
    if gradebook is not None:
        with gradebook:
            write_penalties(course, gradebook, table)


def write_penalties(course: Course, gradebook: Gradebook, table: ResultsTable) -> None:
    """Replace the penalties of everybody in ``table``.

    Where no policy speaks, those that it once wrote are taken back, and nbgrader's own stay as they are.
    """
    before = read_written(course.root, table.assignment)
    if not table.deadline and not before:
        return
    try:
        if table.deadline:
            written = {row.student.id: _write(gradebook, table.assignment, row) for row in table.rows}
            # on record before they count: a penalty that nobody knows the source of would stay for ever
            record_written(course.root, table.assignment, {**before, **written})
            gradebook.db.commit()
        else:
            for student, points in before.items():
                _take_back(gradebook, table.assignment, student, points)
            gradebook.db.commit()
            record_written(course.root, table.assignment, {})
    except OperationalError as error:
        gradebook.db.rollback()
        raise GradingError(f"the late penalties could not be written: {gradebook_said(error)}") from error


def _take_back(gradebook: Gradebook, assignment: str, student: str, written: float) -> None:
    submission = find_submission(gradebook, assignment, student)
    notebooks = submission.notebooks if submission is not None else ()
    if is_ours(sum(notebook.late_submission_penalty or 0.0 for notebook in notebooks), written):
        for notebook in notebooks:
            notebook.late_submission_penalty = None


def _write(gradebook: Gradebook, assignment: str, row: StudentResult) -> float:
    """The points that were taken off."""
    submission = find_submission(gradebook, assignment, row.student.id)
    if submission is None:
        return 0.0
    if row.submitted_at is not None:
        # nbgrader keeps UTC without saying so
        submission.timestamp = row.submitted_at.astimezone(UTC).replace(tzinfo=None)
    scores = [max(0.0, notebook.score) for notebook in submission.notebooks]
    penalties = _penalties(row, scores)
    for notebook, penalty in zip(submission.notebooks, penalties, strict=True):
        notebook.late_submission_penalty = penalty or None
    return sum(penalties)


def _penalties(row: StudentResult, scores: list[float]) -> list[float]:
    """One per notebook. nbgrader has no refusal: a refused submission counts nothing there."""
    earned = total(scores)
    if row.lateness is None or row.state == "infrastructure" or not earned:
        return [0.0] * len(scores)
    deduction = earned if row.lateness.refused else row.lateness.deduction(earned)
    return [deduction * score / earned for score in scores]
