"""``python -m tests.plain [COURSE ...]``: how plain tests are judged here.

With courses: solution, untouched, half-done, mutated and restyled notebooks of each, graded by stock nbgrader (which
runs them unconfined) and by ours; prints every difference with its reason. Exit code 1 where ours gives more, or less
without a word to the instructor.

Without: of the corpus of plain test cells, how many are judged outside of the student's kernel.

A cell counts as judged outside only where all its answers, right and wrong, have the same points there as in one
process. Exit code 1 where one of them differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.plain import courses
from tests.plain.entries import Entry, entries


def main() -> int:
    counts: Counter[str] = Counter()
    print(f"{'test cells':24} {'outside':>8} {'kernel':>8}")
    found = {entry: place(entry) for entry in entries()}
    for group in dict.fromkeys(entry.group for entry in found):
        of = Counter(where for entry, (where, _) in found.items() if entry.group == group)
        print(f"{group:24} {of['outside']:8} {of['kernel']:8}")
        counts += of
    outside, all_ = counts["outside"], sum(counts.values())
    print(f"{'all':24} {outside:8} {counts['kernel']:8}   {outside / all_:.0%} outside")
    for where, title in (
        ("kernel", "In the student's kernel:"),
        ("differs", "Judged outside, with other points there:"),
    ):
        told = [f"  {entry.name}: {why}" for entry, (one, why) in found.items() if one == where]
        print(*([title, *told] if told else []), sep="\n", end="\n" if told else "")
    tried = [entry for entry, (where, _) in found.items() if where != "kernel" and entry.can_run]
    answers = sum(len(entry.all_answers) for entry in tried)
    missing = sum(not one.can_run for one in found)
    print(f"{answers} answers were tried in both places; cells whose packages are missing here: {missing}")
    return 1 if counts["differs"] else 0


def place(entry: Entry) -> tuple[str, str]:
    """``outside``, ``kernel`` or ``differs``, and why."""
    from tests.plain import one_process, two_sides

    if not entry.can_run:
        return entry.judged, ""
    found = None if entry.only_ipython else two_sides.of_all(entry)
    if found is None:
        return "kernel", "the solution does not pass outside"
    for answer in entry.all_answers:
        if found[answer.source] != (here := one_process.points(entry, answer.source)):
            return "differs", f"{found[answer.source]:g} points instead of {here:g} for {answer.source[:60]!r}"
    return "outside", ""


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.plain", description=__doc__)
    parser.add_argument("courses", nargs="*", type=Path, metavar="COURSE", help="a folder with source/")
    parser.add_argument("--only", nargs="+", default=(), metavar="ASSIGNMENT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=3, help="notebooks with small mistakes in each answer")
    parser.add_argument("--styles", type=int, default=2, help="notebooks with answers of other types")
    parser.add_argument("--seconds", type=int, default=30, help="for one cell")
    parser.add_argument("--work", type=Path, help="keep the copies here; stock nbgrader's points are used again")
    return parser.parse_args()


if __name__ == "__main__":
    args = parsed()
    with tempfile.TemporaryDirectory() as folder:
        if not args.courses:
            os.chdir(folder)
            sys.exit(main())
        chosen = courses.Options(args.seed, args.mutants, args.styles, args.seconds, tuple(args.only))
        sys.exit(courses.main(args.courses, args.work or Path(folder), chosen))
