"""A class's results, and its verdicts with the points that count put in."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

from autograder.errors import NothingToGrade
from autograder.gradebook.gather import gather_from
from autograder.gradebook.read import open_book
from autograder.gradebook.results import ResultsTable, StudentResult, check_one_version, with_results
from autograder.model.course import Course
from autograder.model.verdict import SubmissionVerdict


def _ungraded(row: StudentResult) -> bool:
    return bool(row.exercises) and row.verdict is None and not row.submitted_by


@dataclass(frozen=True)
class Results:
    """``unreadable`` names those whose verdict could not be read, and why."""

    table: ResultsTable

    @property
    def assignment(self) -> str:
        return self.table.assignment

    @property
    def max_points(self) -> float:
        return self.table.max_points

    @property
    def unreadable(self) -> Mapping[str, str]:
        return self.table.unreadable

    @property
    def ungraded(self) -> list[str]:
        """Who handed in and has no verdict at all."""
        rows = [row.student.id for row in self.table.rows if _ungraded(row)]
        return [student for student in rows if student not in self.unreadable]

    @cached_property
    def rows(self) -> tuple[StudentResult, ...]:
        """Those with a verdict, in order of students; of a group the one who handed in."""
        return tuple(row for row in self.table.rows if row.verdict is not None and not row.submitted_by)

    @cached_property
    def verdicts(self) -> tuple[SubmissionVerdict, ...]:
        """One for each of ``rows``."""
        return tuple(with_results(row.verdict, row.exercises) for row in self.rows if row.verdict is not None)


def read_results(course: Course, assignment: str) -> Results:
    """Every verdict of an assignment. Raises NothingToGrade where no verdict can be read, GradingError where some
    were graded with other points than the assignment has now."""
    with open_book(course.db_url) or nullcontext() as gradebook:
        found = Results(gather_from(course, assignment, gradebook))
    if not found.rows:
        raise NothingToGrade(f"nothing is graded for {assignment!r}: run 'autograder grade {assignment}' first")
    check_one_version(found.table)
    return found
