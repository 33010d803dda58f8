"""The assignment's total and what being late costs, in sentences that leave no question open."""

from __future__ import annotations

from autograder.feedback.words import points, readable
from autograder.gradebook.regradings import Change, Regrading
from autograder.gradebook.results import StudentResult


def whole_assignment(result: StudentResult) -> tuple[str, ...]:
    """Lines about all notebooks together; none where one notebook is all there is and nothing was late."""
    several = len({notebook for notebook, _ in result.exercises}) > 1
    of = f"of {points(result.max_points)} points"
    late = result.lateness.reason if result.lateness is not None and result.lateness.days else ""
    if result.state == "refused":
        return (f"Handed in too late to be taken ({late}): this submission has no score.",)
    if result.points is None:
        undecided = len(result.waiting)
        exercises = "1 exercise has" if undecided == 1 else f"{undecided} exercises have"
        lines = [f"All notebooks: {points(result.points_so_far)} {of} so far; {exercises} no points yet."]
        if late:
            lines.append(f"Handed in late ({late}); points are taken off when every exercise has some.")
        return tuple(lines if several else lines[1:])
    whole = "All notebooks: " if several else ""
    if result.deduction:
        earned, off, counts = points(result.points), points(result.deduction), points(result.score)
        why = late or "handed in late"
        return (f"{whole}{earned} {of} earned, {off} taken off ({why}), {counts} count.",)
    return (f"{whole}{points(result.points)} {of}{f' ({late})' if late else ''}.",) if several or late else ()


def graded_again(result: StudentResult) -> tuple[str, ...]:
    """A line for each time that the submission was graded again because the instructor's side had changed."""
    return tuple(_told(one) for one in result.regradings)


def _told(one: Regrading) -> str:
    changes = "; ".join(map(_change, one.changes)) or "your points stayed the same"
    return f"Graded again on {one.date.isoformat()} ({one.why}): {changes}."


def _change(change: Change) -> str:
    name = readable(change.exercise)
    if change.kept is not None:
        return f"{name} kept its {points(change.new)} points"
    return f"{name} had {points(change.old)} points then and {points(change.new)} after it"
