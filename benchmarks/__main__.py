"""``python -m benchmarks``: every table, in one run on one machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

from autograder.model.assignment import Assignment
from autograder.model.course import Course
from benchmarks.courses import ASSIGNMENT, ROOT, check_grades, make_course
from benchmarks.large import make_tiny_course
from benchmarks.measure import Measured, watched
from benchmarks.one import one_submission
from benchmarks.plain import ASSIGNMENT as PLAIN
from benchmarks.plain import make_plain_course, require_right
from benchmarks.sleeping import SECONDS, efficiency
from benchmarks.stages import where_the_time_goes

#: Each grades the students whose numbers end in two of the ten digits.
STOCK_PARTS = 5


def row(values: list[str]) -> None:
    """Printed at once, so that a run cut short keeps what it measured."""
    print("| " + " | ".join(values) + " |", flush=True)


def heads(names: list[str]) -> None:
    row(names)
    print("|" + "---|" * len(names), flush=True)


def throughput(folder: Path, submissions: int) -> None:
    """Stock takes many minutes, in which a machine's own pace changes: the others run between fifths of it."""
    print(f"\n## {submissions} solved submissions of `{ASSIGNMENT}` (four notebooks each)\n", flush=True)
    stock, ours, limit = [], [], []
    stock_course = make_course(folder / "stock", submissions, stock=True)
    for part in range(STOCK_PARTS):
        students = f"student*[{2 * part}{2 * part + 1}]"
        stock.append(watched(stock_course.root, "nbgrader", "autograde", ASSIGNMENT, f"--student={students}"))
        course = make_course(folder / f"ours{part}", submissions)
        limit.append(bare(course.root, submissions))
        ours.append(grade(course, submissions, 2))
        seconds = [f"{runs[-1].seconds:.1f}" for runs in (stock, limit, ours)]
        print(f"part {part + 1}: a fifth of stock, bare limit, ours:", *seconds, file=sys.stderr, flush=True)
    check_grades(stock_course, submissions)
    silent = bare(course.root, submissions, "--silent")
    alone = grade(make_course(folder / "alone", submissions), submissions, 1)
    plugged_course = make_course(folder / "plugged", submissions)
    plugged = watched(plugged_course.root, "nbgrader", "autograde", ASSIGNMENT)
    check_grades(plugged_course, submissions)
    stock_seconds, limit_seconds = sum(one.seconds for one in stock), mean(one.seconds for one in limit)
    heads(["what", "seconds", "s per submission", "times stock", "of the bare limit", "parent's peak MB",
           "largest private MB below"])  # fmt: skip
    for name, runs, seconds in (
        ("stock `nbgrader autograde`", stock, stock_seconds),
        ("`nbgrader autograde` with our plug-ins", [plugged], plugged.seconds),
        ("`autograder grade --workers 1`", [alone], alone.seconds),
        ("`autograder grade --workers 2`", ours, mean(one.seconds for one in ours)),
        ("bare limit, 2 processes", limit, limit_seconds),
        ("the same, no picture drawn", [silent], silent.seconds),
    ):
        row([name, f"{seconds:.1f}", f"{seconds / submissions:.2f}", f"{stock_seconds / seconds:.1f}",
             f"{seconds / limit_seconds:.2f}", f"{max(one.parent_mb for one in runs):.0f}",
             f"{max(one.worker_mb for one in runs):.0f}"])  # fmt: skip


def plain_tests(folder: Path, submissions: int) -> None:
    """Stock and ours take turns, half of the class each time that stock does, because a machine's pace changes."""
    print(f"\n## A course of plain asserts, {submissions} submissions of two notebooks\n", flush=True)
    stock, ours = [], []
    stock_course = make_plain_course(folder / "stock", submissions)
    for half in ("01234", "56789"):
        course = make_plain_course(folder / f"ours{half}", submissions)
        ours.append(watched(course.root, "autograder.cli", "grade", PLAIN, "--workers", "2"))
        require_right(course, submissions)
        stock.append(watched(stock_course.root, "nbgrader", "autograde", PLAIN, f"--student=student*[{half}]"))
    require_right(stock_course, submissions)
    stock_seconds = sum(one.seconds for one in stock)
    heads(["what", "seconds", "s per submission", "times stock", "parent's peak MB", "largest private MB below"])
    for name, runs, seconds in (
        ("stock `nbgrader autograde`", stock, stock_seconds),
        ("`autograder grade --workers 2`", ours, mean(one.seconds for one in ours)),
    ):
        row([name, f"{seconds:.1f}", f"{seconds / submissions:.2f}", f"{stock_seconds / seconds:.1f}",
             f"{max(one.parent_mb for one in runs):.0f}", f"{max(one.worker_mb for one in runs):.0f}"])  # fmt: skip


def bare(course: Path, submissions: int, *words: str) -> Measured:
    """The bare limit with two processes. They are warm before its clock runs, and so its own seconds count."""
    run = watched(ROOT, "benchmarks.bare", str(course), ASSIGNMENT, str(submissions), "2", *words)
    return replace(run, seconds=float(run.last_line))


def grade(course: Course, submissions: int, workers: int) -> Measured:
    measured = watched(course.root, "autograder.cli", "grade", ASSIGNMENT, "--workers", str(workers))
    check_grades(course, submissions)
    return measured


def scaling(folder: Path, sizes: list[int]) -> None:
    """A start takes seconds, the same for every class. A submission's cost is what comes on top of a class of two."""
    print("\n## Cost per submission of a small notebook (`1_embedding`), 2 workers\n", flush=True)
    heads(["submissions", "seconds", "s per submission", "s for each beyond the first two", "parent's peak MB"])
    start = 0.0
    for size in [2, *sizes]:
        runs = [grade(make_course(folder / f"small{size}-{number}", size, only="1_embedding"), size, 2)
                for number in range(5 if size < 100 else 1)]  # fmt: skip
        seconds = median(one.seconds for one in runs)
        start = start or seconds
        further = f"{(seconds - start) / (size - 2):.3f}" if size > 2 else ""
        parent = max(one.parent_mb for one in runs)
        row([str(size), f"{seconds:.1f}", f"{seconds / size:.3f}", further, f"{parent:.0f}"])


def large(folder: Path, sizes: list[int]) -> None:
    """What does not run in parallel, as the class grows: submissions of one cell, of which the first alone is run."""
    print("\n## The writing process alone: submissions of one cell, the first of them run\n", flush=True)
    heads(["submissions", "ms of processor time per submission", "peak MB", "files per submission", "bytes of them"])
    for size in sizes:
        course = make_tiny_course(folder / f"large{size}", size)
        spent = json.loads(watched(ROOT, "benchmarks.large", str(course.root)).last_line)
        shutil.rmtree(course.root)
        row([str(size), f"{1000 * spent['seconds'] / size:.1f}", f"{spent['peak_mb']:.0f}", str(spent["files"]),
             str(spent["bytes"])])  # fmt: skip


def dask(folder: Path) -> None:
    print(f"\n## Dask workers with submissions that sleep for {SECONDS:g} s\n", flush=True)
    heads(["workers", "share of the workers' time in which they had a submission"])
    for workers in (2, 4, 8):
        row([str(workers), f"{efficiency(workers, folder):.3f}"])


def notebooks(folder: Path) -> None:
    print("\n## Every source notebook, run from top to bottom as Jupyter runs it\n", flush=True)
    shutil.copytree(ROOT / "exercises", folder / "exercises")
    for sheet in Course(ROOT).assignments():
        shutil.copytree(ROOT / "source" / sheet, folder / "source" / sheet)
        for name, content in Assignment.open(ROOT, sheet).solutions.items():
            (folder / "source" / sheet / name).write_bytes(content)  # what students write beside the notebooks
    heads(["notebook", "seconds", "kernel's peak private MB"])
    total = 0.0
    for path in sorted((folder / "source").glob("*/*.ipynb")):
        words = ["nbconvert", "--to", "notebook", "--execute", str(path), "--output-dir", str(folder / "executed")]
        one = watched(path.parent, *words)
        total += one.seconds
        row([f"{path.parent.name}/{path.stem}", f"{one.seconds:.1f}", f"{one.worker_mb:.0f}"])
    row(["all", f"{total:.1f}", ""])


def stages(folder: Path, submissions: int) -> None:
    print("\n## Where the time of one submission goes (four notebooks, one worker)\n", flush=True)
    spent = where_the_time_goes(make_course(folder / "stages", submissions), ASSIGNMENT)
    heads(["stage", "ms per submission", "share"])
    total = sum(spent.values())
    for name, one in spent.items():
        row([name, f"{1000 * one:.0f}", f"{100 * one / total:.0f} %"])


def one(folder: Path) -> None:
    print(f"\n## One submission to `{ASSIGNMENT}` (four notebooks), with and without `autograder warm`\n", flush=True)
    found, cells = one_submission(folder)
    heads(["command", "seconds", "seconds warm", "times as long without (least to most)", "times its cells"])
    for name, pairs in found.items():
        row([name, *pairs.row(), f"{median(pairs.alone) / median(cells):.2f}"])
    row(["the cells alone", f"{median(cells):.2f}", "", "", ""])


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 100, 1000])
    parser.add_argument("--large", type=int, nargs="*", default=[1000, 4000, 10000])
    parser.add_argument(
        "--only", choices=["notebooks", "throughput", "plain", "scaling", "stages", "large", "dask", "one"]
    )
    args = parser.parse_args()
    if args.submissions < 2 * STOCK_PARTS or min(args.sizes, default=3) < 3:
        parser.error(f"--submissions takes at least {2 * STOCK_PARTS}, each of --sizes at least 3")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}")
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = Path(temporary)
        if args.only in (None, "notebooks"):
            notebooks(folder)
        if args.only in (None, "stages"):
            stages(folder, 5)
        if args.only in (None, "throughput"):
            throughput(folder, args.submissions)
        if args.only in (None, "plain"):
            plain_tests(folder / "plain", args.submissions)
        if args.only in (None, "scaling"):
            scaling(folder, args.sizes)
        if args.only in (None, "large"):
            large(folder, args.large)
        if args.only in (None, "dask"):
            dask(folder)
        if args.only in (None, "one"):
            one(folder / "one")


if __name__ == "__main__":
    main()
