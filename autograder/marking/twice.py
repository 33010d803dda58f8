"""Answers that two people mark without seeing each other's mark: which these are, and how far the two agree."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.feedback.words import in_points
from autograder.gradebook.read import Key
from autograder.marking.answers import ClassAnswer
from autograder.marking.log import LoggedMarks


def waiting_for_second(
    answers: Sequence[ClassAnswer], key: Key, grader: str, log: LoggedMarks, percent: int
) -> set[str]:
    """The rows of those that this person is to give the second mark.

    Which are drawn is the same in every run. A mark that was given elsewhere has no name, and so no second.
    """
    order = sorted((one for one in answers if not one.blank), key=lambda one: _drawn(key, one.student))
    return {
        one.row
        for one in order[: math.ceil(len(order) * percent / 100)]
        if log.of(one) and grader not in log.graders[one.row] and one.row not in log.seconds
    }


def _drawn(key: Key, student: str) -> bytes:
    return hashlib.sha256("/".join((*key, student)).encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True)
class MarkPair:
    """Two people's marks of one answer. ``open``: they differ, and nobody has marked the answer since."""

    first: float
    second: float
    graders: tuple[str, str]
    row: str
    comments: tuple[str, str]
    open: bool

    @property
    def said(self) -> str:
        given = zip(self.graders, (self.first, self.second), strict=True)
        return ", ".join(f"{grader}: {in_points(points)}" for grader, points in given)


def pairs(log: LoggedMarks, key: Key) -> list[MarkPair]:
    """The answers of an exercise that two people have marked."""
    order = {id(one): place for place, one in enumerate(log.marks)}
    found = []
    for row, mark in log.seconds.items():
        before, after, last = mark.change.before, mark.change.after, log.last.get(row)
        if mark.exercise == "/".join(key) and before.score is not None and after.score is not None:
            untouched = last is not None and order[id(last)] < order[id(mark)]
            graders = last.grader if last else "", mark.grader
            comments = before.comment or "", after.comment or ""
            differ = before.score != after.score
            found.append(MarkPair(before.score, after.score, graders, row, comments, untouched and differ))
    return found


@dataclass(frozen=True)
class Agreement:
    """``same``: how many have the same points from both. ``difference``: the mean one, in points. ``kappa``: quadratic
    weighted kappa, 1 where all are the same and 0 where they agree as two do who draw from the points that they gave;
    None where everybody has the same points, which tells nothing."""

    count: int
    same: int
    difference: float
    kappa: float | None


def agreement(given: Sequence[MarkPair]) -> Agreement | None:
    """None where nothing was marked twice."""
    if not given:
        return None
    count, differences = len(given), [one.first - one.second for one in given]
    expected = sum((one.first - other.second) ** 2 for one in given for other in given) / count**2
    observed = sum(difference**2 for difference in differences) / count
    return Agreement(
        count,
        sum(difference == 0 for difference in differences),
        sum(map(abs, differences)) / count,
        1 - observed / expected if expected else None,
    )
