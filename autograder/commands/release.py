"""``autograder release [ASSIGNMENT ...]``: the students' notebooks, verified before they are put in place."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autograder.commands import _checks
from autograder.commands._options import AsJson, AssignmentNames, RequireOutside, open_course
from autograder.commands._output import Output
from autograder.errors import GradingError

if TYPE_CHECKING:
    from autograder.assignment.assignment import Assignment
    from autograder.model.course import Course
    from autograder.pipeline.execute import Kernels

EXAMPLE = "autograder release distilbert"


def run(
    context: typer.Context,
    assignment: AssignmentNames = None,
    add_exercises: Annotated[
        bool, typer.Option("--add-exercises", help="Enter new exercises into notebooks that were graded before.")
    ] = False,
    require_outside: RequireOutside = False,
    as_json: AsJson = False,
) -> int:
    """Make the students' notebooks with nbgrader, verify them, put them in place.

    Exit codes: 0 released; 1 something does not hold, and is listed: that release stays as it was;
    2 nothing could be done.
    """
    from autograder.model.course import assignments_named
    from autograder.release.solved_run import kernels_when_needed

    course, output = open_course(context), Output(context, as_json=as_json)
    names = assignments_named(course, assignment)
    if not names:
        expected = f"{course.source('<assignment>')}/<notebook>.ipynb"
        raise GradingError(f"{course.root} holds no assignment to release: expected {expected}")
    done = []
    with kernels_when_needed(course) as kernels:  # what stands in the source is looked at before the first one starts
        for name in names:
            try:
                done.append(_release(output, course, name, kernels, add_exercises, require_outside))
            except GradingError as error:
                if len(names) == 1:
                    raise
                output.warn(f"{name}: not released: {error}")
                done.append(_checks.document_entry(name, released=False, refused=str(error)))
    output.document({"assignments": done})
    if all(one["refused"] for one in done):
        return 2
    return 0 if all(one["released"] for one in done) else 1


def _release(
    output: Output, course: "Course", name: str, kernels: "Callable[[], Kernels]", add_exercises: bool, outside: bool
) -> dict[str, Any]:
    """One entry of the JSON document. Where everything holds, the release is in its place.

    outside: refuse tests in the student's own kernel.
    """
    from autograder.gradebook.write import add_cells
    from autograder.release.verify import drafted

    with drafted(course, name, adding=True) if add_exercises else drafted(course, name) as draft:
        output.say(f"{name}:")
        draft = draft.calibrated(kernels())
        in_kernel = _checks.kernel_cells(output, course, draft.assignment, outside)
        checks = _checks.verifications(output, draft, kernels())
        exercises = _sample_answers(output, course, draft.assignment)
        holds = not any(one["problems"] or one.get("doubts") for one in (*checks, *exercises))
        if holds:
            if add_exercises and (new := add_cells(course.db_url, name, draft.assignment.source)):
                output.say(f"  new in the gradebook: {', '.join(new)}")
            draft.put_in_place()
            output.say("  released")
        else:
            output.problem(f"  not released: {course.release(name)} is as it was")
    return _checks.document_entry(name, released=holds, checks=checks, in_kernel=in_kernel, exercises=exercises)


def _sample_answers(output: Output, course: "Course", assignment: "Assignment") -> list[dict[str, Any]]:
    from autograder.authoring.check import was_checked
    from autograder.references import loader

    if not loader.names(assignment.references.folder, assignment.name):
        return []  # without exercises in exercises/ there are no sample answers
    if was_checked(course, assignment):
        output.say("  ✓ the sample answers were right when they were last checked, and nothing has changed since")
        return []
    return _checks.exercises(output, course, assignment)
