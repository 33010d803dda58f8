"""``autograder check [ASSIGNMENT ...]``: all that an author must know before students get an assignment."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.commands import _checks
from autograder.commands._options import AsJson, AssignmentNames, RequireOutside, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.model.course import Course
    from autograder.pipeline.execute import Kernels

EXAMPLE = "autograder check distilbert --exercise attention_scores"
OneExercise = Annotated[
    str, typer.Option("--exercise", metavar="NAME", help="The sample answers of this exercise, and nothing else.")
]


def run(
    context: typer.Context,
    assignment: AssignmentNames = None,
    exercise: OneExercise = "",
    notes: Annotated[bool, typer.Option("--notes", help="Say how notes are accepted, too (in course.toml).")] = False,
    require_outside: RequireOutside = False,
    of_class: Annotated[
        bool, typer.Option("--class", help="Judge the class again by the rules as they are now; write nothing.")
    ] = False,
    own_code: Annotated[
        bool, typer.Option("--own-code", help="Print what the solutions answer to questions on their own code.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check an assignment as its author: points, leaks, solutions, untouched notebooks, and every sample answer.

    Nothing is released and nothing is changed. Exit codes: 0 all of it holds; 1 something does not, and is listed;
    2 nothing could be checked.
    """
    from autograder.model.course import assignments_named
    from autograder.release.solved_run import kernels_when_needed

    course, output = open_course(context), Output(context, as_json=as_json)
    names = assignments_named(course, assignment)
    if not names:
        raise GradingError(
            f"{course.root} holds no assignment: make one with 'autograder new ASSIGNMENT/NOTEBOOK/EXERCISE'"
        )
    if own_code:
        from autograder.authoring.check import own_answers

        for name in names:
            for stem, answers in own_answers(course, name).items():
                output.say(f"{name}/{stem}: {answers or 'nothing can be asked of this code'}")
        return 0
    if of_class:
        for name in names:
            _judge_class(output, course, name)
        return 0
    if exercise and len(names) > 1:
        raise GradingError(f"--exercise needs its assignment: autograder check ASSIGNMENT --exercise {exercise}")
    with kernels_when_needed(course) as kernels:
        go_on = len(names) > 1
        done = [
            _check_or_say_why(output, course, name, exercise, kernels, go_on, require_outside, notes) for name in names
        ]
    output.document({"assignments": done})
    failed = [one["assignment"] for one in done if not one["holds"]]
    if failed:
        output.problem(f"Fix what is listed, then run 'autograder check {' '.join(failed)}' again.")
    elif not exercise:
        output.say(f"Everything holds. Next: autograder release {' '.join(names)}")
    return 1 if failed else 0


def _judge_class(output: Output, course: "Course", name: str) -> None:
    """Show what the class would have by the rules that are being written, and how many answers each name matches."""
    from autograder.classroom.regrading import regrade_class
    from autograder.classroom.workers import GradingOptions
    from autograder.commands.regrade import document, show

    options = GradingOptions(name, workers=os.cpu_count() or 1, limits=course.file.limits)
    found = regrade_class(course, options, write=False, lower=True)
    output.document(document(found, name))
    if not output.as_json:
        output.say(f"{name}:")
        show(output, found)


def _check_or_say_why(
    output: Output,
    course: "Course",
    name: str,
    exercise: str,
    kernels: "Callable[[], Kernels]",
    go_on: bool,
    outside: bool,
    notes: bool,
) -> dict[str, Any]:
    """As :func:`_check`; one assignment that cannot be checked does not stop the others."""
    try:
        return _check(output, course, name, exercise, kernels, outside, notes)
    except GradingError as error:
        if not go_on:
            raise
        output.problem(f"  ✗ {error}")
        return _checks.document_entry(name, holds=False, refused=str(error))


def _check(
    output: Output,
    course: "Course",
    name: str,
    exercise: str,
    kernels: "Callable[[], Kernels]",
    outside: bool,
    notes: bool,
) -> dict[str, Any]:
    """One entry of the JSON document. outside: refuse tests in the student's own kernel."""
    from autograder.assignment.assignment import Assignment
    from autograder.release.verify import drafted

    output.say(f"{name}:")
    checks: list[dict[str, Any]] = []
    in_kernel: list[dict[str, Any]] = []
    if exercise:
        found = _checks.exercises(output, course, Assignment.unreleased(course, name), exercise)
    else:
        with drafted(course, name) as draft:
            draft = draft.calibrated(kernels())
            in_kernel = _checks.kernel_cells(output, course, draft.assignment, outside, notes)
            checks = _checks.verifications(output, draft, kernels(), notes)
        found = _checks.exercises(output, course, Assignment.unreleased(course, name))
    holds = not any(one["problems"] or one.get("doubts") for one in (*checks, *found))
    return _checks.document_entry(name, holds=holds, checks=checks, in_kernel=in_kernel, exercises=found)
