"""One row of the table that ``autograder grade`` prints. Where rows come from: :mod:`.rows`."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.model.points import total


@dataclass(frozen=True, slots=True)  # a large class has many
class Row:
    """One line of the table: what became of one student's submission.

    ``points``: notebook to points, None while one of its exercises waits; ``so_far``: of what is decided there.
    """

    student: str
    points: dict[str, float | None]
    max_points: dict[str, float]
    failed: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""
    skipped: bool = False
    kept_manual: int = 0
    missing: tuple[str, ...] = ()  # notebooks that were not handed in
    again: str = ""  # why it was graded again
    judged: bool = False  # again, by what an earlier run produced
    rewritten: bool = False  # graded before, but the gradebook did not hold it
    so_far: dict[str, float] = field(default_factory=dict)
    late: str = ""  # what being late costs, where it does
    ungradable: tuple[str, ...] = ()  # notebooks that nobody could judge, and no person has yet
    disputed: tuple[str, ...] = ()  # tests that pass in the student's kernel alone, in words

    @property
    def total(self) -> float:
        """Of the exercises that are decided."""
        return total(self.so_far.values())

    @property
    def most(self) -> float:
        return total(self.max_points.values())

    @property
    def is_graded(self) -> bool:
        """Whether any of its notebooks could be judged."""
        return bool(self.points) and not self.failure and len(self.ungradable) < len(self.points)
