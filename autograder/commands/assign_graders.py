"""``autograder assign-graders ASSIGNMENT --graders A,B``: who reads whose answers, and how far each has come."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.commands._options import AsJson, AssignmentName, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError
from autograder.model.plain_text import MAX_NAME, on_console

if TYPE_CHECKING:
    from autograder.gradebook.results import StudentResult
    from autograder.model.course import Course

EXAMPLE = "autograder assign-graders distilbert --graders ada,grace"


def run(
    context: typer.Context,
    assignment: AssignmentName,
    graders: Annotated[
        str, typer.Option(metavar="A,B", help="Share the submissions among these.", show_default=False)
    ] = "",
    by_exercise: Annotated[
        bool, typer.Option("--by-exercise", help="Share the exercises, for 'autograder mark', not the submissions.")
    ] = False,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Show pseudonyms in place of students' ids.")] = False,
    as_json: AsJson = False,
) -> int:
    """Share the submissions, or the exercises, evenly among graders, and show their progress.

    Without --graders, only the progress is shown.
    The same names give the same shares. Students who hand in later, and other graders, move as few as possible.
    """
    from autograder.gradebook.gather import gather
    from autograder.gradebook.records import record_path, write_by_student
    from autograder.marking.answers import assigned, read_graders

    names = [name.strip() for name in graders.split(",") if name.strip()]
    if len(set(names)) != len(names):
        raise GradingError(f"--graders: expected every name once, got {graders!r}")
    if by_exercise and not names:
        raise GradingError("--by-exercise needs the names that share them, such as --graders ada,grace")
    course, output = open_course(context), Output(context, as_json=as_json)
    rows = [row for row in gather(course, assignment).rows if row.exercises and not row.submitted_by]
    before = read_graders(course.root, assignment)
    exercises = _exercises(rows)
    if names:
        shared = exercises if by_exercise else [row.student.id for row in rows]
        before = assigned(assignment, shared, names, before)
        write_by_student(record_path(course.root, "graders", assignment), before)
    elif not before:
        raise GradingError(f"nobody is assigned to {assignment}: say who reads, such as --graders ada,grace")
    if set(before) & set(exercises):
        _tell_exercises(output, assignment, before, exercises)
        return 0
    shown = _shown(course, anonymous)
    entries = [_entry(course, assignment, row, before.get(row.student.id, ""), shown) for row in rows]
    output.document({"assignment": assignment, "students": entries})
    if not as_json:
        _tell(output, entries)
    return 0


def _exercises(rows: "list[StudentResult]") -> dict[str, int]:
    """What people mark, as ``notebook/cell``, to the number of answers that wait."""
    from autograder.model.verdict import FOR_A_PERSON

    found: dict[str, int] = {}
    for row in rows:
        for key, one in row.exercises.items():
            if one.status in FOR_A_PERSON:
                name = "/".join(key)
                found[name] = found.get(name, 0) + (key in row.waiting)
    return found


def _tell_exercises(output: Output, assignment: str, graders: dict[str, str], waiting: dict[str, int]) -> None:
    entries = [{"exercise": name, "grader": graders.get(name, ""), "to_read": count} for name, count in waiting.items()]
    output.document({"assignment": assignment, "exercises": entries})
    for one in sorted(entries, key=lambda one: (str(one["grader"]), str(one["exercise"]))):
        grader = on_console(str(one["grader"]), MAX_NAME) or "nobody yet"
        output.say(on_console(f"{grader}: {one['exercise']}, {one['to_read']} to read"))


def _shown(course: "Course", anonymous: bool) -> Callable[[str], str]:
    if not anonymous:
        return str
    from autograder.gradebook.roster import read_salt, with_salt

    salt = read_salt(course.root)
    return lambda student: with_salt(salt, student)


def _entry(
    course: "Course", assignment: str, row: "StudentResult", grader: str, shown: Callable[[str], str]
) -> dict[str, Any]:
    from autograder.model.verdict import FOR_A_PERSON

    to_read = [key for key in row.waiting if row.exercises[key].status in FOR_A_PERSON]
    return {
        "student": shown(row.student.id),
        "grader": grader,
        "to_read": [f"{notebook}/{cell}" for notebook, cell in to_read],
        "pages": _pages(course, assignment, row.student.id, sorted({notebook for notebook, _ in to_read})),
    }


def _pages(course: "Course", assignment: str, student: str, notebooks: list[str]) -> list[str]:
    from autograder.gradebook.read import open_book, pages_of_formgrader

    book = open_book(course.db_url) if notebooks else None
    if book is None:
        return []
    with book:
        return pages_of_formgrader(book, assignment, student, notebooks)


def _tell(output: Output, entries: list[dict[str, Any]]) -> None:
    table = output.table("grader", ">submissions", ">read", ">to read")
    for grader in sorted({one["grader"] for one in entries}):
        own = [one for one in entries if one["grader"] == grader]
        waiting = sum(bool(one["to_read"]) for one in own)
        name = on_console(grader, MAX_NAME) or "nobody yet"
        table.add_row(name, str(len(own)), str(len(own) - waiting), str(waiting))
    output.console.print(table)
    for one in sorted(entries, key=lambda one: (one["grader"], one["student"])):
        if one["to_read"]:
            line = f"{one['grader'] or 'nobody yet'}: {one['student']} {' '.join(one['pages'])}"
            output.console.print(on_console(line), soft_wrap=True, highlight=False)
