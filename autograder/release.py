"""Releasing an assignment through nbgrader, and proving that the release is what it should be."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder import cells
from autograder.assignment import Assignment, Course, Submission
from autograder.errors import GradingError
from autograder.grading import inputs_of, prepare
from autograder.judge import judge
from autograder.leaks import leaks
from autograder.run import Kernels, Limits, Ran, run
from autograder.verdict import NotebookVerdict

#: What an untouched notebook may say: a stub that is not filled in, a check that says so, a name not made yet.
INTENDED = {"NotImplementedError", "CheckFailed", "NameError"}


@dataclass(frozen=True)
class Proof:
    """One thing that was proven of a release, or why it does not hold."""

    name: str
    problems: tuple[str, ...]


def assignments(root: Path) -> list[str]:
    return Course(root).assignments()


def generate(root: Path, assignment: str) -> None:
    """``nbgrader generate_assignment`` as any teacher would type it. Raises GradingError with what it said."""
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", assignment, "--force"]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, env={**os.environ, "PYTHONWARNINGS": "ignore"}
    )
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line] or [done.stderr[-500:]]
        raise GradingError(f"nbgrader could not release {assignment!r}: {said[0].strip()}")


def prove(root: Path, name: str, kernels: Kernels) -> Iterator[Proof]:
    """Every proof of one released assignment, one after the other."""
    assignment = Assignment.open(root, name)
    yield Proof("points add up", tuple(_points(assignment)))
    yield Proof("nothing leaks", tuple(leaks(Course(root).release(name), assignment)))
    yield Proof("a second release is the same, byte for byte", tuple(_differences(root, name)))
    yield Proof("solutions run from top to bottom and have full points", tuple(_solved(assignment, kernels)))
    yield Proof("untouched notebooks run to the end and have no points", tuple(_untouched(assignment, kernels)))


def _points(assignment: Assignment) -> Iterator[str]:
    for name, source in assignment.source.items():
        ours = {cells.grade_id(cell): cells.max_points(cell) for cell in source.cells if cells.is_graded(cell)}
        theirs = {
            cells.grade_id(cell): cells.max_points(cell)
            for cell in assignment.release[name].cells
            if cells.is_graded(cell)
        }
        if ours != theirs:
            yield f"{name}: source and release differ in graded cells or points"


def _differences(root: Path, name: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        second = Path(folder)
        shutil.copy(root / "nbgrader_config.py", second)
        course = Course(root)
        shutil.copytree(course.source(name), second / course.source(name).relative_to(course.root))
        done = subprocess.run(
            [
                sys.executable, "-m", "nbgrader", "generate_assignment", name,
                f"--course-dir={second}", f"--db=sqlite:///{second / 'gradebook.db'}",
            ],
            cwd=second,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            yield done.stderr[-300:]
            return
        again = second / course.release(name).relative_to(course.root)
        yield from _compare(filecmp.dircmp(course.release(name), again))


def _compare(pair: filecmp.dircmp[str]) -> Iterator[str]:
    yield from (f"{entry} is in one release only" for entry in (*pair.left_only, *pair.right_only))
    _, changed, broken = filecmp.cmpfiles(pair.left, pair.right, pair.common_files, shallow=False)
    yield from (f"{entry} differs" for entry in (*changed, *broken))
    for sub in pair.subdirs.values():
        yield from _compare(sub)


def solved(assignment: Assignment) -> Submission:
    """The released notebooks with the instructor's solutions filled in, as if a student had handed them in."""
    notebooks = {}
    for name, released in assignment.release.items():
        student = nbformat.from_dict(released)
        solutions = {
            cells.grade_id(cell): cell.source for cell in assignment.source[name].cells if cells.is_solution(cell)
        }
        for cell in student.cells:
            if cells.is_solution(cell):
                cell.source = without_markers(solutions[cells.grade_id(cell)])
        notebooks[name] = nbformat.writes(student).encode()
    return Submission("solution", notebooks, assignment.solution_files(), ())


def without_markers(source: str) -> str:
    """A solution cell as a student would have written it."""
    marks = ("### BEGIN SOLUTION", "### END SOLUTION")
    return "\n".join(line for line in source.split("\n") if line.strip() not in marks)


def untouched(assignment: Assignment) -> Submission:
    notebooks = {name: nbformat.writes(notebook).encode() for name, notebook in assignment.release.items()}
    return Submission("untouched", notebooks, {}, ())


def run_all(
    submission: Submission, assignment: Assignment, kernels: Kernels
) -> Iterator[tuple[str, Ran, NotebookVerdict]]:
    """Every notebook of a submission, run and judged."""
    prepared = prepare(submission, assignment)
    for name, made in prepared.rebuilt.items():
        with tempfile.TemporaryDirectory() as answers:
            ran = run(
                made.notebook,
                files=prepared.files,
                inputs=inputs_of(made.notebook, assignment.references),
                answers=Path(answers),
                kernels=kernels,
                limits=Limits(),
            )
            verdict = judge(
                ran, assignment.references, student=submission.student, assignment=assignment.name, notebook=name
            )
            yield name, ran, verdict


def _errors(ran: Ran) -> Iterator[tuple[str, str]]:
    """(error name, where and what) of every visible cell that did not go well."""
    for outcome in ran.outcomes:
        part = outcome.visible
        if part.status != "ok":
            first = ran.notebook.cells[outcome.index].source.strip().split("\n")[0]
            yield part.ename or part.status, f"cell {outcome.index} ({first[:50]}): {part.ename} {part.evalue[:200]}"


def _solved(assignment: Assignment, kernels: Kernels) -> Iterator[str]:
    for name, ran, verdict in run_all(solved(assignment), assignment, kernels):
        yield from (f"{name}: {what}" for _, what in _errors(ran))
        yield from _unexpected(verdict, ("passed", "manual"))


def _untouched(assignment: Assignment, kernels: Kernels) -> Iterator[str]:
    for name, ran, verdict in run_all(untouched(assignment), assignment, kernels):
        yield from (f"{name}: {what}" for error, what in _errors(ran) if error not in INTENDED)
        yield from (f"{name}: {cell.cell} has {cell.points:g} points" for cell in verdict.cells if cell.points)
        yield from _unexpected(verdict, ("failed", "missing"))


def _unexpected(verdict: NotebookVerdict, statuses: tuple[str, ...]) -> Iterator[str]:
    for cell in verdict.cells:
        if cell.status not in statuses and cell.max_points:
            said = next((check.message for check in cell.checks if not check.passed), "")
            of = f"{cell.points} of {cell.max_points:g} points"
            yield f"{verdict.notebook}: {cell.cell} {cell.status} with {of}. {said}"
