"""The table of mutants, a row for each part of an assignment's solutions; of a whole course, as a page of Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from autograder.assignment.assignment import Assignment
from autograder.mutants.generate import Mutant
from autograder.mutants.outcome import REJECTED, Outcome
from autograder.mutants.survey import Survey


@dataclass(frozen=True)
class MutantRow:
    """What became of the mutants of one part. ``named`` to ``crashed`` together are the rejected ones.

    other: those that change only an error's words or a picture's looks. ticked: rejected ones that the visible check of
    the cell passes. refused: those that the visible check refuses though they get full points. seconds: of trying.
    """

    part: str
    mutants: int
    rejected: int
    named: int
    worded: int
    values: int
    crashed: int
    survivors: int
    equivalent: int
    accepted: int
    other: int
    ticked: int
    refused: int
    seconds: float

    @property
    def numbers(self) -> tuple[int, ...]:
        """All but the name and the seconds, in the order of :data:`COLUMNS`."""
        return tuple(getattr(self, one.name) for one in fields(self)[1:-1])


COLUMNS = ("mutants", "rejected", "by name", "in words", "values differ", "crashed", "survivors", "equivalent",
           "accepted", "words or looks", "rejected with ✓", "full points with ✗")  # fmt: skip


def rows(chosen: Sequence[Mutant], outcomes: Mapping[str, Outcome]) -> list[MutantRow]:
    """In the order of the parts."""
    labels = list(dict.fromkeys(mutant.part.label for mutant in chosen))
    return [row(label, [outcomes[one.id] for one in chosen if one.part.label == label]) for label in labels]


def row(name: str, found: Sequence[Outcome]) -> MutantRow:
    kinds = Counter(outcome.kind for outcome in found)
    return MutantRow(
        part=name,
        mutants=len(found),
        rejected=sum(kinds[kind] for kind in REJECTED),
        named=kinds["named"],
        worded=kinds["property"],
        values=kinds["values"],
        crashed=kinds["crashed"],
        survivors=kinds["survivor"],
        equivalent=kinds["equivalent"],
        accepted=kinds["accepted"],
        other=kinds["message"] + kinds["looks"],
        ticked=sum(one.kind in REJECTED and one.ticked and not one.visible for one in found),
        refused=sum(one.kind not in REJECTED and bool(one.visible) for one in found),
        seconds=round(sum(outcome.seconds for outcome in found), 1),
    )


def total(every: Sequence[MutantRow]) -> MutantRow:
    sums = {one.name: sum(getattr(row, one.name) for row in every) for one in fields(MutantRow)[1:]}
    return MutantRow("all", **sums)


_TOTAL = re.compile(r"^\| all \|(.*)\|$", re.MULTILINE)
_HEAD = """# What the checks reject

A mutant is a solution with one small change: an axis, an operator, a
constant, a name, a dropped term, a skipped layer. The hidden tests graded each. It is rejected where an exercise took
points: *by name* where feedback names a known mistake, *in words* where it says what is wrong. What no exercise
rejected was compared with the solution on freshly drawn cases and on variations of the recorded calls (other lengths,
precision, larger and smaller numbers, training, gradients): it is *equivalent* where nothing differed. Some are
*accepted* by the exercise's author, with a reason. The last two columns compare the visible check of the same cell:
*rejected with ✓* where it prints a ✓ and grading takes points, *full points with ✗* where it refuses what is accepted.
"""


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
    head = f"\n## {assignment.name}\n\n"
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
