"""A class of thousands: what the one writing process costs, in processor time and memory, as the class grows.

The first submission is graded as every other is. All further ones are written with its result under their own names, so
that ten thousand of them measure what does not run in parallel: reading, gradebook, files, journal and the table.
"""

import json
import os
import re
import resource
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from autograder.classroom import run
from autograder.classroom.run import GradingOptions, grade_class
from autograder.classroom.workers import Job, JobResult
from autograder.model.course import Course
from tools.bench.courses import call
from tools.bench.plain import CONFIG, cell

ASSIGNMENT = "tiny"
SOLUTION = "def double(x):\n    return 2 * x"


def make_tiny_course(root: Path, submissions: int) -> Course:
    """A released course of one notebook with one graded cell, handed in solved by everybody."""
    source = root / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG)
    notebook = new_notebook(cells=[
        new_code_cell("import math", id="imports"),
        cell(f"### BEGIN SOLUTION\n{SOLUTION}\n### END SOLUTION", "double_answer", solution=True),
        cell("assert double(3) == 6", "double", grade=True, locked=True, points=2),
    ])  # fmt: skip
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, source / "1_double.ipynb")
    call(root, "nbgrader", "generate_assignment", ASSIGNMENT)
    released = nbformat.read(root / "release" / ASSIGNMENT / "1_double.ipynb", as_version=4)
    for one in released.cells:
        if one.metadata.get("nbgrader", {}).get("grade_id") == "double_answer":
            one.source = SOLUTION
    solved = root / "solved.ipynb"
    nbformat.write(released, solved)
    for number in range(submissions):
        folder = root / "submitted" / f"student{number:06d}" / ASSIGNMENT
        folder.mkdir(parents=True)
        shutil.copyfile(solved, folder / "1_double.ipynb")
    return Course(root)


def _written_only(
    course: Course, jobs: list[Job], order: GradingOptions, start: run._Start | None
) -> Iterator[JobResult]:
    """The first job's real result, and then the same under everybody's name."""
    first = next(iter(_graded(course, jobs[:1], order, start)))
    if first.graded is None:
        raise SystemExit(f"{course.root}: the first submission could not be graded: {first.failure}")
    for job in jobs:
        verdict = replace(first.graded.verdict, student=job.student)
        yield replace(first, job=job, graded=replace(first.graded, verdict=verdict))


_graded = run._results


def main(root: Path) -> None:
    """Grade the class at ``root`` and print its cost as JSON.

    Processor seconds, the peak of resident memory in MB, and the files and bytes that one submission has on disk.
    """
    course = Course(root)
    before = _processor_seconds()
    with patch.object(run, "_results", _written_only):
        rows = grade_class(course, GradingOptions(ASSIGNMENT, workers=1))
    spent = _processor_seconds() - before
    wrong = [row.student for row in rows if row.failure or row.total != 2]
    if wrong:
        raise SystemExit(f"{root}: {len(wrong)} of {len(rows)} grades are not what was meant, the first: {wrong[0]}")
    files, size = _written(course, rows[0].student)
    peak = _peak_mb()
    print(json.dumps({"submissions": len(rows), "seconds": spent, "peak_mb": peak, "files": files, "bytes": size}))


def _peak_mb() -> float:
    """Of this program alone: ``ru_maxrss`` begins with what the process had before it became this program."""
    return int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) / 1e3


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _written(course: Course, student: str) -> tuple[int, int]:
    """How many files and bytes of one submission are read and written on a shared file system."""
    folders = (course.submitted(student, ASSIGNMENT), course.autograded(student, ASSIGNMENT))
    paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return len(paths), sum(os.stat(path).st_size for path in paths)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
