"""What being late costs: the course's rules, and the decision about one submission. Pure: no clock, no gradebook.

The rules stand in ``late_policy.toml`` (:mod:`autograder.gradebook.late.file` reads it); the times come from our own
record alone (:mod:`autograder.gradebook.late.times`). What a student's folder says about its time counts for nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

Afterwards = Literal["zero", "refused"]

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Rules:
    """About one assignment. Times are aware and keep their time zone, so that a day ends at the same hour in summer.

    ``per_day_share`` is a part (0 to 1) of the points that were earned, ``per_day_points`` a number of points; both
    for every started day. ``extensions``: student to a later deadline, or to days more. The hard deadline moves along.
    """

    deadline: datetime
    grace: timedelta = timedelta(0)
    per_day_share: float = 0.0
    per_day_points: float = 0.0
    hard_deadline: datetime | None = None
    afterwards: Afterwards = "zero"
    extensions: Mapping[str, datetime | timedelta] = field(default_factory=dict)

    @property
    def costs(self) -> bool:
        return self.per_day_share > 0 or self.per_day_points > 0

    def deadlines_for(self, student: str) -> tuple[datetime, datetime | None]:
        """The deadline and the hard one, with this student's extension."""
        extension = self.extensions.get(student)
        if extension is None:
            return self.deadline, self.hard_deadline
        if isinstance(extension, timedelta):
            return self.deadline + extension, self.hard_deadline and self.hard_deadline + extension
        hard = self.hard_deadline
        return extension, hard and hard + (_clock(extension, hard) - _clock(self.deadline, hard))


@dataclass(frozen=True)
class LatePolicy:
    """``free_days``: late days without deduction, for each student, over the whole term."""

    assignments: Mapping[str, Rules] = field(default_factory=dict)
    free_days: int = 0

    def in_order(self) -> list[str]:
        """The assignments by deadline: in this order free days are spent."""
        return sorted(self.assignments, key=lambda name: (self.assignments[name].deadline.astimezone(UTC), name))


def last_moment(policy: LatePolicy, assignment: str) -> datetime | None:
    """After it nobody can hand in for points any more, with any extension and every free day. None where there is no
    such moment: no deadline, or being late never costs everything.
    """
    rules = policy.assignments.get(assignment)
    if rules is None:
        return None
    days = policy.free_days + math.ceil(1 / rules.per_day_share) if rules.per_day_share else None
    moments = []
    for student in ("", *rules.extensions):
        deadline, hard = rules.deadlines_for(student)
        if hard is None and days is None:
            return None
        moments.append(instant(deadline + timedelta(days=days or 0) if hard is None else hard) + rules.grace)
    return max(moments)


@dataclass(frozen=True)
class Lateness:
    """What was decided. ``share`` (0 to 1) of the earned points and ``points`` are taken off.

    ``refused``: the submission came too late to be taken at all; it has no score, not a score of 0.
    ``after``: the time past the deadline, 0 where it was on time.
    """

    days: int = 0
    free_days_used: int = 0
    share: float = 0.0
    points: float = 0.0
    refused: bool = False
    reason: str = ""
    after: timedelta = field(default=timedelta(0), compare=False)

    def deduction(self, earned: float) -> float:
        """Points to take off ``earned`` points; never more than were earned, never below 0."""
        return max(0.0, min(earned, earned * self.share + self.points))


def decide(
    policy: LatePolicy, assignment: str, student: str, submitted_at: datetime | None, used_days: int = 0
) -> Lateness:
    """What the policy says about one submission.

    submitted_at: aware; None where no time was recorded, which counts as on time.
    used_days: the free days that the student has spent on earlier assignments.
    Raises ValueError where ``submitted_at`` has no time zone.
    """
    rules = policy.assignments.get(assignment)
    if rules is None:
        return Lateness(reason="no deadline")
    if submitted_at is None:
        return Lateness(reason="no time was recorded: counted as on time")
    if submitted_at.tzinfo is None:
        raise ValueError(f"expected a time with a time zone, got {submitted_at}")
    deadline, hard = rules.deadlines_for(student)
    extended = " (with an extension)" if student in rules.extensions else ""
    moment = submitted_at.astimezone(UTC) - rules.grace
    days = started_days(moment, deadline)
    after = submitted_at.astimezone(UTC) - instant(deadline)
    if hard is not None and moment > instant(hard):
        return _too_late(rules, days, extended, after)
    if not days:
        return Lateness(reason=f"on time{extended}")
    free = min(days, max(0, policy.free_days - used_days)) if rules.costs else 0
    charged = days - free
    share, points = min(1.0, charged * rules.per_day_share), charged * rules.per_day_points
    return Lateness(days, free, share, points, reason=_why(rules, days, free) + extended, after=after)


def started_days(moment: datetime, deadline: datetime) -> int:
    """How many days after the deadline have begun. A day ends at the deadline's own hour, in summer as in winter."""
    days = max(0, (moment - instant(deadline)) // DAY - 1)
    while instant(deadline + days * DAY) < moment:
        days += 1
    return days


def instant(wall: datetime) -> datetime:
    """What a clock on the wall shows, in UTC. In the nights when clocks change that time may come twice, or not at
    all: the later counts, in favour of the student.
    """
    return max(wall.replace(fold=fold).astimezone(UTC) for fold in (0, 1))


def _clock(moment: datetime, other: datetime) -> datetime:
    """What clocks show where ``other`` is told, without a zone: their differences are whole days over every change."""
    return moment.astimezone(other.tzinfo).replace(tzinfo=None)


def _too_late(rules: Rules, days: int, extended: str, after: timedelta) -> Lateness:
    when = f"after the hard deadline{extended}"
    if rules.afterwards == "refused":
        return Lateness(days, refused=True, reason=f"{when}: refused", after=after)
    return Lateness(days, share=1.0, reason=f"{when}: 0 points", after=after)


def _why(rules: Rules, days: int, free: int) -> str:
    late = f"{days} {'day' if days == 1 else 'days'} late"
    if not rules.costs:
        return f"{late}, no deduction"
    cost = f"{100 * rules.per_day_share:g} %" if rules.per_day_share else f"{rules.per_day_points:g} points"
    parts = [f"{free} free"] if free else []
    parts += [f"{days - free} at {cost}"] if days > free else []
    return f"{late}: {', '.join(parts)}"


def decide_term(
    policy: LatePolicy, assignment: str, student: str, times: Mapping[str, Mapping[str, datetime]]
) -> Lateness:
    """:func:`decide`, with the free days counted that went into earlier assignments.

    times: assignment -> student -> moment, aware.
    """
    used = 0
    for earlier in policy.in_order():
        if earlier == assignment:
            break
        used += decide(policy, earlier, student, times.get(earlier, {}).get(student), used).free_days_used
    return decide(policy, assignment, student, times.get(assignment, {}).get(student), used)
