"""Plain tests that read what the instructor's cells made, where the student's code has made something else of it.

The tester has values of its own, so that ``df.dropna(inplace=True)`` in an answer would be seen by no test. Where the
student's kernel holds another value than the instructor's cell gave it there, or another function than the solution
imports, the notebook is run once more, with the student's values in the tests that read them. The lower points count.

What the student's kernel says of its values is not trusted: a lie leaves the points as they are in the tester.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.assignment import Assignment
from autograder.pipeline.judge_tests import beyond
from autograder.pipeline.outcomes import CellOutcome, ExecutedNotebook, TestOutcome
from autograder.pipeline.prepare import inputs_of, trusted_files
from autograder.pipeline.steps import Step, steps_for


class Run(Protocol):
    """Runs a notebook as this submission's are run, but for ``others``."""

    def __call__(self, notebook: NotebookNode, steps: Sequence[Step], **others: object) -> ExecutedNotebook: ...


def judged_both_ways(
    ran: ExecutedNotebook,
    notebook: NotebookNode,
    steps: Sequence[Step],
    run: Run,
    by_solution: Callable[[], Collection[str]],
) -> ExecutedNotebook:
    """The same notebook, with the lower points of each test cell whose values the student's code has changed.

    by_solution: the names whose values the instructor's solution changes as well: nobody loses points by these.
    Raises InfrastructureError.
    """
    passed = [one for one in ran.outcomes if _has_points(one, notebook.cells[one.index])]
    changed = {name for one in passed for name in _changed(one)}
    theirs = changed - set(by_solution()) if changed else set()
    # a cell that the student's kernel executes, too, would change the student's values twice
    twice = (index for index, step in enumerate(steps) if step.also and theirs.intersection(step.watched))
    until = next(twice, len(steps))
    concerned = [one.index for one in passed if one.index < until and theirs.intersection(_changed(one))]
    if not concerned:
        return ran
    end = max(concerned) + 1
    shorter = NotebookNode(notebook, cells=notebook.cells[:end])
    again = run(shorter, list(_with(steps[:end], theirs)))
    second = {one.index: one.test for one in again.outcomes}
    outcomes = [_lower(one, second.get(one.index)) if one.index in concerned else one for one in ran.outcomes]
    named = ", ".join(sorted(theirs))
    note = f"tests were judged a second time, with what the student's code has made of {named}"
    return replace(ran, outcomes=outcomes, seconds=ran.seconds + again.seconds, log=[*ran.log, note])


#: What solutions change, by the source notebook's id, with the notebook, so that the id stays its own.
_KEPT: dict[int, tuple[NotebookNode, frozenset[str]]] = {}
_MAX_KEPT = 64


def changed_by_solution(assignment: Assignment, name: str, run: Run) -> frozenset[str]:
    """The names of which the tests would see that the instructor's own solution has changed them.

    It is run once for all submissions, in a kernel of its own.
    """
    source = assignment.source[name]
    kept = _KEPT.get(id(source))
    if kept is None:
        steps = steps_for(source, source, assignment.files, assignment.deliverables)
        files = {**trusted_files(assignment), **assignment.solutions}
        ran = run(source, steps, files=files, inputs=inputs_of(source, assignment.references))
        kept = source, frozenset(name for one in ran.outcomes for name in _changed(one))
        if len(_KEPT) >= _MAX_KEPT:
            _KEPT.clear()
        _KEPT[id(source)] = kept
    return kept[1]


def _changed(outcome: CellOutcome) -> tuple[str, ...]:
    return outcome.test.changed if outcome.test is not None else ()


def _has_points(outcome: CellOutcome, cell: NotebookNode) -> bool:
    test, points = outcome.test, cells.max_points(cell)
    return bool(points) and test is not None and _points(test) > 0 and not beyond(test, points)


def _with(steps: Sequence[Step], theirs: set[str]) -> Iterator[Step]:
    for step in steps:
        names = tuple(sorted(theirs.intersection(step.watched))) if step.role == "outside" else ()
        yield replace(step, theirs=names, made=(), watched=())


def _lower(outcome: CellOutcome, second: TestOutcome | None) -> CellOutcome:
    """With what the second run says, where it gives fewer points. A run out of time or refused says nothing of them."""
    first = outcome.test
    if first is None or second is None or second.refused or second.ended.status not in ("ok", "error"):
        return outcome
    fewer = _points(second) < _points(first)
    return replace(outcome, visible=second.ended, test=second) if fewer else outcome


def _points(test: TestOutcome) -> float:
    """To be compared: a number is that many, anything else all of them; what did not end well has none."""
    if test.ended.status != "ok":
        return 0.0
    return float("inf") if test.result is None else test.result
