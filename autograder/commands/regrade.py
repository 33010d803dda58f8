"""``autograder regrade ASSIGNMENT``: grade again what a change of ours touches, and show it before it counts."""

import os
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.commands._options import AsJson, AssignmentName, Students, open_course
from autograder.commands._output import Output, counted
from autograder.errors import GradingError
from autograder.model.plain_text import MAX_NAME, on_console

if TYPE_CHECKING:
    from autograder.classroom.regrading import RegradedClass
    from autograder.gradebook.regradings import Change

EXAMPLE = "autograder regrade distilbert --diff"


def run(
    context: typer.Context,
    assignment: AssignmentName,
    diff: Annotated[bool, typer.Option("--diff", help="Grade again and show what changes; write nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Show it, then write it.")] = False,
    lower: Annotated[bool, typer.Option("--lower", help="Let points fall, too.")] = False,
    student: Students = None,
    workers: Annotated[
        int, typer.Option(metavar="N", help="Processes at work (default: one per core).", show_default=False)
    ] = os.cpu_count() or 1,
    no_isolation: Annotated[
        bool, typer.Option("--no-isolation", help="Run students' code unconfined, as 'grade' can.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Grade again what a change touches, and show old and new points.

    A change of source, exercises, grader or course library counts. Without --diff or --yes it only says who would
    be graded again, and why. Manual grades stay. No exercise loses points without --lower. What students have
    handed in since is left to 'autograder grade'.

    Exit code 1 where some could not be graded again: they are listed, and their grades stay.
    """
    from autograder.classroom.regrading import RegradedClass, nobody, plan_regrade, regrade_class
    from autograder.classroom.run import GradingOptions

    if workers < 1:
        raise GradingError(f"--workers must be at least 1, not {workers}")
    course, output = open_course(context), Output(context, as_json=as_json, width=120)
    options = GradingOptions(
        assignment,
        tuple(student or ()),
        workers,
        isolation="none" if no_isolation else "auto",
        limits=course.file.limits,
    )
    if diff or yes:
        with output.progress("graded again") as told:
            found = regrade_class(course, options, write=yes, lower=lower, report=lambda one: told(one.done, one.total))
    else:
        found = RegradedClass(plan_regrade(course, options))
    if (nothing := nobody(found.plan, assignment)) is not None:
        raise nothing
    _tell(output, found, assignment, graded=diff or yes)
    output.document(document(found, assignment))
    return 1 if found.plan.failed else 0


def _tell(output: Output, found: "RegradedClass", assignment: str, *, graded: bool) -> None:
    plan, console = found.plan, output.console
    for why, number in Counter(plan.again.values()).items():
        console.print(on_console(f"{why}: {counted(number)}"), soft_wrap=True)
    if plan.standing:
        console.print(f"{counted(plan.standing)}: nothing has changed for their grades")
    if plan.theirs:
        text = f"{counted(len(plan.theirs))} handed in something that is not graded yet"
        console.print(f"{text}: 'autograder grade {on_console(assignment)}' does it", soft_wrap=True)
    for student, why in plan.failed.items():
        output.problems.print(f"[red]{on_console(student, MAX_NAME)}[/]: {on_console(why)}", soft_wrap=True)
    if not plan.again:
        console.print("Nobody is graded again.")
    elif not graded:
        console.print("'--diff' grades them again and shows what changes; '--yes' writes it as well.")
    else:
        show(output, found)


def show(output: Output, found: "RegradedClass") -> None:
    console = output.console
    table = output.table("student", "exercise", ">old", ">new", "why")
    changed = {student: one for student, one in found.done.items() if one.changes}
    for student, one in changed.items():
        for change in one.changes:
            why = one.why if change.kept is None else f"{one.why}; {_number(change.kept)} would be less (--lower)"
            name = on_console(student, MAX_NAME)
            exercise = on_console(f"{change.notebook}/{change.exercise}")
            table.add_row(name, exercise, _number(change.old), _number(change.new), on_console(why))
    if changed:
        console.print(table)
    _show_names(output, found)
    kept = sum(change.kept is not None for one in changed.values() for change in one.changes)
    console.print(f"Points of {len(changed)} of {counted(len(found.done))} change." if not kept else
                  f"{counted(len(changed))} of {len(found.done)} are listed; {kept} exercises keep more points than "
                  "they have now.")  # fmt: skip
    if found.written:
        console.print("Written. 'autograder feedback' tells the students.")
    else:
        console.print("Nothing was written; '--yes' writes it.")


def _show_names(output: Output, found: "RegradedClass") -> None:
    if not found.named:
        return
    table = output.table("exercise", "mistake", ">answers named so before", ">now")
    for (exercise, mistake), (before, now) in found.named.items():
        table.add_row(on_console(exercise), on_console(mistake), str(before), str(now))
    output.console.print(table)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 2):g}"


def document(found: "RegradedClass", assignment: str) -> dict[str, Any]:
    plan = found.plan
    return {
        "assignment": assignment,
        "written": found.written,
        "mistakes": [
            {"exercise": exercise, "mistake": mistake, "before": before, "now": now}
            for (exercise, mistake), (before, now) in found.named.items()
        ],
        "students": [
            {"student": student, "why": why, "changes": _changes(found, student)} for student, why in plan.again.items()
        ],
        "standing": plan.standing,
        "left_to_grade": list(plan.theirs),
        "failed": dict(plan.failed),
    }


def _changes(found: "RegradedClass", student: str) -> list[dict[str, Any]] | None:
    """None where nothing was graded again, or it failed."""
    done = found.done.get(student)
    changes: tuple[Change, ...] = done.changes if done is not None else ()
    return [asdict(change) for change in changes] if done is not None else None
