"""Where an assignment stands: released or stale, handed in, graded, to be read, late. Reads, never grades.

Grades that must not pass unnoticed are among it: of another version, of a submission that is gone, replaced or has no
time, by a test that may be wrong; and names in a list that are nobody's.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.classroom.journal import Journal, described
from autograder.errors import GradingError, NeverReleased, UnreadableSubmission
from autograder.gradebook.gather import gather_from, gather_in_parts, policy_of
from autograder.gradebook.groups import NAME, doubled, read_groups, with_mates
from autograder.gradebook.marks import in_groups, offered
from autograder.gradebook.read import open_book, read_students
from autograder.gradebook.results import ResultsTable, StudentResult, counted, hints_of, named
from autograder.model.course import Course
from autograder.model.verdict import FOR_A_PERSON
from autograder.pipeline.fingerprint import MACHINE, Parts, content_parts, digest, submission_parts
from autograder.pipeline.stored_runs import kept_bytes
from autograder.release.agreement import differences


def stale_grade_warnings(
    course: Course,
    assignment: str,
    rows: Sequence[StudentResult] | None = None,
    newer: Collection[str] | None = None,
) -> list[str]:
    """A line for each kind. Raises GradingError where the journal or the gradebook cannot be read.

    rows: the class's results; newer: :func:`handed_in_newer`; where they were found out already.
    """
    newer = handed_in_newer(course, assignment) if newer is None else newer
    again = f"handed in something newer, which is not graded; run 'autograder grade {assignment}'"
    remarks = [
        *([f"{counted(sorted(newer))}: {again}"] if newer else []),
        *_of_another_version(course, assignment),
        *_without_submission(course, assignment),
        *_of_groups(course, assignment),
    ]
    if rows is not None:
        return [*remarks, *_of_the_class(course, assignment, rows)]
    graded = sorted(filter(course.takes, course.everybody_autograded(assignment)))
    with open_book(course.db_url) or nullcontext() as book:
        return [*remarks, *_of_the_class(course, assignment, gather_in_parts(course, assignment, book, graded))]


def handed_in_newer(course: Course, assignment: str) -> list[str]:
    """The students with a grade that was made from another submission than the one that is there."""
    journal = Journal(course.root, assignment)
    entries = {one: journal.entry(one) for one in course.everybody_submitted(assignment)}
    graded = {one: entry.submission for one, entry in entries.items() if entry is not None}
    try:
        opened = Assignment.open(course, assignment) if graded else None
    except GradingError:  # never released: who depends on it says so
        return []
    return [one for one, parts in graded.items() if opened and parts != _submission(course, opened, one)]


def _submission(course: Course, assignment: Assignment, student: str) -> Parts:
    try:
        return submission_parts(read_submission(course.submitted(student, assignment.name), student, assignment))
    except UnreadableSubmission:
        return {}


def _of_the_class(course: Course, assignment: str, rows: Iterable[StudentResult]) -> list[str]:
    """On the rows of everybody, which are gone through once."""
    timeless: list[str] = []

    def seen() -> Iterable[StudentResult]:
        for row in rows:
            if row.exercises and row.lateness is not None and row.submitted_at is None:
                timeless.append(row.student.id)
            yield row

    try:
        hints = hints_of(course, Assignment.open(course, assignment), seen())
    except GradingError:  # there is no release to compare with; who depends on it says so
        return []
    late = f"{counted(timeless)}: no recorded time, so counted as on time ('autograder collect' records times)"
    return [*([late] if timeless else []), *map(str, hints)]


def _of_another_version(course: Course, assignment: str) -> list[str]:
    """Who was graded before a change of the course that the newest grade knows of."""
    journal, there = Journal(course.root, assignment), set(course.everybody_autograded(assignment))
    versions: dict[str, Parts] = {}
    graded_by: dict[str, list[str]] = {}
    newest = ""
    for student in journal.graded():
        if student in there and (entry := journal.entry(student)) is not None:
            parts = {name: value for name, value in entry.trusted.items() if name not in MACHINE}
            newest = digest(parts)
            versions[newest] = parts
            graded_by.setdefault(newest, []).append(student)
    apart = sorted(student for version, students in graded_by.items() if version != newest for student in students)
    if not apart:
        return []
    now = versions[newest]
    changed = {name for one in versions.values() for name in {**one, **now} if one.get(name) != now.get(name)}
    return [
        f"{counted(apart)}: graded before {', '.join(described(sorted(changed)))} changed, unlike others; "
        f"run 'autograder grade {assignment}'"
    ]


def _without_submission(course: Course, assignment: str) -> list[str]:
    handed_in = set(course.everybody_submitted(assignment))
    gone = set(filter(course.takes, course.everybody_autograded(assignment))) - handed_in
    if not gone or not handed_in:  # where there is none at all, they lie elsewhere
        return []
    return [f"{counted(sorted(gone))}: graded, and the submission is gone since; this grade stays as it is"]


def _of_groups(course: Course, assignment: str) -> list[str]:
    groups = read_groups(course.root).get(assignment, ())
    members = {member for group in groups for member in group.members}
    if not members:
        return []
    with open_book(course.db_url) or nullcontext() as book:
        nobody = sorted(members - {*read_students(book), *course.everybody_submitted()})
    there = {*course.everybody_submitted(assignment), *course.everybody_autograded(assignment)}
    silent = [group for group in groups if group.members and there.isdisjoint(group.members)]
    unknown = f"in {NAME}, but neither in the gradebook nor in submitted/: is this their id?"
    lines = [f"{counted(nobody)}: {unknown}"] if nobody else []
    lines += [f"nobody of the group {group.name} ({named(group.members)}) has handed in" for group in silent]
    return lines + [
        f"several of the group {group.name} ({named(group.members)}) handed in the same files: {student}'s count"
        for group, student in doubled(course, assignment)
    ]


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
