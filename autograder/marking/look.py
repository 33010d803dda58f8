"""A second look at an exercise: its marks by points, what is uneven among them, and some answers of each group."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from autograder.feedback.words import in_points
from autograder.marking.answers import ClassAnswer
from autograder.marking.groups import AnswerGroup, form
from autograder.marking.twice import MarkPair

#: So many answers of each group are drawn.
DRAWN = 3
Shown = dict[str, str]


@dataclass
class SecondLook:
    """``points``: points to their number and some answers with them. ``uneven``: answers that are equal, with other
    points each. ``undecided``: answers to which two people gave other points."""

    points: dict[str, tuple[int, list[Shown]]] = field(default_factory=dict)
    uneven: list[list[Shown]] = field(default_factory=list)
    undecided: list[Shown] = field(default_factory=list)


def second_look(
    groups: Sequence[AnswerGroup], pairs: Iterable[MarkPair], shown: Callable[[ClassAnswer, AnswerGroup], Shown]
) -> SecondLook:
    """shown: what a page says of an answer in its group."""
    look = SecondLook()
    found: dict[float, list[tuple[AnswerGroup, list[ClassAnswer]]]] = {}
    to_decide = {one.row: one for one in pairs if one.open}
    for group in groups:
        by_points: dict[float, list[ClassAnswer]] = {}
        for answer in group.answers:
            score = answer.state.score if answer.state.score is not None else answer.auto_score
            if not answer.waits and score is not None:
                by_points.setdefault(score, []).append(answer)
        for score, same in by_points.items():
            found.setdefault(score, []).append((group, same))
        look.uneven += _uneven(group, by_points, shown)
        look.undecided += [
            {**shown(one, group), "state": to_decide[one.row].said, "comment": ""}
            for one in group.answers
            if one.row in to_decide
        ]
    for score in sorted(found, reverse=True):
        drawn = [
            shown(one, group) for group, same in found[score] for one in random.sample(same, min(DRAWN, len(same)))
        ]
        count = sum(len(same) for _, same in found[score])
        look.points[in_points(score)] = count, drawn
    return look


def _uneven(
    group: AnswerGroup, by_points: dict[float, list[ClassAnswer]], shown: Callable[[ClassAnswer, AnswerGroup], Shown]
) -> list[list[Shown]]:
    """For each text with several marks one answer of each mark."""
    texts: dict[str, list[ClassAnswer]] = {}
    for same in by_points.values():
        for name, answer in {form(one): one for one in same}.items():
            texts.setdefault(name, []).append(answer)
    return [[shown(one, group) for one in several] for several in texts.values() if len(several) > 1]
