"""How ``autograder collect`` goes: show who sent what, ask, write, record, tell."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.commands._output import Output
from autograder.errors import GradingError
from autograder.model.plain_text import on_console

if TYPE_CHECKING:
    from autograder.collect import Moments, PeopleList, Plan, WrittenSubmission
    from autograder.collect.lists import Kind
    from autograder.collect.plan import Source
    from autograder.gradebook.late.times import Record
    from autograder.model.course import Course

_SAID = {
    "new": "written",
    "unchanged": "there already",
    "replaced": "replaced",
    "differs": "left alone: another submission is there (--force replaces it and keeps the old one)",
    "empty": "nothing that the assignment asks for",
    "refused": "left alone: there is a link in that place",
}
_AMISS = ("differs", "empty", "refused")


def collect(
    course: "Course",
    output: Output,
    assignment: str,
    source: "Source",
    kind: "Kind | None",
    listed: "PeopleList | None",
    moments: "Moments",
    *,
    yes: bool,
    force: bool,
) -> int:
    """Sort what ``source`` has into ``submitted/``; returns the exit code.

    listed: whose number is whose. moments: when each came in.
    """
    from autograder.assignment.assignment import Assignment
    from autograder.collect import make_plan, write_plan

    with _said_where(course):
        opened = Assignment.open(course, assignment)
        own = course.root / ".autograder"
        own.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="collecting-", dir=own) as aside:
            plan = make_plan(course, opened, source, Path(aside), kind, listed)
            records = dict(_times(plan, moments))
            _show(output, plan, records)
            if not yes and not _agreed(output, course):
                output.problem("nothing was written")
                return 2
            outcomes = write_plan(course, assignment, plan, force)
        timeless, moved = _record(course, assignment, outcomes, records)
        _record_origins(course, assignment, plan, outcomes)
        _record_list(course, assignment, plan)
    _tell(output, plan, outcomes, timeless, moved)
    output.document(_document(assignment, plan, outcomes, timeless))
    left_out = plan.ignored or plan.unlisted or any(one.left_out for one in plan.students)
    return 1 if left_out or any(outcome.what in _AMISS for outcome in outcomes) else 0


def _record_list(course: "Course", assignment: str, plan: "Plan") -> None:
    """What the instructor's list says goes into the roster, for the next assignment and the way back."""
    from autograder.gradebook.read import Student
    from autograder.gradebook.roster import enter_students, record_ids

    if plan.listed:
        enter_students(course, [Student(name, one.last, one.first, one.email) for name, one in plan.listed.items()])
        record_ids(course.root, plan.kind, assignment, {name: one.id for name, one in plan.listed.items()})


def _record_origins(course: "Course", assignment: str, plan: "Plan", outcomes: "list[WrittenSubmission]") -> None:
    """Feedback goes back by the number and the files of the submission that is there now."""
    from autograder.gradebook.roster import Origin, record_origins

    there = {one.student for one in outcomes if one.what in ("new", "replaced", "unchanged")}
    record_origins(
        course.root,
        assignment,
        {
            one.student: Origin(plan.kind, one.person.id, one.person.name, one.taken)
            for one in plan.students
            if one.student in there
        },
    )


@contextmanager
def _said_where(course: "Course") -> Iterator[None]:
    """Raises GradingError, with the file's name, for one that cannot be written."""
    try:
        yield
    except OSError as error:
        name = error.filename2 or error.filename or course.root
        raise GradingError(f"{name} cannot be written: {error.strerror}; what was collected before stays") from error


def _document(
    assignment: str, plan: "Plan", outcomes: "list[WrittenSubmission]", timeless: list[str]
) -> dict[str, Any]:
    files = {one.student: sorted(one.taken) for one in plan.students}
    return {
        "assignment": assignment,
        "from": plan.kind,
        "students": [
            {
                "student": outcome.student,
                "outcome": outcome.what,
                "files": files[outcome.student],
                "replaced": str(outcome.kept_at) if outcome.kept_at else None,
            }
            for outcome in outcomes
        ],
        "ignored": [{"file": name, "reason": reason} for name, reason in plan.ignored],
        "left_out": [{"student": one.student, "reason": why} for one in plan.students for why in one.left_out],
        "not_on_the_list": sorted(plan.unlisted),
        "nothing_from": plan.missing,
        "without_time": timeless,
    }


def _times(plan: "Plan", moments: "Moments") -> "Iterator[tuple[str, Record]]":
    """What is known about when each came in: the instructor's list before the exchange and the API.

    Raises GradingError for a list that fits nobody.
    """
    from autograder.gradebook.late.times import Record

    numbers = {one.person.id for one in plan.students}
    found = {
        one.student: moments.by_number.get(one.person.id)
        or (None if one.student in numbers else moments.by_student.get(one.student.casefold()))
        for one in plan.students
    }
    if moments.file and not any(found.values()):
        raise GradingError(f"{moments.file} fits nobody: it has no time of {', '.join(sorted(numbers)[:3])}")
    for one in plan.students:
        given = found[one.student]
        if given is not None:
            yield one.student, Record(given, one.came_in.submission if one.came_in else "")
        elif one.came_in is not None:
            yield one.student, one.came_in


def _record(
    course: "Course", assignment: str, outcomes: "list[WrittenSubmission]", times: "dict[str, Record]"
) -> tuple[list[str], dict[str, str]]:
    """Record what is known of the submissions that are there now, and nothing of those they replaced.

    Of the same files the first time counts. Returns the students without a recorded time, and what is to be said of
    those whose time was another one before.
    """
    from autograder.gradebook.late.times import read_times, record_times

    before = read_times(course.root, assignment)
    there = {one.student: one.what for one in outcomes if one.what in ("new", "replaced", "unchanged")}
    replaced = {student for student, what in there.items() if what != "unchanged"} - set(times)
    given = {student: times[student] for student in sorted(there) if student in times}
    timed = [student for student in given if there[student] == "unchanged" and student not in before]
    moved = {student: f"; its time is {_shown(given[student].time)} now and was not known" for student in timed}
    for student in [one for one, record in given.items() if before.get(one, record.time) != record.time]:
        now, then = given[student].time, before[student].astimezone(given[student].time.tzinfo)
        moved[student] = f"; its time is {_shown(now)} now and was {_shown(then)}"
        if there[student] == "unchanged" and then < now:
            moved[student] = f"; its first time counts, {_shown(then)}"
            del given[student]
    record_times(course.root, assignment, given, replaced)
    return sorted(set(there) - set(read_times(course.root, assignment))), moved


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M %Z}"


def _show(output: Output, plan: "Plan", times: "dict[str, Record]") -> None:
    table = output.table("student", "id", "files", "came in", title=f"as {plan.kind} names them")
    for one in plan.students:
        when = _shown(times[one.student].time) if one.student in times else "LATE" if one.late else "–"
        files = ", ".join(sorted(one.taken)) or "–"
        table.add_row(*map(on_console, (one.student, one.person.id, files, when)))
    output.console.print(table)
    for one in plan.students:
        name = on_console(one.student)
        for note in one.notes:
            output.console.print(f"{name}: {on_console(note)}", soft_wrap=True)
        for note in one.left_out:
            output.problems.print(f"left out: {name}: {on_console(note)}", soft_wrap=True)
        if one.student in plan.unlisted:
            output.problems.print(f"not on the list: {name} ({on_console(one.person.id)})", soft_wrap=True)
    for name, reason in plan.ignored:
        output.problems.print(f"ignored: {on_console(name)}: {on_console(reason)}", soft_wrap=True)
    if plan.missing:
        output.console.print(f"nothing from: {on_console(', '.join(plan.missing), 20_000)}", soft_wrap=True)


def _agreed(output: Output, course: "Course") -> bool:
    if output.quiet or output.as_json or not sys.stdin.isatty():
        raise GradingError("nothing was written: look at the table and say --yes")
    return input(f"Write this into {course.root / course.settings.submitted_directory}? [y/N] ").strip().lower() in (
        "y",
        "yes",
    )


def _tell(
    output: Output, plan: "Plan", outcomes: "list[WrittenSubmission]", timeless: list[str], moved: dict[str, str]
) -> None:
    for outcome in outcomes:
        kept = f"; the old one is in {outcome.kept_at}" if outcome.kept_at else ""
        console = output.problems if outcome.what in _AMISS else output.console
        kept = f"{_SAID[outcome.what]}{moved.get(outcome.student, '')}{kept}"
        console.print(f"{on_console(outcome.student)}: {on_console(kept)}", soft_wrap=True)
    marked = [one.student for one in plan.students if one.late and one.student in timeless]
    if timeless:
        output.console.print(
            f"{len(timeless)} without a recorded time: they count as on time (--times FILE.csv records them)"
        )
    if marked:
        output.console.print(
            f"among them late, says {plan.kind}, which does not say when: {on_console(', '.join(marked))}",
            soft_wrap=True,
        )
