"""The table of mutants: a row for each part of an assignment's solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from autograder.mutants.generate import Mutant
from autograder.mutants.outcome import REJECTED, Outcome


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
