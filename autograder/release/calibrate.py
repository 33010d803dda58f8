"""What the instructor's solution gives to each plain test, and which of them only the student's kernel can judge.

The solution is run again: what differs the second time is chance, and what differs with other seeds is free, where the
test holds all the same. What it does not pass in the tester is judged in the student's kernel.
"""

import contextlib
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.assignment.calibration import Calibration, CellCalibration, write_calibration
from autograder.assignment.solution_run import SolutionRun
from autograder.assignment.submission import Submission
from autograder.errors import GradingError
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.imports import imports_of
from autograder.kernel.kernels import Isolation
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.limits import Limits
from autograder.model.plain_text import one_line
from autograder.pipeline.execute import ExecutedNotebook, Kernels
from autograder.pipeline.grade import grade_submission
from autograder.pipeline.judge_tests import earned
from autograder.pipeline.outcomes import TestOutcome
from autograder.plain.where import measuring_time, plain_cells, where_judged
from autograder.release.as_submitted import solved, untouched
from autograder.release.other_seeds import OFFSETS, has_chance, with_moved_seeds

#: notebook -> how its cells ended
_Runs = Mapping[str, ExecutedNotebook]
_NOTED = CellCalibration("outside")


def calibrated(
    root: Path, assignment: Assignment, kernels: Kernels, limits: Limits, beside: Kernels | None = None
) -> Assignment:
    """The assignment with its calibration, found out now and stored in ``root`` where there was none for this version.

    Where it cannot be stored it holds for this process alone. beside: more kernels, to run half of it at the same time.
    """
    if not needs_calibration(assignment):
        return assignment
    calibration = calibrate(assignment, kernels, limits, beside)
    with contextlib.suppress(GradingError):
        write_calibration(root, assignment.name, assignment.version, calibration)
    return replace(assignment, calibration=calibration)


def warn_of_problems(assignment: Assignment) -> Assignment:
    """Say on stderr which tests the solution does not pass, where no check of the release says it."""
    for name, found in assignment.calibration.notebooks.items() if assignment.calibration is not None else ():
        for cell, one in found.items():
            if one.problem:
                print(f"{assignment.name}: {name}/{cell}: {one.problem}", file=sys.stderr)
    return assignment


def calibrated_in(
    course: Course,
    assignment: Assignment,
    limits: Limits,
    isolation: Isolation = "auto",
    server: KernelForkServer | None = None,
) -> Assignment:
    """As :func:`calibrated`, on kernels of their own. server: an already started fork server, which stays open."""
    if not needs_calibration(assignment):
        return assignment
    if server is not None:
        server.ready()
    address = server.address if server is not None else None
    imports = imports_of(course)
    with ExitStack() as closing:
        kernels = closing.enter_context(Kernels.open(isolation, fork_server=address, imports=imports))
        more = Kernels.open(isolation, fork_server=address, imports=imports) if address else nullcontext()
        return warn_of_problems(calibrated(course.root, assignment, kernels, limits, closing.enter_context(more)))


def needs_calibration(assignment: Assignment) -> bool:
    known = assignment.calibration is not None and not assignment.calibration.hurried
    return not known and any(plain_cells(book) for book in assignment.source.values())


def calibrate(assignment: Assignment, kernels: Kernels, limits: Limits, beside: Kernels | None = None) -> Calibration:
    """Run both, the solution several times, and decide."""
    noting = replace(
        assignment, calibration=Calibration({name: _noting(assignment, name) for name in assignment.source})
    )
    more = (beside,) if beside else ()
    solution = _run(solved(noting), noting, kernels, limits, more, ("outside", "kernel"))
    first = Calibration({name: _by_solution(assignment, name, solution) for name in assignment.source})
    expecting = replace(assignment, calibration=first)
    with ThreadPoolExecutor(1) as other:
        later = other.submit(_run, untouched(expecting), expecting, beside, limits) if beside else None
        again = [_run(solved(expecting), expecting, kernels, limits, inside=())]
        for offset in OFFSETS if any(map(has_chance, assignment.source.values())) else ():
            moved = with_moved_seeds(expecting, offset)
            again.append(_run(solved(moved), moved, kernels, limits, inside=()))
        blank = later.result() if later else _run(untouched(expecting), expecting, kernels, limits)
    hurried = any(map(_is_hurried, (one for runs in (solution, *again, blank) for one in runs.values())))
    found: dict[str, Mapping[str, CellCalibration]] = {}
    for name, source in assignment.source.items():
        twice = _by_solution_again(first.cells_of(name), again[0], name)
        # the second run may have been slow: where the test is judged is asked again, and not stored
        hurried |= any(twice[key].judged != first.cells_of(name)[key].judged for key in measuring_time(source))
        found[name] = _by_untouched(_by_other_seeds(twice, again[1:], name), blank, name)
    return Calibration(found, hurried)


def _is_hurried(ran: ExecutedNotebook) -> bool:
    tests = [test for one in ran.outcomes if (test := one.test) is not None]
    inside = [test.inside.ended for test in tests if test.inside is not None]
    ended = [*(one.visible for one in ran.outcomes), *(test.ended for test in tests), *inside]
    return any(one.status in ("timeout", "crashed", "skipped") for one in ended)


def _run(
    submission: Submission,
    assignment: Assignment,
    kernels: Kernels,
    limits: Limits,
    beside: Sequence[Kernels] = (),
    inside: Collection[str] = ("kernel",),
) -> _Runs:
    ran: dict[str, ExecutedNotebook] = {}
    grade_submission(submission, assignment, kernels, limits, ran.__setitem__, beside, inside=inside)
    return ran


def _noting(assignment: Assignment, name: str) -> Mapping[str, CellCalibration]:
    found = assignment.source[name].cells
    return {grade_id: _NOTED for cell in found if (grade_id := cells.grade_id(cell))}


def _tests(runs: _Runs, name: str) -> Iterator[tuple[str, float, TestOutcome]]:
    """(grade id, points, how it ended) of each plain test."""
    for outcome in runs[name].outcomes if name in runs else ():
        cell = runs[name].notebook.cells[outcome.index]
        if outcome.test is not None and (grade_id := cells.grade_id(cell)):
            yield grade_id, cells.max_points(cell), outcome.test


def _by_solution(assignment: Assignment, name: str, runs: _Runs) -> dict[str, CellCalibration]:
    text = where_judged(assignment.source[name], _noting(assignment, name))
    found = {key: replace(one, problem="the solution could not be run") for key, one in text.items()}
    return found | {key: _decided(text[key], points, test) for key, points, test in _tests(runs, name)}


def _decided(by_text: CellCalibration, points: float, test: TestOutcome) -> CellCalibration:
    inside = test.inside
    if inside is None or not _passes(inside, points):
        ended = (inside or test).ended
        what = f"stops with {ended.ename}: {ended.evalue}" if ended.status == "error" else f"ends with '{ended.status}'"
        if ended.status == "ok" and inside is not None:
            what = f"has {earned(inside, points):g} of {points:g} points"
        problem = f"the instructor's own solution {one_line(what)[:300]}"
        return CellCalibration("kernel", by_text.reason, problem)
    if by_text.reason:
        return by_text
    if not _passes(test, points):
        return CellCalibration("kernel", f"the solution does not pass outside of the student's kernel ({_why(test)})")
    solution = SolutionRun.of(test.visits, test.marks, test.result).opened(test.takes_others)
    return CellCalibration("outside", expected=_expected(test), solution=solution)


def _expected(test: TestOutcome) -> Mapping[str, Sequence[str]]:
    return {**{place: [] for place in test.visits}, **test.places}


def _by_solution_again(first: Mapping[str, CellCalibration], runs: _Runs, name: str) -> Mapping[str, CellCalibration]:
    found = dict(first)
    for key, points, test in _tests(runs, name):
        known = found[key].solution
        if known is not None and not _passes(test, points):
            why = f"the solution does not pass it twice in the same way ({_why(test)})"
            found[key] = CellCalibration("kernel", why, found[key].problem)
        elif known is not None:
            found[key] = replace(found[key], solution=known.with_run(test.visits, test.marks))
    return found


def _by_other_seeds(
    first: Mapping[str, CellCalibration], all_runs: Sequence[_Runs], name: str
) -> Mapping[str, CellCalibration]:
    """Where a test holds for other seeds as well, what depends on them is free. Else the seed is part of the test."""
    found = dict(first)
    for key, points, test in (one for runs in all_runs for one in _tests(runs, name)):
        known = found[key].solution if key in found else None
        if known is not None and _passes(test, points):
            found[key] = replace(found[key], solution=known.with_run(test.visits, test.marks))
    return found


def _passes(test: TestOutcome, points: float) -> bool:
    return test.ended.status == "ok" and earned(test, points) >= points


def _why(test: TestOutcome) -> str:
    return test.refused or one_line(f"{test.ended.ename}: {test.ended.evalue}", 300)


def _by_untouched(first: Mapping[str, CellCalibration], runs: _Runs, name: str) -> Mapping[str, CellCalibration]:
    found = dict(first)
    for key, points, test in _tests(runs, name):
        judge = test if test.judged == "outside" else test.inside
        reached = earned(judge, points) if judge is not None and points else 0.0
        known = found[key].solution
        if reached and not (
            known and test.judged == "outside" and known.differences(test.visits, test.marks, test.result)
        ):
            problem = f"an untouched notebook has {reached:g} of {points:g} points"
            found[key] = replace(found[key], problem="; ".join(filter(None, (found[key].problem, problem))))
    return found
