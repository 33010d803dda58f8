"""``python -m tests.plain.cheats [--stock] [ID ...]``: what each cheat earns here, and on stock nbgrader, as a table.

Against stock nbgrader the cheats really run, unconfined, as the user who calls this.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.model.course import Course
from benchmarks.courses import environment
from tests.plain.cheats.cheat import Cheat
from tests.plain.cheats.corpus import CHEATS
from tests.plain.cheats.course import ASSIGNMENT, RIGHT, WRONG, make_course
from tests.plain.cheats.targets import BY_ID

#: Seconds that a cell has here: some cheats never end.
LIMIT = 2
HEAD = ("id", "what it tries", "exercise", "an honest wrong answer", "stock nbgrader", "here")


def grade(course: Course, *words: str) -> None:
    """Grade the class. What a grader says of single submissions is in its gradebook."""
    subprocess.run([sys.executable, "-m", *words], cwd=course.root, env=environment(), capture_output=True)


def points(course: Course, student: str) -> dict[str, float] | None:
    """graded cell -> points; None where the submission has no grade."""
    with Gradebook(course.db_url) as gradebook:
        try:
            found = gradebook.find_submission(ASSIGNMENT, student)
        except MissingEntry:
            return None
        grades = [grade for notebook in found.notebooks for grade in notebook.grades]
        if any(one.auto_score is None for one in grades):
            return None
        return {one.name: one.auto_score for one in grades}


def stock(cheats: Sequence[Cheat], folder: Path) -> dict[str, dict[str, float] | None]:
    course = make_course(folder, cheats)
    grade(course, "nbgrader", "autograde", ASSIGNMENT)
    return {student: points(course, student) for student in (RIGHT, WRONG, *(cheat.id for cheat in cheats))}


def ours(cheats: Sequence[Cheat], folder: Path) -> dict[str, dict[str, float] | None]:
    course = make_course(folder, cheats)
    grade(course, "autograder.cli", "grade", ASSIGNMENT, "--workers", "2", "--time-limit", str(LIMIT))
    return {student: points(course, student) for student in (RIGHT, WRONG, *(cheat.id for cheat in cheats))}


def row(cheat: Cheat, by_stock: str, here: str) -> list[str]:
    target = BY_ID[cheat.target]
    return [cheat.id, cheat.tries, f"`{target.id}`", f"{target.earns:g} of {target.points:g}", by_stock, here]


def said(found: dict[str, float] | None, target: str) -> str:
    return "no grade" if found is None else f"{found[target]:g}"


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.plain.cheats", description=__doc__)
    parser.add_argument("--stock", action="store_true", help="run them on stock nbgrader too, unconfined")
    parser.add_argument("ids", nargs="*", help="only these cheats")
    args = parser.parse_args()
    cheats = [cheat for cheat in CHEATS if not args.ids or cheat.id in args.ids]
    with tempfile.TemporaryDirectory(prefix="cheats-") as temporary:
        here = ours(cheats, Path(temporary) / "ours")
        there = stock(cheats, Path(temporary) / "stock") if args.stock else {}
    heads = [name for name in HEAD if args.stock or name != "stock nbgrader"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for cheat in cheats:
        cells = row(cheat, said(there.get(cheat.id), cheat.target), said(here.get(cheat.id), cheat.target))
        print(f"| {' | '.join(cells if args.stock else [*cells[:4], cells[5]])} |")


if __name__ == "__main__":
    main()
