"""``docs/checks.md``: the tables of mutants of a course, with the digests of what they were made from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from autograder.classroom.fingerprint import digest, library_places
from autograder.model.assignment import Assignment
from autograder.model.course_file import read_course_file
from autograder.mutants.parts import parts
from autograder.mutants.rows import COLUMNS, rows, total
from autograder.mutants.run import trusted
from autograder.mutants.survey import Survey

#: Which modules of the grader decide what becomes of a mutant, and those among them that do not.
_JUDGING = ("exercise/*.py", "mutants/*.py", "pipeline/judge.py")
_PRINTING = ("page.py", "rows.py")
_TOTAL = re.compile(r"^\| all \|(.*)\|$", re.MULTILINE)
_HEAD = """# What the checks reject

Made by `make mutants`; not to be edited. A mutant is a solution with one small change: an axis, an operator, a
constant, a name, a dropped term, a skipped layer. The hidden tests graded each. It is rejected where an exercise took
points: *by name* where feedback names a known mistake, *in words* where it says what is wrong. What no exercise
rejected was compared with the solution on freshly drawn cases and on variations of the recorded calls (other lengths,
precision, larger and smaller numbers, training, gradients): it is *equivalent* where nothing differed. Some are
*accepted* by the exercise's author, with a reason. The last two columns compare the visible check of the same cell:
*rejected with ✓* where it passes and grading takes points, *full points with ✗* where it refuses what grading accepts.
"""


def state(assignment: Assignment) -> str:
    """Digest of what the table of an assignment's mutants depends on.

    Its cells, files and exercises, the visible checks, the code that judges, and the code that makes mutants.
    """
    names = sorted({name for part in parts(assignment) for name in (*part.exercises, *part.others)})
    grader = Path(__file__).resolve().parents[1]
    judging = [path for pattern in _JUDGING for path in sorted(grader.glob(pattern))]
    code = {str(path.relative_to(grader)): digest(path.read_bytes()) for path in judging if path.name not in _PRINTING}
    return digest(trusted(assignment, names), code, _visible_checks(assignment))


def _visible_checks(assignment: Assignment) -> dict[str, str]:
    """Of the course's library the modules in each folder named like the assignment, and those beside that folder."""
    library = read_course_file(assignment.references.folder.parent).library
    found = {}
    for place in library_places(library) if library else ():
        for own in sorted(place.rglob(assignment.name)) if place.is_dir() else ():
            for path in sorted([*own.rglob("*.py"), *own.parent.glob("*.py")]):
                found[str(path.relative_to(place))] = digest(path.read_bytes())
    return found


def page(found: Sequence[tuple[Assignment, Survey]], before: str = "") -> str:
    """The page with a section on each of these assignments; ``before``: the page whose other sections are kept."""
    sections = _sections(before) | {assignment.name: _section(assignment, one) for assignment, one in found}
    return _HEAD + _in_all(list(sections.values())) + "".join(sections[name] for name in sorted(sections))


def _sections(text: str) -> dict[str, str]:
    """Assignment -> its section of a page."""
    return {part.split("\n", 1)[0]: f"\n## {part.rstrip()}\n" for part in text.split("\n## ")[1:]}


def _in_all(sections: Sequence[str]) -> str:
    every = [[int(number.replace(",", "")) for number in _TOTAL.findall(text)[0].split("|")[:-1]] for text in sections]
    numbers = dict(zip(COLUMNS, map(sum, zip(*every, strict=True)), strict=True))
    ended = numbers["rejected"] - numbers["crashed"]
    told = (numbers["by name"] + numbers["in words"]) / ended if ended else 1.0
    return (
        f"\nIn all {numbers['mutants']:,} mutants: {numbers['rejected']:,} rejected, {numbers['survivors']} survivors. "
        f"Of the rejected ones that ran to their end, {100 * told:.0f} % are told what is wrong. "
        f"The visible check refuses {numbers['full points with ✗']} that get full points.\n"
    )


def _section(assignment: Assignment, found: Survey) -> str:
    own = rows(found.chosen, found.outcomes)
    head = f"\n## {assignment.name}\n\n<!-- state: {state(assignment)} -->\n\n"
    lines = [f"| exercise | {' | '.join(COLUMNS)} | seconds |", "|---|" + "---:|" * (len(COLUMNS) + 1)]
    lines += [
        f"| {row.part} | {' | '.join(f'{number:,}' for number in row.numbers)} | {row.seconds:.0f} |"
        for row in (*own, total(own))
    ]
    return head + "\n".join(lines) + "\n" + _excused(found, "equivalent") + _excused(found, "accepted")


def _excused(found: Survey, kind: str) -> str:
    """The equivalent ones with what was tried, or the accepted ones with the reason."""
    listed = [(one, found.outcomes[one.id]) for one in found.chosen if found.outcomes[one.id].kind == kind]
    if not listed:
        return ""
    why = "reason" if kind == "accepted" else "tried"
    title = f"\n<details><summary>{len(listed)} {kind}</summary>\n\n| mutant | change | {why} |\n|---|---|---|\n"
    cells = [f"| {one.id} | {_plain(one.description)} | {_plain(outcome.said)} |" for one, outcome in listed]
    return title + "\n".join(cells) + "\n\n</details>\n"


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
