"""The points that count, put into the rows of a run at its end."""

from __future__ import annotations

from contextlib import nullcontext

from autograder.classroom.row import Row
from autograder.classroom.rows import with_result
from autograder.gradebook.gather import gather_in_parts
from autograder.gradebook.read import open_book
from autograder.model.course import Course


def put_in_results(course: Course, assignment: str, students: list[str], rows: dict[str, Row]) -> None:
    """Put what counts for each of these students into their row, in place of the grader's points."""
    with open_book(course.db_url) or nullcontext() as book:
        for result in gather_in_parts(course, assignment, book, students):
            student = result.student.id
            rows[student] = with_result(rows[student], result)
