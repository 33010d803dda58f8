"""``python -m benchmarks``: every table, in one run on one machine."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from autograder.assignment import Assignment
from autograder.release import assignments
from benchmarks.courses import ASSIGNMENT, ROOT, environment, make_course
from benchmarks.measure import Measured, watched
from benchmarks.stations import where_the_time_goes


def row(values: list[str]) -> None:
    """Printed at once, so that a run cut short keeps what it measured."""
    print("| " + " | ".join(values) + " |", flush=True)


def heads(names: list[str]) -> None:
    row(names)
    print("|" + "---|" * len(names), flush=True)


def bare(course: Path, submissions: int, workers: int, *words: str) -> float:
    command = [sys.executable, "-m", "benchmarks.bare", str(course), ASSIGNMENT, str(submissions), str(workers), *words]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return float(json.loads(done.stdout.splitlines()[-1]))


def throughput(folder: Path, submissions: int) -> None:
    print(f"\n## {submissions} solved submissions of `{ASSIGNMENT}` (four notebooks each)\n", flush=True)
    heads(["what", "seconds", "s per submission", "times stock", "of the bare limit", "parent's peak MB",
           "largest private MB below"])  # fmt: skip
    course = make_course(folder / "bare", submissions).root
    nan = float("nan")
    limit = Measured(bare(course, submissions, 2), nan, nan)
    silent = Measured(bare(course, submissions, 2, "--silent"), nan, nan)
    stock = watched(make_course(folder / "stock", submissions, stock=True).root, "nbgrader", "autograde", ASSIGNMENT)

    def show(name: str, one: Measured) -> None:
        row([name, f"{one.seconds:.1f}", f"{one.seconds / submissions:.2f}", f"{stock.seconds / one.seconds:.1f}",
             f"{one.seconds / limit.seconds:.2f}", f"{one.parent_mb:.0f}", f"{one.worker_mb:.0f}"])  # fmt: skip

    show("bare limit, 2 processes", limit)
    show("the same, no picture drawn", silent)
    show("stock `nbgrader autograde`", stock)
    for workers in (2, 1):
        root = make_course(folder / f"ours{workers}", submissions).root
        words = ["autograder.cli", "grade", ASSIGNMENT, "--workers", str(workers)]
        show(f"`autograder grade --workers {workers}`", watched(root, *words))
    plugged = make_course(folder / "plugged", submissions).root
    show("`nbgrader autograde` with our plug-ins", watched(plugged, "nbgrader", "autograde", ASSIGNMENT))


def scaling(folder: Path, sizes: list[int]) -> None:
    print("\n## Cost per submission of a small notebook (`1_embedding`), 2 workers\n", flush=True)
    heads(["submissions", "seconds", "s per submission", "parent's peak MB"])
    for size in sizes:
        course = make_course(folder / f"small{size}", size, only="1_embedding")
        one = watched(course.root, "autograder.cli", "grade", ASSIGNMENT, "--workers", "2")
        row([str(size), f"{one.seconds:.1f}", f"{one.seconds / size:.3f}", f"{one.parent_mb:.0f}"])


def notebooks(folder: Path) -> None:
    print("\n## Every source notebook, run from top to bottom as Jupyter runs it\n", flush=True)
    for sheet in assignments(ROOT):
        shutil.copytree(ROOT / "source" / sheet, folder / "source" / sheet)
        for name, content in Assignment.open(ROOT, sheet).solution_files().items():
            (folder / "source" / sheet / name).write_bytes(content)  # what students write beside the notebooks
    heads(["notebook", "seconds", "kernel's peak private MB"])
    total = 0.0
    for path in sorted((folder / "source").glob("*/*.ipynb")):
        words = ["nbconvert", "--to", "notebook", "--execute", str(path), "--output-dir", str(folder / "executed")]
        one = watched(path.parent, *words)
        total += one.seconds
        row([f"{path.parent.name}/{path.stem}", f"{one.seconds:.1f}", f"{one.worker_mb:.0f}"])
    row(["all", f"{total:.1f}", ""])


def stations(folder: Path, submissions: int) -> None:
    print("\n## Where the time of one submission goes (four notebooks, one worker)\n", flush=True)
    spent = where_the_time_goes(make_course(folder / "stations", submissions), ASSIGNMENT)
    heads(["station", "ms per submission", "share"])
    for name, one in spent.items():
        row([name, f"{1000 * one:.0f}", f"{100 * one / sum(spent.values()):.0f} %"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 100, 1000])
    parser.add_argument("--only", choices=["notebooks", "throughput", "scaling", "stations"])
    args = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}")
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = Path(temporary)
        if args.only in (None, "notebooks"):
            notebooks(folder)
        if args.only in (None, "stations"):
            stations(folder, 5)
        if args.only in (None, "throughput"):
            throughput(folder, args.submissions)
        if args.only in (None, "scaling"):
            scaling(folder, args.sizes)


if __name__ == "__main__":
    main()
