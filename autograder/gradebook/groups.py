"""Groups: ``groups.toml`` says who handed in together. One submission, one grade, and every member has it.

```toml
[distilbert]
red = ["ada", "bob"]
```

Whoever of a group hands in does it for all; of two with the same files the last counts. Late days are each member's
own.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import EXCHANGE_FILES
from autograder.errors import GradingError
from autograder.gradebook.late.times import read_times
from autograder.model.course import Course
from autograder.model.plain_text import one_form, read_toml

NAME = "groups.toml"


@dataclass(frozen=True)
class Group:
    """Who works together on one assignment."""

    name: str
    members: tuple[str, ...]


def read_groups(root: Path, assignments: Collection[str] = ()) -> dict[str, tuple[Group, ...]]:
    """Assignment to its groups; empty where there is no file. Raises GradingError where it says something else.

    assignments: those that the course has; empty where nobody knows.
    """
    try:
        data = read_toml(root / NAME)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise GradingError(f"{NAME} cannot be read: {error}; mend it, or delete it") from error
    for name in data:
        if assignments and name not in assignments:
            raise GradingError(f"{NAME}: unknown assignment {name!r}; known are {', '.join(sorted(assignments))}")
    return {name: _groups(name, table) for name, table in data.items()}


def _groups(assignment: str, table: object) -> tuple[Group, ...]:
    """A group without members is left: everybody in it may have been erased."""
    expected = f'{NAME}: [{assignment}]: expected a group and its members, such as red = ["ada", "bob"]'
    if not isinstance(table, dict):
        raise GradingError(f"{expected}; got {table!r}")
    found: list[Group] = []
    taken: dict[str, str] = {}
    for name, members in table.items():
        if not isinstance(members, list) or not all(isinstance(one, str) and one for one in members):
            raise GradingError(f"{expected}; got {name} = {members!r}")
        members = list(map(one_form, members))
        for member in members:
            if member in taken:
                raise GradingError(
                    f"{NAME}: [{assignment}]: {member} is named in {taken[member]} and in {name}; leave one of them"
                )
            taken[member] = name
        found.append(Group(name, tuple(members)))
    return tuple(found)


#: Student to the others of their group.
Mates = Mapping[str, tuple[str, ...]]


def mates(course: Course, assignment: str) -> Mates:
    groups = read_groups(course.root, course.assignments()).get(assignment, ())
    return {one: tuple(other for other in group.members if other != one) for group in groups for one in group.members}


def with_mates(course: Course, assignment: Assignment) -> Assignment:
    """The assignment that knows who works together on it. Raises GradingError as :func:`read_groups`."""
    return replace(assignment, mates=mates(course, assignment.name))


def submitters(
    course: Course, groups: Iterable[Group], assignment: str, graded: Collection[str] = ()
) -> dict[str, str]:
    """Member to the one who handed in for the group. Of two with the same files the last counts.

    graded: who has a grade, perhaps of a submission that is gone. Raises GradingError where two of a group handed in
    different files.
    """
    found: dict[str, str] = {}
    handed_in: set[str] | None = None
    for group in groups:
        if handed_in is None:  # to list everybody takes its time
            handed_in = set(course.everybody_submitted(assignment))
        those = [member for member in group.members if member in handed_in]
        those = those or [member for member in group.members if member in graded]
        if len(those) > 1 and not _are_same(course, assignment, those):
            raise GradingError(
                f"{NAME}: {' and '.join(those)} of the group {group.name} both handed in {assignment}: one submission "
                "counts for all, so keep one and move the other folders away"
            )
        if those:
            found |= dict.fromkeys(group.members, _last(course, assignment, those))
    return found


def doubled(course: Course, assignment: str) -> list[tuple[Group, str]]:
    """The groups of which several handed in the same files, with the one whose submission counts."""
    groups = read_groups(course.root, course.assignments()).get(assignment, ())
    counting = submitters(course, groups, assignment, course.everybody_autograded(assignment)) if groups else {}
    handed_in = set(course.everybody_submitted(assignment)) if groups else set()
    several = [group for group in groups if len(handed_in & set(group.members)) > 1]
    return [(group, counting[group.members[0]]) for group in several]


def _last(course: Course, assignment: str, students: list[str]) -> str:
    """By the recorded times; where there are none, the first in the group."""
    times = read_times(course.root, assignment) if len(students) > 1 else {}
    return max(students, key=lambda one: times.get(one, datetime.min.replace(tzinfo=UTC)))


def _are_same(course: Course, assignment: str, students: list[str]) -> bool:
    """Whether all handed in the same files; what the exchange lays beside a submission differs always."""
    first, *others = (_contents(course.submitted(student, assignment)) for student in students)
    return bool(first) and all(other == first for other in others)


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.name not in EXCHANGE_FILES)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.is_file()}


def shared_times(groups: Iterable[Group], times: Mapping[str, datetime]) -> dict[str, datetime]:
    """Student to the moment their submission came in, with those for whom another member handed in."""
    found = dict(times)
    for group in groups:
        moments = [times[member] for member in group.members if member in times]
        if moments:
            found |= {member: found.get(member, max(moments)) for member in group.members}
    return found
