"""``python -m tests.plain``: of the corpus of plain test cells, how many are judged outside of the student's kernel.

A cell counts as judged outside only where all its answers, right and wrong, have the same points there as in one
process. Exit code 1 where one of them differs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter

from tests.plain import one_process, two_sides
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
    if not entry.can_run:
        return entry.judged, ""
    found = None if entry.only_ipython else two_sides.of_all(entry)
    if found is None:
        return "kernel", "the solution does not pass outside"
    for answer in entry.all_answers:
        if found[answer.source] != (here := one_process.points(entry, answer.source)):
            return "differs", f"{found[answer.source]:g} points instead of {here:g} for {answer.source[:60]!r}"
    return "outside", ""


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
