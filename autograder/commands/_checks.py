"""What ``check`` and ``release`` both do: verify a drafted release, try the sample answers, say what does not hold."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from autograder.commands._output import Output

if TYPE_CHECKING:
    from autograder.assignment.assignment import Assignment
    from autograder.authoring.check import ExerciseCheck
    from autograder.model.course import Course
    from autograder.pipeline.execute import Kernels
    from autograder.release.findings import Finding
    from autograder.release.verify import Draft

MAX_PROBLEMS = 8  # of one check are printed; the JSON document has all


def verifications(output: Output, draft: "Draft", kernels: "Kernels", notes_too: bool = False) -> list[dict[str, Any]]:
    """What holds of a drafted release, said line by line. -> ``[{check, problems, accepted, notes}, ...]``

    notes_too: say how notes are accepted, too.
    """
    checks: list[dict[str, Any]] = []
    left: list[Finding] = []
    for found in draft.verify(kernels):
        _say(output, found.name, tuple(map(str, found.problems)))
        _say_accepted(output, found.accepted)
        for note in found.notes[:MAX_PROBLEMS]:
            output.say(f"      note: {note}")
        if len(found.notes) > MAX_PROBLEMS:
            output.say(f"      and {len(found.notes) - MAX_PROBLEMS} more notes (all of them with --json)")
        left += [*found.problems, *(found.notes if notes_too else ())]
        checks.append({
            "check": found.name,
            "problems": [str(one) for one in found.problems],
            "accepted": _documented(found.accepted),
            "notes": [str(one) for one in found.notes],
        })  # fmt: skip
    _say_how_to_accept(output, draft.course, left)
    return checks


def _say_accepted(output: Output, accepted: "Iterable[tuple[Finding, str]]") -> None:
    for finding, reason in accepted:
        output.say(f"      accepted: {finding} ({reason})")


def _documented(accepted: "Iterable[tuple[Finding, str]]") -> list[dict[str, str]]:
    return [{"finding": str(one), "reason": reason} for one, reason in accepted]


def _say_how_to_accept(output: Output, course: "Course", findings: "Sequence[Finding]") -> None:
    """Print the lines of ``course.toml`` for what cannot be mended because it is meant so."""
    from autograder.model.course_file import NAME
    from autograder.release.findings import Accepted, entry

    entries = {one.digest: one for one in findings if one.digest}
    if not entries:
        return
    accepted = Accepted.of_course(course.root)
    what = "Mend these. What" if any(one.blocks for one in entries.values()) else "What"
    output.problem(f"  {what} is meant as it is goes to the end of {course.root / NAME}, with your reason:")
    for one in entries.values():
        changed = "# accepted before, but it is another one now\n" if accepted.was_changed(one) else ""
        output.problem(f"\n{changed}{entry(one)}".rstrip("\n"))
    output.problem("")


def document_entry(
    name: str,
    refused: str = "",
    checks: Sequence[dict[str, Any]] = (),
    in_kernel: Sequence[dict[str, Any]] = (),
    exercises: Sequence[dict[str, Any]] = (),
    **outcome: bool,
) -> dict[str, Any]:
    """One assignment in the JSON document. outcome: what its command calls it where all is well, and whether it is."""
    return {
        "assignment": name,
        **outcome,
        "refused": refused,
        "checks": list(checks),
        "judged_in_kernel": list(in_kernel),
        "exercises": list(exercises),
    }


def kernel_cells(
    output: Output, course: "Course", assignment: "Assignment", refused: bool = False, notes_too: bool = False
) -> list[dict[str, Any]]:
    """The plain tests that only work in the student's own kernel, each with its reason.

    -> ``[{notebook, cell, points, reason, accepted}, ...]``. Raises GradingError where there is one, and they are
    ``refused``: also where they are accepted.
    """
    from autograder.model.verdict import total
    from autograder.plain.where import judged_in_kernel, require_outside
    from autograder.release.findings import Accepted
    from autograder.release.verify import kernel_finding

    require_outside(assignment, refused)
    found = [one for one in judged_in_kernel(assignment) if not one.failed]  # a wrong solution is told above
    accepted = Accepted.of_course(course.root)
    findings = [(one, kernel_finding(assignment, one)) for one in found]
    left = [(one, finding) for one, finding in findings if accepted.reason(finding) is None]
    if left:
        points = f"{total(one.points for one, _ in left):g} of {assignment.max_points:g} points"
        output.say(
            f"  ! {points} rest on tests in the student's own kernel, where code can cheat (docs/plain-tests.md):"
        )
    for one, _ in left:
        output.say(f"      {one}")
    _say_accepted(output, ((finding, accepted.reasons[finding.digest]) for _, finding in findings
                           if finding.digest in accepted.reasons))  # fmt: skip
    if notes_too:
        _say_how_to_accept(output, course, [finding for _, finding in left])
    return [
        {name: value for name, value in vars(one).items() if name != "failed"}
        | {"accepted": accepted.reason(finding) or ""}
        for one, finding in findings
    ]


def exercises(output: Output, course: "Course", assignment: "Assignment", exercise: str = "") -> list[dict[str, Any]]:
    """What the sample answers show, as a table and then problem by problem.

    -> ``[{exercise, right, wrong, problems, doubts, accepted}, ...]``. Raises GradingError.
    """
    from autograder.authoring.check import check_exercises, remember
    from autograder.release.findings import Accepted

    with output.progress("answers") as progress:
        found = check_exercises(assignment, exercise, progress)
    found = [one.accepting(Accepted.of_course(course.root)) for one in found]
    if found:
        _table(output, assignment.name, found)
    for one in found:
        if one.problems or one.doubts:
            _say(output, one.exercise, tuple(finding.text for finding in (*one.problems, *one.doubts)))
        _say_accepted(output, one.accepted)
    _say_how_to_accept(output, course, [finding for one in found for finding in (*one.problems, *one.doubts)])
    if not exercise and not any(one.problems or one.doubts for one in found):
        remember(course, assignment, found)
    return [
        {
            **vars(one),
            "problems": [finding.text for finding in one.problems],
            "doubts": [finding.text for finding in one.doubts],
            "accepted": _documented(one.accepted),
        }
        for one in found
    ]


def _say(output: Output, name: str, problems: tuple[str, ...]) -> None:
    (output.problem if problems else output.say)(f"  {'✗' if problems else '✓'} {name}")
    for problem in problems[:MAX_PROBLEMS]:
        output.problem(f"      {problem}")
    if len(problems) > MAX_PROBLEMS:
        output.problem(f"      and {len(problems) - MAX_PROBLEMS} more (all of them with --json)")


def _table(output: Output, name: str, found: "list[ExerciseCheck]") -> None:
    from rich.table import Table

    table = Table("exercise", title=f"{name}: sample answers", title_justify="left")
    for column in ("right", "wrong", "problems"):
        table.add_column(column, justify="right")
    for one in found:
        table.add_row(one.exercise, *map(str, (one.right, one.wrong, len(one.problems) + len(one.doubts))))
    table.add_section()
    totals = (sum(getattr(one, column) for one in found) for column in ("right", "wrong"))
    table.add_row("all", *map(str, totals), str(sum(len(one.problems) + len(one.doubts) for one in found)))
    output.console.print(table)
