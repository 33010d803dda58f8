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


def table(heads: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def bare(course: Path, submissions: int, workers: int, *words: str) -> float:
    command = [sys.executable, "-m", "benchmarks.bare", str(course), ASSIGNMENT, str(submissions), str(workers), *words]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return float(json.loads(done.stdout.splitlines()[-1]))


def throughput(folder: Path, submissions: int) -> None:
    print(f"## {submissions} solved submissions of `{ASSIGNMENT}` (four notebooks each)\n", flush=True)
    stock = watched(make_course(folder / "stock", submissions, stock=True).root, "nbgrader", "autograde", ASSIGNMENT)
    plugged = watched(make_course(folder / "plugged", submissions).root, "nbgrader", "autograde", ASSIGNMENT)
    ours = {workers: watched(make_course(folder / f"ours{workers}", submissions).root, "autograder.cli", "grade",
                             ASSIGNMENT, "--workers", str(workers)) for workers in (1, 2)}  # fmt: skip
    limit = bare(folder / "ours2", submissions, 2)
    silent = bare(folder / "ours2", submissions, 2, "--silent")
    named: dict[str, Measured] = {
        "stock `nbgrader autograde`": stock,
        "`nbgrader autograde` with our plug-ins": plugged,
        "`autograder grade --workers 1`": ours[1],
        "`autograder grade --workers 2`": ours[2],
        "bare limit, 2 processes": Measured(limit, float("nan"), float("nan")),
        "the same, no picture drawn": Measured(silent, float("nan"), float("nan")),
    }
    rows = [[name, f"{one.seconds:.1f}", f"{one.seconds / submissions:.2f}", f"{stock.seconds / one.seconds:.1f}",
             f"{one.seconds / limit:.2f}", f"{one.parent_mb:.0f}", f"{one.worker_mb:.0f}"]
            for name, one in named.items()]  # fmt: skip
    table(["what", "seconds", "s per submission", "times stock", "of the bare limit", "parent's peak MB",
           "largest private MB below"], rows)  # fmt: skip


def scaling(folder: Path, sizes: list[int]) -> None:
    print("## Cost per submission of a small notebook (`1_embedding`), 2 workers\n", flush=True)
    rows = []
    for size in sizes:
        course = make_course(folder / f"small{size}", size, only="1_embedding")
        one = watched(course.root, "autograder.cli", "grade", ASSIGNMENT, "--workers", "2")
        rows.append([str(size), f"{one.seconds:.1f}", f"{one.seconds / size:.3f}", f"{one.parent_mb:.0f}"])
    table(["submissions", "seconds", "s per submission", "parent's peak MB"], rows)


def notebooks(folder: Path) -> None:
    print("## Every source notebook, run from top to bottom as Jupyter runs it\n", flush=True)
    rows, total = [], 0.0
    for sheet in assignments(ROOT):
        shutil.copytree(ROOT / "source" / sheet, folder / "source" / sheet)
        for name, content in Assignment.open(ROOT, sheet).solution_files().items():
            (folder / "source" / sheet / name).write_bytes(content)  # what students write beside the notebooks
    for path in sorted((folder / "source").glob("*/*.ipynb")):
        words = ["nbconvert", "--to", "notebook", "--execute", str(path), "--output-dir", str(folder / "executed")]
        one = watched(path.parent, *words)
        total += one.seconds
        rows.append([f"{path.parent.name}/{path.stem}", f"{one.seconds:.1f}", f"{one.worker_mb:.0f}"])
    table(["notebook", "seconds", "kernel's peak private MB"], [*rows, ["all", f"{total:.1f}", ""]])


def stations(folder: Path, submissions: int) -> None:
    print("## Where the time of one submission goes (four notebooks, one worker)\n", flush=True)
    spent = where_the_time_goes(make_course(folder / "stations", submissions), ASSIGNMENT)
    total = sum(spent.values())
    table(["station", "ms per submission", "share"],
          [[name, f"{1000 * one:.0f}", f"{100 * one / total:.0f} %"] for name, one in spent.items()])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 100, 1000])
    parser.add_argument("--only", choices=["notebooks", "throughput", "scaling", "stations"])
    args = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}\n")
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
