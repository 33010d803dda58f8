"""``python -m tools.bench``: every table, in one run on one machine."""

import argparse
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from autograder.assignment.assignment import Assignment
from autograder.model.course import Course
from tools.bench.again import judged_again
from tools.bench.courses import ASSIGNMENT, ROOT, make_course
from tools.bench.large import make_tiny_course
from tools.bench.measure import watched
from tools.bench.one import CELLS, one_submission
from tools.bench.sleeping import SECONDS, efficiency
from tools.bench.stages import where_the_time_goes
from tools.bench.storage import stored
from tools.bench.tables import everything, heads, row, title
from tools.bench.throughput import TURNS, grade, plain_tests, throughput

ABOUT = """# Measured

Written by `make bench`, each table in one run on one machine: ratios hold, seconds are this machine's. A ratio is the
middle one of five pairs that were measured in turn, then the least and the most. The guides quote these tables, and a
test compares them.
"""


def scaling(folder: Path, sizes: list[int]) -> None:
    """A start takes seconds, the same for every class. A submission's cost is what comes on top of a class of two."""
    title("Cost per submission of a small notebook (`1_embedding`), 2 workers")
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
    title("The writing process alone: submissions of one cell, the first of them run")
    heads(["submissions", "ms of processor time per submission", "peak MB", "files per submission", "bytes of them"])
    for size in sizes:
        course = make_tiny_course(folder / f"large{size}", size)
        spent = json.loads(watched(ROOT, "tools.bench.large", str(course.root)).last_line)
        shutil.rmtree(course.root)
        row([str(size), f"{1000 * spent['seconds'] / size:.1f}", f"{spent['peak_mb']:.0f}", str(spent["files"]),
             str(spent["bytes"])])  # fmt: skip


def dask(folder: Path) -> None:
    title(f"Dask workers with submissions that sleep for {SECONDS:g} s")
    heads(["workers", "share of the workers' time in which they had a submission"])
    for workers in (2, 4, 8):
        row([str(workers), f"{efficiency(workers, folder):.3f}"])


def notebooks(folder: Path) -> None:
    title("Every source notebook, run from top to bottom as Jupyter runs it")
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
    title("Where the time of one submission goes (four notebooks, one worker)")
    spent = where_the_time_goes(make_course(folder / "stages", submissions), ASSIGNMENT)
    heads(["stage", "ms per submission", "share"])
    total = sum(spent.values())
    for name, one in spent.items():
        row([name, f"{1000 * one:.0f}", f"{100 * one / total:.0f} %"])


def one(folder: Path) -> None:
    title(f"One submission to `{ASSIGNMENT}` (four notebooks)")
    found = one_submission(folder)
    heads(["command", "seconds", "times its cells (least to most)"])
    for name, seconds in found.items():
        times = [one / cells for one, cells in zip(seconds, found[CELLS], strict=True)]
        row([name, f"{median(seconds):.2f}", f"{median(times):.2f} ({min(times):.2f} to {max(times):.2f})"])


def storage(folder: Path) -> None:
    title(f"What one submission to `{ASSIGNMENT}` reads and writes")
    heads(["what", "files", "bytes"])
    for what, (files, size) in stored(folder / "course").items():
        row([what, str(files), str(size)])


#: name -> what it measures, and prints
PARTS: dict[str, Callable[[Path, argparse.Namespace], None]] = {
    "notebooks": lambda folder, args: notebooks(folder),
    "stages": lambda folder, args: stages(folder, 5),
    "throughput": lambda folder, args: throughput(folder, args.submissions),
    "small": lambda folder, args: throughput(folder, args.few),
    "plain": lambda folder, args: plain_tests(folder, args.submissions),
    "again": lambda folder, args: judged_again(folder, *args.graded),
    "scaling": lambda folder, args: scaling(folder, args.sizes),
    "large": lambda folder, args: large(folder, args.large),
    "storage": lambda folder, args: storage(folder),
    "dask": lambda folder, args: dask(folder),
    "one": lambda folder, args: one(folder),
}


def write(path: Path) -> None:
    """Put what was measured in the place of what an earlier run measured under the same headings."""
    sections: dict[str, str] = {}
    for text in (path.read_text(encoding="utf-8") if path.exists() else "", everything()):
        sections |= {part.partition("\n")[0]: part.rstrip() for part in text.split("\n## ")[1:]}
    path.write_text(ABOUT + "".join(f"\n## {part}\n" for part in sections.values()), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser("python -m tools.bench", description=__doc__)
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--few", type=int, default=6, help="submissions of a small class")
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 100, 1000])
    parser.add_argument("--large", type=int, nargs="*", default=[1000, 4000, 10000])
    parser.add_argument("--graded", type=int, nargs=2, default=[300, 1000], help="classes that are judged again")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep what was printed, which guides quote")
    args = parser.parse_args()
    if min(args.submissions, args.few) < len(TURNS) or min(args.sizes, default=3) < 3:
        parser.error(f"--submissions and --few take at least {len(TURNS)}, each of --sizes at least 3")
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        for name in args.only:
            folder = Path(temporary) / name
            folder.mkdir()
            PARTS[name](folder, args)
    if args.write:
        write(args.write)


if __name__ == "__main__":
    main()
