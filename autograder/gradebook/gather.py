"""Gathering results: from the gradebook, the verdicts, the late policy and the recorded times."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime

from autograder.errors import NothingToGrade
from autograder.gradebook.graded_answers import waiting_again
from autograder.gradebook.groups import Group, read_groups, shared_times, submitters
from autograder.gradebook.late.file import is_ours, is_there, read_policy, read_written
from autograder.gradebook.late.policy import Lateness, LatePolicy, decide_term
from autograder.gradebook.late.times import course_times
from autograder.gradebook.read import (
    PART,
    Book,
    Grade,
    Gradebook,
    Key,
    Student,
    open_book,
    parts_of,
    read_book,
    read_students,
)
from autograder.gradebook.regradings import Regrading, read_regradings
from autograder.gradebook.results import (
    NOT_GRADED,
    ExerciseResult,
    GradedExercise,
    ResultsTable,
    StudentResult,
    check_one_version,
    result_of,
    waived,
)
from autograder.gradebook.waivers import Waiver, waivers_of
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.plain_text import one_form
from autograder.model.verdict import CellVerdict, SubmissionVerdict


def gather(course: Course, assignment: str) -> ResultsTable:
    """The class's results. Raises NothingToGrade where nothing is graded, GradingError for a wrong late policy or
    where some were graded with other points than the assignment has now."""
    with open_book(course.db_url) or nullcontext() as gradebook:
        table = gather_from(course, assignment, gradebook)
    if not any(row.exercises for row in table.rows):
        raise NothingToGrade(f"nothing is graded for {assignment!r}: run 'autograder grade {assignment}' first")
    check_one_version(table)
    return table


def gather_one(course: Course, assignment: str, student: str) -> StudentResult | None:
    """One student's result; None where nobody has heard of them."""
    with open_book(course.db_url) or nullcontext() as gradebook:
        table = gather_from(course, assignment, gradebook, {student})
    return next(iter(table.rows), None)


def gather_from(
    course: Course, assignment: str, gradebook: Gradebook | None, students: Collection[str] | None = None
) -> ResultsTable:
    """As :func:`gather`, from an open gradebook, and unchecked; ``students``: these alone. A table may be empty."""
    students = None if students is None else set(map(one_form, students))
    graded = set(course.everybody_autograded(assignment))
    handed_in = set(course.everybody_submitted(assignment))
    groups = read_groups(course.root, course.assignments())
    together = submitters(course, groups.get(assignment, ()), assignment, graded)
    asked = None if students is None else {together.get(student, student) for student in students}
    book = waiting_again(course.root, assignment, read_book(gradebook, assignment, asked))
    everybody = {*book.students, *book.grades, *graded, *handed_in, *together}
    wanted = sorted(everybody if students is None else everybody & set(students))
    theirs = {together.get(student, student) for student in wanted}
    said, unreadable = _read_verdicts(course, assignment, sorted(theirs & graded))
    part = ReadStudents(said, book, handed_in | graded)
    known = _known(course, assignment, groups, together, lambda: everybody, [part])
    rows = tuple(row_for(student, known, part) for student in wanted)
    given = tuple(known.waivers.values())
    dropped = {one.key for one in given if one.counts == "drop"}
    shown = tuple(replace(one, max_points=0.0) if one.key in dropped else one for one in known.exercises)
    return ResultsTable(assignment, shown, rows, known.speaks, unreadable, book.max_points, given)


def gather_in_parts(
    course: Course, assignment: str, gradebook: Gradebook | None, students: Sequence[str]
) -> Iterator[StudentResult]:
    """The rows that :func:`gather_from` has for these students, who have handed in.

    Of a large class no more than a part is in memory at once. Each part is read twice, because a row depends on which
    exercises there are in the whole class.
    """
    if len(students) <= PART:
        yield from gather_from(course, assignment, gradebook, students).rows
        return
    groups = read_groups(course.root, course.assignments())
    together: dict[str, str] = {}
    if own := groups.get(assignment):
        together = submitters(course, own, assignment, course.everybody_autograded(assignment))

    def everybody() -> set[str]:
        found = {*course.everybody_autograded(assignment), *course.everybody_submitted(assignment)}
        return {*read_students(gradebook), *found, *together}

    def read(some: Sequence[str]) -> ReadStudents:
        return _read_part(course, assignment, gradebook, {*some, *(together.get(one, one) for one in some)})

    wanted = sorted(set(students))
    theirs = sorted({together.get(student, student) for student in wanted})
    known = _known(course, assignment, groups, together, everybody, map(read, parts_of(theirs)))
    for some in parts_of(wanted):
        part = read(some)
        yield from (row_for(student, known, part) for student in some)


def _read_part(course: Course, assignment: str, gradebook: Gradebook | None, students: set[str]) -> "ReadStudents":
    """Their folders are looked at one by one: to list everybody's takes memory that grows with the class."""
    graded = {one for one in students if (course.autograded(one, assignment) / "verdicts.json").is_file()}
    there = {one for one in students if one in graded or _handed_in(course, assignment, one)}
    said, _ = _read_verdicts(course, assignment, sorted(graded))
    book = waiting_again(course.root, assignment, read_book(gradebook, assignment, students, students))
    return ReadStudents(said, book, there)


def _handed_in(course: Course, assignment: str, student: str) -> bool:
    return course.takes(student) and os.path.lexists(course.submitted(student, assignment))


def _known(
    course: Course,
    assignment: str,
    groups: Mapping[str, tuple[Group, ...]],
    together: Mapping[str, str],
    everybody: Callable[[], Collection[str]],
    parts: "Iterable[ReadStudents]",
) -> "Known":
    """parts: together the whole class, or all of it that is asked for."""
    exercises, released = _exercises(parts)
    policy = None
    if is_there(course.root):
        members = {member for group in groups.get(assignment, ()) for member in group.members}
        policy = policy_of(course, {*everybody(), *members})
    names = {assignment, *(policy.assignments if policy else ())}
    times = {name: shared_times(groups.get(name, ()), course_times(course, name)) for name in names}
    speaks = bool(policy and assignment in policy.assignments)
    withdrawn = {} if speaks else read_written(course.root, assignment)  # by a policy that is no more
    waivers = waivers_of(course.root, assignment, {*released, *(one.key for one in exercises)})
    again = read_regradings(course.root, assignment)
    return Known(assignment, together, policy, times, withdrawn, exercises, waivers, again)


def policy_of(course: Course, students: Collection[str]) -> LatePolicy | None:
    """The course's late policy, checked against the assignments and students that exist."""
    if not is_there(course.root):
        return None  # to look through every folder for nothing would take its time
    return read_policy(course.root, course.assignments() or None, {*students, *course.everybody_submitted()})


def _read_verdicts(
    course: Course, assignment: str, students: Iterable[str]
) -> tuple[dict[str, SubmissionVerdict], dict[str, str]]:
    """Student to verdict, and student to the reason why there is none that can be read: the grader's failure."""
    found: dict[str, SubmissionVerdict] = {}
    unreadable: dict[str, str] = {}
    for student in students:
        try:
            read = verdicts.read(course.autograded(student, assignment) / "verdicts.json")
            found[student] = replace(read, student=student)
        except (OSError, ValueError, KeyError, TypeError) as error:
            unreadable[student] = f"{type(error).__name__}: {error}"[:200]
    return found, unreadable


def _exercises(parts: "Iterable[ReadStudents]") -> tuple[list[GradedExercise], Mapping[Key, float]]:
    """Every exercise that anybody has a result in, in the order of the notebooks and of the cells in them.

    Also the points of the assignment's last release.
    """
    said: dict[Key, float] = {}
    held: dict[Key, float] = {}  # by the gradebook
    released: Mapping[Key, float] = {}
    for part in parts:
        for verdict in part.said.values():
            for notebook in verdict.notebooks:
                for cell in notebook.cells:
                    said.setdefault((notebook.notebook, cell.cell), cell.max_points)
        for grades in part.book.grades.values():
            for key, grade in grades.items():
                held.setdefault(key, grade.max_score)
        released = part.book.max_points
    found = said | {key: most for key, most in held.items() if key not in said}
    exercises = [GradedExercise(*key, released.get(key, most)) for key, most in found.items()]
    return sorted(exercises, key=lambda exercise: exercise.notebook), released


@dataclass(frozen=True)
class Known:
    """What counts for everybody alike.

    ``together``: member of a group to the one who handed in. ``withdrawn``: student to a penalty of ours that a policy
    put into the gradebook which is no more. ``again``: what was graded again, by who handed it in.
    """

    assignment: str
    together: Mapping[str, str]
    policy: LatePolicy | None
    times: Mapping[str, Mapping[str, datetime]]
    withdrawn: Mapping[str, float]
    exercises: Sequence[GradedExercise]
    waivers: Mapping[Key, Waiver]
    again: Mapping[str, tuple[Regrading, ...]]

    @property
    def speaks(self) -> bool:
        """Whether the late policy says something about this assignment."""
        return self.policy is not None and self.assignment in self.policy.assignments


@dataclass(frozen=True)
class ReadStudents:
    """What was read of some students, or of all. ``there``: who of them handed in, or has a verdict."""

    said: Mapping[str, SubmissionVerdict]
    book: Book
    there: Collection[str]


def row_for(student: str, known: Known, part: ReadStudents) -> StudentResult:
    """The student's row, and the group's where another member handed in."""
    by = known.together.get(student, student)  # who handed in
    book = part.book
    results = _results(part.said.get(by), book.grades.get(by, {}))
    if not results and by in part.there:
        results = {one.key: ExerciseResult(NOT_GRADED, None, one.max_points) for one in known.exercises}
    waivers = known.waivers
    return StudentResult(
        book.students.get(student, Student(student)),
        {one.key: waived(results[one.key], waivers.get(one.key)) for one in known.exercises if one.key in results},
        _comments(book, by),
        _in_zone(known, student),
        _lateness(known, student) if results else None,
        0.0 if is_ours(penalty := book.penalties.get(by, 0.0), known.withdrawn.get(by)) else penalty,
        _of(student, part.said.get(by)),
        known.again.get(by, ()),
        "" if by == student else by,
    )


def _of(student: str, verdict: SubmissionVerdict | None) -> SubmissionVerdict | None:
    """The verdict as this member of the group reads it."""
    if verdict is None or verdict.student == student:
        return verdict
    books = tuple(replace(one, student=student) for one in verdict.notebooks)
    return replace(verdict, student=student, notebooks=books)


def _in_zone(known: Known, student: str) -> datetime | None:
    """When the student handed in, as the clocks of the deadline show it."""
    moment = known.times[known.assignment].get(student)
    if moment is None or known.policy is None or not known.speaks:
        return moment
    return moment.astimezone(known.policy.assignments[known.assignment].deadline.tzinfo)


def _lateness(known: Known, student: str) -> Lateness | None:
    if known.policy is None or not known.speaks:
        return None
    return decide_term(known.policy, known.assignment, student, known.times)


def _results(said: SubmissionVerdict | None, grades: Mapping[Key, Grade]) -> dict[Key, ExerciseResult]:
    cells: dict[Key, CellVerdict] = {}
    if said is not None:
        cells = {(one.notebook, cell.cell): cell for one in said.notebooks for cell in one.cells}
    empty = all(grade.auto_score is None and grade.manual_score is None for grade in grades.values())
    never = said is None and empty  # as nbgrader leaves it before it runs anything
    return {key: result_of(cells.get(key), grades.get(key), never) for key in {**cells, **grades}}


def _comments(book: Book, student: str) -> dict[Key, str]:
    """What people wrote, without what they wrote about an earlier answer."""
    grades = book.grades.get(student, {})
    unsure = {key for key, grade in grades.items() if grade.needs_manual_grade and grade.manual_score is not None}
    return {key: text for key, text in book.comments.get(student, {}).items() if key not in unsure}
