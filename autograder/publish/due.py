"""Which assignments are due for publication: the dates in ``course.toml``, and the moment that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from autograder.errors import GradingError, NothingToGrade
from autograder.model.course import Course, unknown_assignment


@dataclass(frozen=True)
class Due:
    """``chosen``: to be published; empty for all of them, where the course names no dates. ``later``: assignment ->
    when it is due; ``undated``: without a date, in a course that has some.
    """

    chosen: tuple[str, ...]
    later: tuple[tuple[str, datetime], ...] = ()
    undated: tuple[str, ...] = ()


def due(course: Course, named: Sequence[str], until: datetime | None = None) -> Due:
    """What may be published until that moment (default: now).

    Raises GradingError where an assignment is named that is not due yet, or a date is of no assignment; NothingToGrade
    where nothing is due.
    """
    dates, known = course.file.dates, course.assignments()
    for name in [*dates, *named]:
        if name not in known:
            where = "course.toml, [dates]: " if name in dates else ""
            raise GradingError(f"{where}{unknown_assignment(course, name)}")
    if until is not None and not dates:
        raise GradingError(
            "--until goes with dates: expected a table [dates] in course.toml, such as distilbert = 2027-01-15"
        )
    moment = until or datetime.now(UTC)
    later = tuple(sorted((name, date) for name, date in dates.items() if date > moment))
    early = [f"{name} ({date:%Y-%m-%d %H:%M %Z})" for name, date in later if name in named]
    if early:
        raise GradingError(f"not due yet: {', '.join(early)}; publish it before with --until, or change course.toml")
    if named or not dates:
        return Due(tuple(named), later)
    chosen = tuple(name for name in known if name in dates and dates[name] <= moment)
    if not chosen:
        name, first = min(later, key=lambda one: one[1])
        raise NothingToGrade(f"nothing is due yet: the first is {name}, on {first:%Y-%m-%d %H:%M %Z}")
    return Due(chosen, later, tuple(name for name in known if name not in dates))
