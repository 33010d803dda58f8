"""A class of solved submissions: stock nbgrader, the grader, and the notebooks' own computing, taking turns."""

import sys
from dataclasses import replace
from pathlib import Path
from statistics import mean

from autograder.model.course import Course
from tools.bench.courses import ASSIGNMENT, ROOT, check_grades, make_course
from tools.bench.measure import Measured, watched
from tools.bench.plain import ASSIGNMENT as PLAIN
from tools.bench.plain import make_plain_course, require_right
from tools.bench.tables import heads, row, spread, title

#: Stock grades those whose numbers end in these digits, then the others grade everybody: a pair of two measurements
#: side by side. Stock takes many minutes, in which a machine's own pace changes.
TURNS = ("05", "16", "27", "38", "49")


def throughput(folder: Path, submissions: int) -> None:
    """Ratios are those of the pairs: the middle one, and the least and the most."""
    title(f"{submissions} solved submissions of `{ASSIGNMENT}` (four notebooks each)")
    stock, ours, limit, whole = [], [], [], []
    stock_course = make_course(folder / "stock", submissions, stock=True)
    for turn, digits in enumerate(TURNS):
        some = watched(stock_course.root, "nbgrader", "autograde", ASSIGNMENT, f"--student=student*[{digits}]")
        graded = sum(str(number)[-1] in digits for number in range(submissions))
        stock.append(replace(some, seconds=some.seconds / graded * submissions))
        course = make_course(folder / f"ours{turn}", submissions)
        limit.append(bare(course.root, submissions))
        ours.append(grade(course, submissions, 2))
        whole.append(bare(course.root, submissions, "--everything"))
        seconds = [f"{runs[-1].seconds:.1f}" for runs in (stock, limit, ours, whole)]
        print(f"turn {turn + 1}: stock, bare limit, ours, old limit:", *seconds, file=sys.stderr, flush=True)
    check_grades(stock_course, submissions)
    silent = bare(course.root, submissions, "--silent")
    alone = grade(make_course(folder / "alone", submissions), submissions, 1)
    plugged_course = make_course(folder / "plugged", submissions)
    plugged = watched(plugged_course.root, "nbgrader", "autograde", ASSIGNMENT)
    check_grades(plugged_course, submissions)
    heads(["what", "seconds", "s per submission", "times stock", "of the bare limit", "parent's peak MB",
           "largest private MB below"])  # fmt: skip
    for name, runs in (
        ("stock `nbgrader autograde`", stock),
        ("`nbgrader autograde` with our plug-ins", [plugged] * len(TURNS)),
        ("`autograder grade --workers 1`", [alone] * len(TURNS)),
        ("`autograder grade --workers 2`", ours),
        ("bare limit, 2 processes", limit),
        ("the same, the course's own drawings for everybody", whole),
        ("the same, no picture drawn", [silent] * len(TURNS)),
    ):
        seconds = mean(one.seconds for one in runs)
        row([name, f"{seconds:.1f}", f"{seconds / submissions:.2f}", _ratio(stock, runs), _ratio(runs, limit, 2),
             f"{max(one.parent_mb for one in runs):.0f}", f"{max(one.worker_mb for one in runs):.0f}"])  # fmt: skip


def _ratio(longer: list[Measured], shorter: list[Measured], digits: int = 1) -> str:
    return spread([one.seconds / other.seconds for one, other in zip(longer, shorter, strict=True)], digits)


def bare(course: Path, submissions: int, *words: str) -> Measured:
    """The bare limit with two processes. They are warm before its clock runs, and so its own seconds count."""
    run = watched(ROOT, "tools.bench.bare", str(course), ASSIGNMENT, str(submissions), "2", *words)
    return replace(run, seconds=float(run.last_line))


def grade(course: Course, submissions: int, workers: int) -> Measured:
    measured = watched(course.root, "autograder.cli", "grade", ASSIGNMENT, "--workers", str(workers))
    check_grades(course, submissions)
    return measured


def plain_tests(folder: Path, submissions: int) -> None:
    """Stock and ours take turns; each turn of stock grades some of the class."""
    title(f"A course of plain asserts, {submissions} submissions of two notebooks")
    stock, ours, first = [], [], []
    stock_course = make_plain_course(folder / "stock", submissions)
    for digits in TURNS:
        for runs, calibrated in ((ours, True), (first, False)):
            course = make_plain_course(folder / f"ours{digits}{calibrated}", submissions, calibrated=calibrated)
            runs.append(watched(course.root, "autograder.cli", "grade", PLAIN, "--workers", "2"))
            require_right(course, submissions)
        some = watched(stock_course.root, "nbgrader", "autograde", PLAIN, f"--student=student*[{digits}]")
        graded = sum(str(number)[-1] in digits for number in range(submissions))
        stock.append(replace(some, seconds=some.seconds / graded * submissions))
    require_right(stock_course, submissions)
    heads(["what", "seconds", "s per submission", "times stock", "parent's peak MB", "largest private MB below"])
    for name, runs in (
        ("stock `nbgrader autograde`", stock),
        ("`autograder grade --workers 2`", ours),
        ("the same, of a course that nbgrader alone released: the solution runs first", first),
    ):
        seconds = mean(one.seconds for one in runs)
        row([name, f"{seconds:.1f}", f"{seconds / submissions:.2f}", _ratio(stock, runs),
             f"{max(one.parent_mb for one in runs):.0f}", f"{max(one.worker_mb for one in runs):.0f}"])  # fmt: skip
