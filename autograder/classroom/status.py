"""Where an assignment stands: released or stale, handed in, graded, to be read, late. Reads, never grades."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace

from autograder.assignment.assignment import Assignment
from autograder.classroom.journal import Journal
from autograder.classroom.stale_grades import handed_in_newer, stale_grade_warnings
from autograder.errors import GradingError, NeverReleased
from autograder.gradebook.accepted import in_groups, offered
from autograder.gradebook.gather import gather_from, policy_of
from autograder.gradebook.groups import with_mates
from autograder.gradebook.read import open_book
from autograder.gradebook.results import ResultsTable, counted
from autograder.model.course import Course
from autograder.model.verdict import FOR_A_PERSON
from autograder.pipeline.fingerprint import content_parts
from autograder.pipeline.stored_runs import kept_bytes
from autograder.release.agreement import differences


@dataclass(frozen=True)
class AssignmentStatus:
    """One assignment. Numbers are students, but for ``to_read``: written answers that wait for a person.

    ``release``: ``up to date``, or what is wrong with it. ``to_grade`` has no grade yet, ``changed`` has one that was
    made from another submission or another release. ``deadline``: ISO; empty where no late policy speaks.
    ``without_time`` counts only where one speaks: these are taken as on time. ``problem``: why the rest is not known.
    ``remarks``: on grades that must not pass unnoticed. ``kept_bytes``: what the stored runs take on disk. None: not
    known, because of the problem.
    """

    name: str
    release: str = ""
    references: str = ""
    handed_in: int = 0
    graded: int | None = None
    to_grade: int | None = None
    changed: int | None = None
    to_read: int | None = None
    deadline: str = ""
    late: int | None = None
    without_time: int | None = None
    problem: str = ""
    remarks: tuple[str, ...] = ()
    kept_bytes: int = 0


def status_of(course: Course, name: str) -> AssignmentStatus:
    """Raises nothing on account of one assignment: its ``problem`` says what is wrong."""
    handed_in = course.everybody_submitted(name)
    try:
        assignment = Assignment.open(course, name)
    except GradingError as error:
        release = "never released" if isinstance(error, NeverReleased) else "cannot be read"
        return AssignmentStatus(name, release, handed_in=len(handed_in), problem=str(error))
    known = AssignmentStatus(name, _release(course, assignment), handed_in=len(handed_in))
    try:
        newer = handed_in_newer(course, name)
        graded, changed = _graded(course, assignment, handed_in)
        to_grade = len(set(handed_in) - graded)
        known = replace(known, graded=len(graded), to_grade=to_grade, changed=len(changed.union(newer)))
        references = _references(assignment)
        with open_book(course.db_url) or nullcontext() as gradebook:
            table = gather_from(course, name, gradebook)
        standing = stale_grade_warnings(course, name, table.rows, newer)
        policy = policy_of(course, [row.student.id for row in table.rows])
    except GradingError as error:
        return replace(known, problem=str(error))
    rules = policy.assignments.get(name) if policy else None
    there = [row for row in table.rows if row.exercises]
    return replace(
        known,
        references=references,
        to_read=_to_read(table),
        deadline=rules.deadline.isoformat() if rules else "",
        late=sum(row.lateness is not None and row.lateness.days > 0 for row in there),
        without_time=sum(row.submitted_at is None for row in there) if rules else 0,
        remarks=(*standing, *_moved(table), *(f"for you to do: {one}" for one in in_groups(offered(table.rows)))),
        kept_bytes=kept_bytes(course.root, name),
    )


def _moved(table: ResultsTable) -> Iterator[str]:
    """What moved grades: waivers, the submissions of group mates, grading again."""
    yield from (f"{one.exercise}: {one.text}" for one in table.waivers)
    if mates := [row.student.id for row in table.rows if row.submitted_by]:
        yield f"{counted(mates)}: graded by the submission of a group mate"
    again = [row.student.id for row in table.rows if any(one.changes for one in row.regradings)]
    if again:
        yield f"{counted(again)}: other points since grading again, as their pages say"


def _release(course: Course, assignment: Assignment) -> str:
    try:
        found = list(differences(course.root, assignment))
    except GradingError as error:
        return f"cannot be made: {error}"
    if not found:
        return "up to date"
    return f"{'stale' if found[0].counts else 'text changed since'}: {found[0]}"


def _references(assignment: Assignment) -> str:
    if assignment.references.seed(assignment.name) is None:
        return "none"
    if assignment.references.are_public(assignment.name):
        return "the kit's, which students can know"
    term = assignment.references.earlier_term(assignment.name)
    return f"those of the term {term}, whose students may pass them on" if term else "your own"


def _graded(course: Course, assignment: Assignment, students: list[str]) -> tuple[set[str], set[str]]:
    """(those with a grade, those of them whose assignment has changed since)."""
    journal = Journal(course.root, assignment.name)
    entries = {student: entry for student in students if (entry := journal.entry(student)) is not None}
    try:
        trusted = content_parts(with_mates(course, assignment)) if entries else {}
    except GradingError:  # no references: said elsewhere
        trusted = {}
    changed = {
        student
        for student, entry in entries.items()
        if any(entry.trusted.get(part) != value for part, value in trusted.items())
    }
    return set(entries), changed


def _to_read(table: ResultsTable) -> int:
    return sum(result.status in FOR_A_PERSON and result.points is None
               for row in table.rows for result in row.exercises.values())  # fmt: skip
