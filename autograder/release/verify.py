"""Releasing an assignment through nbgrader, and proving that the release is what it should be."""

import contextlib
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment, Generated
from autograder.assignment.submission import Submission
from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.plain_text import one_line
from autograder.model.verdict import CellVerdict, NotebookVerdict
from autograder.pipeline.execute import ExecutedNotebook, Kernels, Limits
from autograder.pipeline.grade import grade_submission
from autograder.pipeline.outcomes import record_pace, seconds_of
from autograder.plain.where import KernelCell
from autograder.references.store import FOLDER
from autograder.release.as_submitted import solved, untouched
from autograder.release.calibrate import calibrated
from autograder.release.findings import Accepted, Finding, pinned
from autograder.release.generate import compare, draft, put_in_place, require_same_cells, workspace
from autograder.release.judgeable import (
    misspelt,
    other_markers,
    require_judgeable,
    untested,
    untested_cells,
    wrong_points,
)
from autograder.release.leaks.search import release_leaks
from autograder.release.solved_run import keep

#: What an untouched notebook may say: a stub that is not filled in, a check that says so, a name not made yet.
INTENDED = {"NotImplementedError", "CheckFailed", "NameError"}
#: What an error says -> what to do about it.
_ADVICE = (
    (r"URLError|HTTPError|ConnectionError|gaierror|name resolution|Name or service not known",
     "; nothing that is graded reaches the net: put the file beside the notebook"),
    (r"ModuleNotFoundError", "; install it where the grader runs"),
    (r"StdinNotImplemented|raw_input was called", "; nobody answers input() when it is graded: give it a value"),
)  # fmt: skip


#: What a test says that fails for want of what a cell above would have bound.
_LACKS_A_NAME = re.compile("is not defined|is missing: the cell")


@dataclass(frozen=True)
class Verification:
    """One thing that was verified of a release. ``problems``: why it does not hold; ``accepted``: with the reason why
    it is meant so; ``notes``: what stops nothing.
    """

    name: str
    problems: tuple[Finding, ...] = ()
    accepted: tuple[tuple[Finding, str], ...] = ()
    notes: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, name: str, findings: Iterable[Finding], accepted: Accepted) -> "Verification":
        found = tuple(findings)
        meant = tuple((one, reason) for one in found if (reason := accepted.reason(one)) is not None)
        notes = (one for one in found if not one.blocks and accepted.reason(one) is None)
        return cls(name, tuple(accepted.left(found)), meant, tuple(notes))


@contextlib.contextmanager
def drafted(course: Course, name: str, *, adding: bool = False) -> "Iterator[Draft]":
    """A release that is not in its place yet; the one of before stays. adding: new cells may come in after grading.

    Raises GradingError with nbgrader's reason, or with ours, where the source cannot be released.
    """
    before = Assignment.unreleased(course, name)
    require_filled_in(course, before)
    require_judgeable(before)
    require_same_cells(course, before, adding=adding)
    with workspace(course) as step, ThreadPoolExecutor(max_workers=1) as beside:
        second = beside.submit(draft, course, name, f"{step}/second")
        try:
            folder, generated = draft(course, name, f"{step}/first")
        except GradingError as error:
            raise GradingError(f"{error}{_meant_as_markers(before)}") from error
        yield Draft(course, Assignment.open(course, name, folder, generated), folder, step, second)


@dataclass(frozen=True)
class Draft:
    """``assignment``: as students would get it from ``folder``. ``second``: another release, made at the same time."""

    course: Course
    assignment: Assignment
    folder: Path
    step: str
    second: Future[tuple[Path, Generated]]

    def calibrated(self, kernels: Kernels) -> "Draft":
        """With the places found out where its plain tests are judged."""
        return replace(self, assignment=calibrated(self.course.root, self.assignment, kernels, self.course.file.limits))

    def verify(self, kernels: Kernels) -> Iterator[Verification]:
        made, limits, accepted = self.assignment, self.course.file.limits, Accepted.of_course(self.course.root)
        yield Verification.of("points add up", _points(made), accepted)
        yield Verification.of("graded cells have a test", untested(made), accepted)
        leaked = (*release_leaks(self.folder, made), *_other_markers(made))
        yield Verification.of("nothing leaks", leaked, accepted)
        yield Verification.of("a second release is the same, byte for byte", self._differences(), accepted)
        executed: dict[str, ExecutedNotebook] = {}
        solutions = tuple(_solved(made, kernels, limits, executed))
        yield Verification.of("solutions run from top to bottom and have full points", solutions, accepted)
        seconds = {name: seconds_of(ran) for name, ran in executed.items()}
        record_pace(self.course.root, made.name, seconds)  # grading makes its time limits of them
        keep(self.course, made, {name: ran.notebook for name, ran in executed.items()})  # a site shows them
        idle = tuple(_untouched(made, kernels, limits))
        yield Verification.of("untouched notebooks run to the end and have no points", idle, accepted)

    def _differences(self) -> Iterator[Finding]:
        name = self.assignment.name
        yield from (pinned("release", name, one, one) for one in compare(self.folder, self.second.result()[0]))

    def put_in_place(self) -> None:
        """To be called when every proof holds. Raises GradingError, and leaves the old release, where it cannot be."""
        put_in_place(self.course, self.assignment.name, self.folder, f"{self.step}/last")


def _meant_as_markers(assignment: Assignment) -> str:
    """What may have kept nbgrader from finding a region, or its end."""
    for name, notebook in assignment.source.items():
        for number, cell in enumerate(notebook.cells):
            if "BEGIN SOLUTION" in cell.source and not (cells.is_solution(cell) or cells.is_task(cell)):
                return f" ({name}.ipynb, {cells.place(cell, number)}, has one and is not marked as a solution)"
            for line in misspelt(cell.source):
                return f" ({line!r} in {name}.ipynb, {cells.place(cell, number)}, looks like a marker)"
    return ""


def _points(assignment: Assignment) -> Iterator[Finding]:
    for name in assignment.other_languages:
        said = "it is not in Python: it is released as it is, and nothing in it is graded"
        yield pinned("language", f"{assignment.name}/{name}.ipynb", said, said, blocks=False)
    for name, source in assignment.source.items():
        where, released = f"{assignment.name}/{name}.ipynb", assignment.release[name]
        ours, theirs = (
            {cells.grade_id(cell): cells.max_points(cell) for cell in notebook.cells if cells.is_graded(cell)}
            for notebook in (source, released)
        )
        if ours != theirs:
            yield Finding("points", where, "source and release differ in graded cells or points")
        yield from wrong_points(where, released)


def _other_markers(assignment: Assignment) -> Iterator[Finding]:
    for name, notebook in assignment.release.items():
        for number, cell in enumerate(notebook.cells):
            where = f"{assignment.name}/{name}.ipynb, {cells.place(cell, number)}"
            for line in dict.fromkeys(other_markers(cell.source)):
                said = f"{line!r} is no marker of nbgrader's: students see what follows it"
                yield pinned("marker", where, said, line, cell.source, blocks=False)


def kernel_finding(assignment: Assignment, one: KernelCell) -> Finding:
    """The note that a test is judged in the student's own kernel alone, to be accepted for its present text."""
    source = next(cell.source for cell in assignment.source[one.notebook].cells if cells.grade_id(cell) == one.cell)
    where = f"{assignment.name}/{one.notebook}.ipynb, cell '{one.cell}'"
    return pinned("kernel", where, one.reason, source, one.reason, blocks=False)


def run_all(
    submission: Submission, assignment: Assignment, kernels: Kernels, limits: Limits
) -> Iterator[tuple[str, ExecutedNotebook, NotebookVerdict]]:
    """Every notebook of a submission, run and judged. Raises GradingError where one could not be run."""
    executed: dict[str, ExecutedNotebook] = {}
    graded = grade_submission(submission, assignment, kernels, limits, executed.__setitem__)
    for verdict in graded.verdict.notebooks:
        if verdict.notebook not in executed:
            raise GradingError(" ".join((f"{verdict.notebook}.ipynb could not be run:", *graded.log[-1:])))
        yield verdict.notebook, executed[verdict.notebook], verdict


@dataclass(frozen=True)
class _Stopped:
    """A cell that did not go well. ``deliberate``: what it shows, or nothing that anybody's grade rests on."""

    cell: NotebookNode
    where: str
    ename: str
    said: str

    @property
    def meant(self) -> bool:
        return "raises-exception" in self.cell.metadata.get("tags", ())

    @property
    def deliberate(self) -> bool:
        return self.meant or not (cells.is_solution(self.cell) or cells.is_graded(self.cell))


def _stopped(ran: ExecutedNotebook, notebook: str) -> Iterator[_Stopped]:
    for outcome in ran.outcomes:
        part, cell = outcome.visible, ran.notebook.cells[outcome.index]
        if part.status != "ok" and outcome.test is None:  # how a test ended is told by its verdict
            first = cell.source.strip().split("\n")[0]
            where = f"{notebook}, {cells.place(cell, outcome.index)}"
            said = (
                f"it stops: {part.ename} {one_line(part.evalue)[:200]} ({first[:50]}){_advice(part.ename, part.evalue)}"
            )
            yield _Stopped(cell, where, part.ename or part.status, said)


def _advice(*said: str) -> str:
    return next((advice for pattern, advice in _ADVICE if any(re.search(pattern, one) for one in said)), "")


def _solved(
    assignment: Assignment, kernels: Kernels, limits: Limits, executed: dict[str, ExecutedNotebook]
) -> Iterator[Finding]:
    """``executed`` is filled with each notebook as it ran."""
    for name, ran, verdict in run_all(solved(assignment), assignment, kernels, limits):
        executed[name] = ran
        stops = [*_stopped(ran, f"{assignment.name}/{name}.ipynb")]
        lost = [_points_of(cell, "solution", ran, verdict) for cell in _unexpected(verdict, ("passed", "manual"))]
        cause = next((one for one in stops if not one.meant), None)
        if cause and (not cause.deliberate or any(_LACKS_A_NAME.search(one.text) for one in lost)):
            more = len({one.where for one in stops}.union(one.where for one in lost) - {cause.where})
            yield Finding("error", cause.where, cause.said + (f" (after it {more} more cells fail)" if more else ""))
            continue
        yield from lost
        for one in stops:
            said = f"{one.said}; nbgrader goes on after it"
            yield pinned("error", one.where, said, one.ename, one.cell.source, blocks=False)


def _untouched(assignment: Assignment, kernels: Kernels, limits: Limits) -> Iterator[Finding]:
    for name, ran, verdict in run_all(untouched(assignment), assignment, kernels, limits):
        stopped = [one for one in _stopped(ran, f"{assignment.name}/{name}.ipynb") if one.ename not in INTENDED]
        for one in stopped[:1]:
            more = f" (and {len(stopped) - 1} more cells)" if len(stopped) > 1 else ""
            said = f"nothing is filled in, and {one.said}{more}"
            yield pinned("error", one.where, said, "untouched", one.ename, one.cell.source, blocks=False)
        tasks = {cells.grade_id(cell) for cell in assignment.source[name].cells if cells.is_task(cell)}
        without = untested_cells(assignment.source[name])
        for cell in _unexpected(verdict, ("failed", "missing")):
            if cell.cell not in without and (cell.points or cell.cell not in tasks):  # a task waits, whatever was added
                yield _points_of(cell, "untouched", ran, verdict)


def _unexpected(verdict: NotebookVerdict, statuses: tuple[str, ...]) -> Iterator[CellVerdict]:
    yield from (cell for cell in verdict.cells if cell.status not in statuses and cell.max_points)


def _points_of(cell: CellVerdict, kind: str, ran: ExecutedNotebook, verdict: NotebookVerdict) -> Finding:
    """Points that the solution lost, or that nobody earned. A solution that is wrong cannot be accepted."""
    said = next((check.message for check in cell.checks if not check.passed), "")
    text = f"{cell.status} with {cell.points} of {cell.max_points:g} points. {said}{_advice(said)}".strip()
    where = f"{verdict.assignment}/{verdict.notebook}.ipynb, cell '{cell.cell}'"
    if cell.status == "infrastructure" or kind == "solution":
        return Finding(kind, where, text)
    source = next((one.source for one in ran.notebook.cells if cells.grade_id(one) == cell.cell), "")
    return pinned(kind, where, text, source, cell.status, str(cell.points), str(cell.max_points))


#: Stands in everything that is to be filled in, with a few words on what goes there.
MARK = "STUB: "
_STUB = re.compile(re.escape(MARK) + r"([^\"\n|]*)")


def require_filled_in(course: Course, assignment: Assignment) -> None:
    """Raises GradingError with the first stub of an assignment, and how many more there are."""
    found = list(stubs(course, assignment))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise GradingError(f"{assignment.name}: {found[0]}{more}; fill it in")


def stubs(course: Course, assignment: Assignment) -> Iterator[str]:
    """Every place that is still a stub, each in one line that names file or cell."""
    for name, notebook in assignment.source.items():
        for number, cell in enumerate(notebook.cells):
            where = f"{name}.ipynb, cell '{cells.grade_id(cell) or cell.get('id', number)}'"
            yield from (f"{where} is a stub: {what}" for what in _found(cell.source))
    folders = [course.root / FOLDER / assignment.name]
    if course.file.checks:
        folders.append(course.root.joinpath(*course.file.checks.split("."), assignment.name))
    for path in (path for folder in folders for path in sorted(folder.rglob("*.py"))):
        yield from (f"{path.relative_to(course.root)} is a stub: {what}" for what in _found(_text(path)))


def _found(text: str) -> list[str]:
    return [match[1].strip() for match in _STUB.finditer(text)]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
