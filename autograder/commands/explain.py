"""``autograder explain STUDENT ASSIGNMENT EXERCISE``: what came and what was expected, for an appeal."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autograder.commands._options import AssignmentName, ExerciseName, StudentName, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError
from autograder.model.plain_text import one_line, paragraph

if TYPE_CHECKING:
    from autograder.pipeline.explanation import ExplainedCase, Explanation

EXAMPLE = "autograder explain grace distilbert attention_weights"


def run(
    context: typer.Context,
    student: StudentName,
    assignment: AssignmentName,
    exercise: ExerciseName,
    no_isolation: Annotated[
        bool, typer.Option("--no-isolation", help="Run the student's code unconfined, as 'grade' can.")
    ] = False,
) -> int:
    """Show one student's answer, its test, and what came and was expected.

    What its last run produced is looked at; where that would be another one now, it is run again. Nothing is written,
    and no grade changes. For the instructor alone: it shows expected answers.
    """
    from functools import cache

    from autograder.assignment.assignment import Assignment
    from autograder.assignment.submission import read_submission
    from autograder.gradebook.groups import with_mates
    from autograder.gradebook.marks import reason_of
    from autograder.isolation import verify
    from autograder.pipeline import stored_runs
    from autograder.pipeline.execute import Kernels
    from autograder.pipeline.explanation import explain_exercise
    from autograder.release.calibrate import calibrated, needs_calibration
    from autograder.release.solved_run import kernels_when_needed

    course = open_course(context)
    if student not in course.everybody_submitted(assignment):
        expected = course.submitted(student, assignment)
        raise GradingError(f"no submission to {assignment!r} by {student}: expected the folder {expected}")
    opened = with_mates(course, Assignment.open(course, assignment))
    submission = read_submission(course.submitted(student, assignment), student, opened)
    isolation: Literal["auto", "none"] = "none" if no_isolation else "auto"
    with kernels_when_needed(course, isolation) as open_kernels:

        @cache
        def kernels() -> Kernels:
            if not no_isolation:
                verify()  # real attempts to escape, before the first line of a student's code
            return open_kernels()

        if needs_calibration(opened):
            opened = calibrated(course.root, opened, kernels(), course.file.limits)
        stored = stored_runs.current(course, opened, submission, isolation)
        found = explain_exercise(submission, opened, kernels, course.file.limits, exercise, stored)
    accepted = reason_of(course.root, assignment, student, (found.notebook, found.verdict.cell))
    _tell(Output(context), student, found, accepted)
    return 0


def _tell(output: Output, student: str, found: "Explanation", accepted: str) -> None:
    verdict = found.verdict
    earned = "–" if verdict.points is None else f"{verdict.points:g}"
    output.say("For the instructor alone: this shows expected answers.")
    title = f"{student}, {found.notebook}/{verdict.cell}: {earned} of {verdict.max_points:g} points ({verdict.status})"
    output.say(one_line(title))
    for check in verdict.checks:
        words = f" [{check.mistake}]" if check.mistake else ""
        output.say(one_line(f"  {'✓' if check.passed else '✗'} {check.name}: {check.message} {check.hint}") + words)
    for name, text in found.answers.items():
        _tell_text(output, f"\nThe student's answer, {one_line(name)}:", text)
    if verdict.offered is not None:
        output.say(
            f"The test gives {verdict.offered:g} points, and a person decides: {one_line(verdict.refused)}".rstrip()
        )
        output.say("'autograder accept' gives them.")
    if accepted:
        output.say(one_line(accepted))
    if found.test:
        _tell_text(output, "\nThe test, as it is in the source:", found.test)
    for case in found.cases:
        _tell_case(output, case)


def _tell_text(output: Output, title: str, text: str) -> None:
    output.say(title)
    output.say("\n".join(f"    {line}".rstrip() for line in paragraph(text).split("\n")))


def _tell_case(output: Output, case: "ExplainedCase") -> None:
    output.say(f"\n{case.slug}, case {case.number}")
    for name, about in case.inputs.items():
        output.say(f"  in        {name}: {one_line(about)}")
    for one in case.compared:
        output.say(f"  expected  {one.name}: {one_line(one.expected, 1000)}")
        output.say(f"  actual    {one.name}: {one_line(one.actual, 1000) if one.actual else 'nothing'}")
        if one.difference:
            output.say(f"  largest difference: {one.difference}")
    if case.problem:
        output.say(f"  {one_line(case.problem)}")
    elif case.mistakes:
        output.say(f"  mistake   {', '.join(case.mistakes)}")
    else:
        right = all(check.passed for check in case.checks)
        output.say(f"  {'right' if right else 'wrong, and no known mistake matches'}")
