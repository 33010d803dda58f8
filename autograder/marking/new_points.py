"""Marks that were given by lines of the mark scheme which have other points by now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.gradebook.marks import paragraphs
from autograder.marking.answers import ClassAnswer
from autograder.marking.exercises import MarkedExercise
from autograder.marking.log import GivenLine, LoggedMarks


@dataclass(frozen=True)
class NewPoints:
    """What an answer's mark is by the mark scheme as it is now."""

    answer: ClassAnswer
    points: float
    comment: str


def given_lines(exercise: MarkedExercise, comment: str) -> tuple[GivenLine, ...]:
    """The lines of the mark scheme that a comment has."""
    given = paragraphs(comment)
    return tuple((line.name, line.points, line.comment) for line in exercise.lines if line.comment in given)


def new_points(exercise: MarkedExercise, answers: Iterable[ClassAnswer], log: LoggedMarks) -> list[NewPoints]:
    """The answers whose mark would change. A line is known again by its text, whatever its points are."""
    now = {line.name: line for line in exercise.lines}
    found = []
    for answer in answers:
        mark = None if answer.second else log.of(answer)
        score = answer.state.score
        changed = [one for one in mark.lines if one[0] in now and now[one[0]].points != one[1]] if mark else []
        if not changed or score is None:
            continue
        score = min(max(score + sum(now[name].points - before for name, before, _ in changed), 0), exercise.max_points)
        texts = {text: now[name].comment for name, _, text in changed}
        comment = _with(answer.state.comment or "", texts)
        if (score, comment) != (answer.state.score, answer.state.comment):
            found.append(NewPoints(answer, score, comment))
    return found


def _with(comment: str, texts: dict[str, str]) -> str:
    parts: Sequence[str] = paragraphs(comment)
    return "\n\n".join(texts.get(part, part) for part in parts) if any(part in texts for part in parts) else comment
