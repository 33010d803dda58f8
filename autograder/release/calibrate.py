"""Where each plain test can be judged: the instructor's solution and the untouched notebook, once through both judges.

What the solution cannot pass in the tester, and what an untouched notebook passes there, is judged in the student's
kernel alone. For all else the tester expects of a student's code the kinds of values that came from the solution.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.assignment.calibration import Calibration, CellCalibration, write_calibration
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
from autograder.pipeline.outcomes import CellOutcome, TestOutcome
from autograder.plain.where import plain_cells, where_judged
from autograder.release.as_submitted import solved, untouched

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
    for name, found in calibration.notebooks.items():
        for cell, one in found.items():
            if one.problem:
                print(f"{assignment.name}: {name}/{cell}: {one.problem}", file=sys.stderr)
    return replace(assignment, calibration=calibration)


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
        return calibrated(course.root, assignment, kernels, limits, closing.enter_context(more))


def needs_calibration(assignment: Assignment) -> bool:
    known = assignment.calibration is not None and not assignment.calibration.hurried
    return not known and any(plain_cells(book) for book in assignment.source.values())


def calibrate(assignment: Assignment, kernels: Kernels, limits: Limits, beside: Kernels | None = None) -> Calibration:
    """Run both, the solution twice, and decide: what it gave the first time it must give the second time."""
    noting = replace(
        assignment, calibration=Calibration({name: _noting(assignment, name) for name in assignment.source})
    )
    solution = _run(solved(noting), noting, kernels, limits, (beside,) if beside else ())
    first = Calibration({name: _by_solution(assignment, name, solution) for name in assignment.source})
    expecting = replace(assignment, calibration=first)
    with ThreadPoolExecutor(1) as other:
        later = other.submit(_run, untouched(expecting), expecting, beside, limits) if beside else None
        again = _run(solved(expecting), expecting, kernels, limits, inside=False)
        blank = later.result() if later else _run(untouched(expecting), expecting, kernels, limits)
    hurried = any(map(_is_hurried, (*solution.values(), *again.values(), *blank.values())))
    second = Calibration({name: _by_solution_again(assignment, name, first, again) for name in assignment.source})
    return Calibration({name: _by_untouched(assignment, name, second, blank) for name in assignment.source}, hurried)


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
    inside: bool = True,
) -> _Runs:
    ran: dict[str, ExecutedNotebook] = {}
    grade_submission(submission, assignment, kernels, limits, ran.__setitem__, beside, inside=inside)
    return ran


def _noting(assignment: Assignment, name: str) -> Mapping[str, CellCalibration]:
    return dict.fromkeys(_keys(assignment, name), _NOTED)


def _keys(assignment: Assignment, name: str) -> list[str]:
    return [cells.grade_id(cell) or f"#{number}" for number, cell in enumerate(assignment.source[name].cells)]


def _outcomes(assignment: Assignment, name: str, runs: _Runs) -> Iterator[tuple[str, float, CellOutcome]]:
    """(key, points, outcome) of each cell of the source."""
    if name not in runs:
        return
    found = {one.index: one for one in runs[name].outcomes}
    unmarked = [key for key in _keys(assignment, name) if key.startswith("#")]
    for index, cell in enumerate(runs[name].notebook.cells):
        key = cells.grade_id(cell) or (unmarked.pop(0) if unmarked else "")
        if index in found and key:
            yield key, cells.max_points(cell), found[index]


def _by_solution(assignment: Assignment, name: str, runs: _Runs) -> dict[str, CellCalibration]:
    text = where_judged(assignment.source[name], _noting(assignment, name))
    found = {key: replace(one, problem="the solution could not be run") for key, one in text.items()}
    for key, points, outcome in _outcomes(assignment, name, runs):
        if outcome.test is not None:
            found[key] = _decided(text[key], points, outcome.test)
        elif outcome.places:
            found[key] = CellCalibration("outside", expected=outcome.places)
    return found


def _decided(by_text: CellCalibration, points: float, test: TestOutcome) -> CellCalibration:
    inside = test.inside
    if inside is None or not _passes(inside, points):
        ended = (inside or test).ended
        what = f"stops with {ended.ename}: {ended.evalue}" if ended.status == "error" else f"ends with '{ended.status}'"
        if ended.status == "ok" and inside is not None:
            what = f"has {earned(inside, points):g} of {points:g} points"
        problem = f"the instructor's own solution {one_line(what)[:300]}"
        return CellCalibration("kernel", by_text.reason or problem, problem)
    if by_text.reason:
        return by_text
    if not _passes(test, points):
        return CellCalibration("kernel", f"the solution does not pass outside of the student's kernel ({_why(test)})")
    return CellCalibration("outside", expected=test.places)


def _by_solution_again(
    assignment: Assignment, name: str, first: Calibration, runs: _Runs
) -> Mapping[str, CellCalibration]:
    found = dict(first.cells_of(name))
    for key, points, outcome in _outcomes(assignment, name, runs):
        test = outcome.test
        if test is not None and found[key].judged == "outside" and not _passes(test, points):
            why = f"the solution does not pass it twice in the same way ({_why(test)})"
            found[key] = CellCalibration("kernel", why, found[key].problem)
    return found


def _passes(test: TestOutcome, points: float) -> bool:
    return test.ended.status == "ok" and earned(test, points) >= points


def _why(test: TestOutcome) -> str:
    return test.refused or one_line(f"{test.ended.ename}: {test.ended.evalue}", 300)


def _by_untouched(assignment: Assignment, name: str, first: Calibration, runs: _Runs) -> Mapping[str, CellCalibration]:
    found = dict(first.cells_of(name))
    for key, points, outcome in _outcomes(assignment, name, runs):
        test = outcome.test
        if test is None or not points:
            continue
        inside = earned(test.inside, points) if test.inside is not None else 0.0
        if inside:
            problem = f"an untouched notebook has {inside:g} of {points:g} points"
            found[key] = replace(found[key], problem="; ".join(filter(None, (found[key].problem, problem))))
        elif test.judged == "outside" and earned(test, points) > inside:
            reason = "an untouched notebook passes it outside of the student's kernel"
            found[key] = CellCalibration("kernel", reason, found[key].problem)
    return found
