"""The course total: a student's results in all assignments, with weights, and without the lowest.

1. An assignment's points count as often as its weight says; the percentage is points of the most that counts.
2. What nobody has decided makes the total None, never less: it may yet become any number of points.
3. Where nothing was handed in, or it was refused, there are no points either, unless the course says that they are 0.
   Of all that can be dropped it is dropped first.
4. Dropped is what has the lowest share of its points, late deductions taken off; of equal ones that which weighs most.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.errors import GradingError, NothingToGrade
from autograder.gradebook.gather import gather
from autograder.gradebook.read import Student
from autograder.gradebook.results import ResultsTable, State, StudentResult
from autograder.model import course_file
from autograder.model.course import Course
from autograder.model.course_file import TotalRules
from autograder.model.plain_text import meant
from autograder.model.verdict import total

_MISSING: tuple[State, ...] = ("nothing handed in", "refused")


@dataclass(frozen=True)
class AssignmentShare:
    """One assignment of one student.

    score, max_points: without the weight. dropped: it does not count.
    """

    assignment: str
    state: State
    score: float | None
    max_points: float
    weight: float
    dropped: bool = False

    @property
    def share(self) -> float:
        """Of its points; the lowest of all where there are none."""
        return -1.0 if self.score is None else self.score / self.max_points


@dataclass(frozen=True)
class StudentTotal:
    student: Student
    parts: tuple[AssignmentShare, ...]

    @property
    def counted(self) -> list[AssignmentShare]:
        return [part for part in self.parts if part.weight and not part.dropped]

    @property
    def waiting(self) -> list[AssignmentShare]:
        """Those for which the total waits."""
        return [part for part in self.counted if part.score is None]

    @property
    def dropped(self) -> list[str]:
        return [part.assignment for part in self.parts if part.dropped]

    @property
    def points(self) -> float | None:
        return None if self.waiting else total(part.weight * (part.score or 0.0) for part in self.counted)

    @property
    def max_points(self) -> float:
        return total(part.weight * part.max_points for part in self.counted)

    @property
    def percent(self) -> float | None:
        """None as the points are, and where there are none to be had."""
        return None if self.points is None or not self.max_points else 100 * self.points / self.max_points


@dataclass(frozen=True)
class CourseTotal:
    """A class.

    left_out: assignments of which nothing is graded yet. drop_lowest: how many were dropped, while few are graded.
    """

    tables: tuple[ResultsTable, ...]
    rules: TotalRules
    rows: tuple[StudentTotal, ...]
    left_out: tuple[str, ...]
    drop_lowest: int

    @property
    def assignments(self) -> list[str]:
        return [table.assignment for table in self.tables]

    def weight(self, assignment: str) -> float:
        return self.rules.weights.get(assignment, 1.0)


def gather_total(course: Course) -> CourseTotal:
    """Raises NothingToGrade where nothing is graded, GradingError where the rules cannot hold in this course."""
    rules, names = course.file.total, course.assignments()
    check_rules(rules, names)
    tables, left_out = [], []
    for name in (name for name in names if rules.weights.get(name, 1.0)):
        try:
            tables.append(gather(course, name))
        except NothingToGrade:
            left_out.append(name)
    if not tables:
        raise NothingToGrade("nothing is graded in this course: run 'autograder grade ASSIGNMENT' first")
    return total_of(tables, rules, left_out)


def check_rules(rules: TotalRules, assignments: Sequence[str]) -> None:
    """Raises GradingError for an assignment that the course has not, and where nothing would be left to count."""
    for name in rules.weights:
        if name not in assignments:
            hint = meant(name, assignments) or f"known are {', '.join(assignments)}"
            raise GradingError(f"{course_file.NAME}: [total]: unknown assignment {name!r} in weights; {hint}")
    counted = [name for name in assignments if rules.weights.get(name, 1.0)]
    if rules.drop_lowest >= max(1, len(counted)) or not counted:
        raise GradingError(
            f"{course_file.NAME}: [total]: expected drop_lowest to leave an assignment that counts; "
            f"{len(counted)} of {len(assignments)} have a weight above 0, and drop_lowest is {rules.drop_lowest}"
        )


def total_of(tables: Sequence[ResultsTable], rules: TotalRules, left_out: Sequence[str] = ()) -> CourseTotal:
    """From tables that are gathered. While few are graded, fewer are dropped: one always counts."""
    drop = min(rules.drop_lowest, len(tables) - 1)
    found: dict[str, dict[str, StudentResult]] = {}
    for table in tables:
        for row in table.rows:
            found.setdefault(row.student.id, {})[table.assignment] = row
    rows = tuple(_total(found[student], tables, rules, drop) for student in sorted(found))
    return CourseTotal(tuple(tables), rules, rows, tuple(left_out), drop)


def _total(
    results: Mapping[str, StudentResult], tables: Sequence[ResultsTable], rules: TotalRules, drop: int
) -> StudentTotal:
    parts = [_part(table, results.get(table.assignment), rules) for table in tables]
    known = [part for part in parts if part.max_points and (part.score is not None or part.state in _MISSING)]
    lowest = sorted(known, key=lambda part: (part.share, -part.weight * part.max_points, part.assignment))
    gone = {part.assignment for part in lowest[:drop]}
    made = tuple(
        AssignmentShare(part.assignment, part.state, part.score, part.max_points, part.weight, part.assignment in gone)
        for part in parts
    )
    people = [row.student for row in results.values()]  # one of the tables may know the name
    return StudentTotal(next((one for one in people if one.last_name or one.email), people[0]), made)


def _part(table: ResultsTable, row: StudentResult | None, rules: TotalRules) -> AssignmentShare:
    state: State = "nothing handed in" if row is None else row.state
    score = None if row is None else row.score
    if state in _MISSING and rules.missing == "zero":
        score = 0.0
    most = row.max_points if row is not None and row.exercises else table.max_points
    return AssignmentShare(table.assignment, state, score, most, rules.weights.get(table.assignment, 1.0))
