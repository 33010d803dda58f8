"""Reading ``late_policy.toml`` in the course's folder. A typo is an error: it would cost a student points.

Extensions are personal. They may lie in ``extensions.toml``, a table for each assignment, which stays out of git.
"""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from autograder.errors import GradingError
from autograder.gradebook.late.policy import Afterwards, LatePolicy, Rules, instant
from autograder.gradebook.records import read_by_student, record_path, write_by_student
from autograder.model.plain_text import meant, one_form, read_toml

NAME = "late_policy.toml"
EXTENSIONS = "extensions.toml"
#: Said once for all assignments, or anew in one of them.
COMMON = ("grace_minutes", "per_day", "after_hard_deadline")
TOP = ("timezone", "free_days", *COMMON, "assignments")
OWN = ("deadline", "hard_deadline", *COMMON, "extensions")


def read_policy(
    root: Path, assignments: Collection[str] | None = None, students: Collection[str] | None = None
) -> LatePolicy | None:
    """The course's late policy; None where it has no ``late_policy.toml``.

    assignments, students: those that exist, where this is known; the files may name no other.
    Raises GradingError, in one line, where a file cannot be read or says something that is not known, where
    ``extensions.toml`` extends a deadline that there is not, and where both files extend it for one student.
    """
    data, private = _toml(root, NAME), _toml(root, EXTENSIONS) or {}
    if data is None:
        if any(private.values()):
            raise GradingError(f"{EXTENSIONS} extends deadlines of {NAME}, which is not there: write it, or move both")
        return None
    return _Reader(assignments, students, private).policy(data)


def is_there(root: Path) -> bool:
    """Whether :func:`read_policy` finds anything to read. Raises GradingError where that is not TOML."""
    both = [_toml(root, name) for name in (NAME, EXTENSIONS)]  # a run with nothing to do goes by what was opened
    return any(one is not None for one in both)


def read_zone(root: Path) -> tzinfo | None:
    """The course's time zone, which its late policy names; None where it names none."""
    data = _toml(root, NAME)
    return None if data is None else _zone(data.get("timezone"))


def _toml(root: Path, name: str) -> dict[str, Any] | None:
    """None where there is no such file."""
    try:
        return read_toml(root / name)
    except FileNotFoundError:
        return None
    except tomllib.TOMLDecodeError as error:
        raise GradingError(f"{name} is not TOML: {error}") from error


@dataclass(frozen=True)
class _Reader:
    assignments: Collection[str] | None
    students: Collection[str] | None
    private: Mapping[str, Any]  # what extensions.toml says

    def policy(self, data: Mapping[str, Any]) -> LatePolicy:
        _keys(data, TOP, "the top of the file")
        zone = _zone(data.get("timezone"))
        free = data.get("free_days", 0)
        if type(free) is not int or free < 0:
            raise GradingError(f"{NAME}: free_days: expected a whole number of days, 0 or more, got {free!r}")
        tables = _table(data.get("assignments", {}), "assignments")
        _known(tables, self.assignments, "assignment", "the folder source/")
        _known(self.private, self.assignments, "assignment", "the folder source/", EXTENSIONS)
        for name, extended in self.private.items():
            if _table(extended, name, EXTENSIONS) and name not in tables:
                raise GradingError(f"{EXTENSIONS}: [{name}]: {NAME} has no deadline for {name!r} to extend")
        common = {key: data[key] for key in COMMON if key in data}
        for name in COMMON:
            _rule(name, common, NAME)
        return LatePolicy({name: self._rules(name, table, common, zone) for name, table in tables.items()}, free)

    def _rules(self, name: str, table: object, common: Mapping[str, Any], zone: tzinfo | None) -> Rules:
        where = f"{NAME}: [assignments.{name}]"
        own = _table(table, f"assignments.{name}")
        _keys(own, OWN, f"[assignments.{name}]")
        if "deadline" not in own:
            raise GradingError(f"{where}: expected a deadline, such as deadline = 2027-01-15T23:59:00+01:00")
        said = {**common, **own}
        deadline = _moment(own["deadline"], zone, f"{where}: deadline")
        hard = _moment(own["hard_deadline"], zone, f"{where}: hard_deadline") if "hard_deadline" in own else None
        if hard is not None and instant(hard) < instant(deadline):
            raise GradingError(f"{where}: hard_deadline must not come before deadline ({hard} < {deadline})")
        share, points = _rule("per_day", said, where)
        return Rules(
            deadline,
            _rule("grace_minutes", said, where),
            share,
            points,
            hard,
            _rule("after_hard_deadline", said, where),
            self._extensions(name, own, deadline, zone),
        )

    def _extensions(
        self, name: str, own: Mapping[str, Any], deadline: datetime, zone: tzinfo | None
    ) -> dict[str, datetime | timedelta]:
        """Those of both files."""
        found: dict[str, datetime | timedelta] = {}
        for file, title, table in (
            (NAME, f"assignments.{name}", own.get("extensions", {})),
            (EXTENSIONS, name, self.private.get(name, {})),
        ):
            table = _table(table, f"{title}.extensions" if file == NAME else title, file)
            given = [(one_form(student), value) for student, value in table.items()]
            known = "submitted/ and the gradebook ('nbgrader db student add ID')"
            _known(dict(given), self.students, "student", known, file)
            for student, value in given:
                if student in found:
                    raise GradingError(f"{file}: [{title}]: {student} has two extensions, here or in {NAME}: keep one")
                found[student] = _extension(value, deadline, zone, f"{file}: [{title}]: extension of {student}")
        return found


def _rule(name: str, said: Mapping[str, Any], where: str) -> Any:
    if name == "grace_minutes":
        return _grace(said.get(name, 0), where)
    if name == "per_day":
        return _per_day(said.get(name, 0), where)
    return _afterwards(said.get(name, "zero"), where)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def _grace(value: object, where: str) -> timedelta:
    if not _number(value):
        raise GradingError(f"{where}: grace_minutes: expected a number of minutes, 0 or more, got {value!r}")
    return timedelta(minutes=cast(float, value))


def _per_day(value: object, where: str) -> tuple[float, float]:
    """(part of the earned points, points)."""
    if _number(value):
        return 0.0, float(cast(float, value))
    try:
        percent = float(value.strip().removesuffix("%")) if isinstance(value, str) and "%" in value else -1.0
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise GradingError(f'{where}: per_day: expected points, 0 or more, or a text such as "10%", got {value!r}')
    return percent / 100, 0.0


def _afterwards(value: object, where: str) -> Afterwards:
    if value not in ("zero", "refused"):
        raise GradingError(f'{where}: after_hard_deadline: expected "zero" or "refused", got {value!r}')
    return cast(Afterwards, value)


def _extension(value: object, deadline: datetime, zone: tzinfo | None, where: str) -> datetime | timedelta:
    if _number(value):
        return timedelta(days=cast(float, value))
    until = _moment(value, zone, where, "a time or a number of days, 0 or more")
    if instant(until) < instant(deadline):
        raise GradingError(f"{where}: must not end before the deadline ({until} < {deadline})")
    return until


def _moment(value: object, zone: tzinfo | None, where: str, expected: str = "a date and time") -> datetime:
    if not isinstance(value, datetime):
        raise GradingError(f"{where}: expected {expected}, such as 2027-01-15T23:59:00, got {str(value)!r}")
    if value.tzinfo is not None:
        return value.astimezone(zone) if zone else value  # its days end by the course's clocks
    if zone is None:
        raise GradingError(
            f'{where}: {value.isoformat()} has no time zone: add one (+01:00), or timezone = "Europe/Berlin" on top'
        )
    return value.replace(tzinfo=zone)


def _zone(name: object) -> tzinfo | None:
    if name is None:
        return None
    try:
        return ZoneInfo(cast(str, name))
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise GradingError(f'{NAME}: timezone: expected a name such as "Europe/Berlin", got {name!r}') from None


def _table(value: object, name: str, file: str = NAME) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise GradingError(f"{file}: expected [{name}] to be a table, got {value!r}")
    return value


def _keys(table: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in allowed:
            raise GradingError(f"{NAME}: unknown key {key!r} in {where}{_near(key, allowed)}")


def _known(names: Mapping[str, Any], known: Collection[str] | None, what: str, source: str, file: str = NAME) -> None:
    for name in names:
        if known is not None and name not in known:
            raise GradingError(f"{file}: unknown {what} {name!r}{_near(name, known)}; known are those in {source}")


def _near(name: str, known: Collection[str]) -> str:
    near = meant(name, known)
    return near and f"; {near}"


# Which of the gradebook's late penalties ``late_policy.toml`` put there, so that they can be taken back.
# nbgrader's own penalties stand in the same place. Whoever deletes the policy wants ours gone and nbgrader's kept.

_TOLERANCE = 1e-9  # points: a sum of the same numbers in another order


def read_written(root: Path, assignment: str) -> dict[str, float]:
    """Student to the points that we took off last; empty where we took none, or the record is damaged."""
    try:
        return read_by_student(record_path(root, "penalties", assignment), float, "")
    except GradingError:
        return {}


def record_written(root: Path, assignment: str, points: Mapping[str, float]) -> None:
    """Replace the record; nothing stays of an empty one."""
    path = record_path(root, "penalties", assignment)
    taken = {student: lost for student, lost in points.items() if lost}
    if not taken:
        path.unlink(missing_ok=True)
        return
    write_by_student(path, taken)


def is_ours(penalty: float, written: float | None) -> bool:
    """Whether a student's penalty in the gradebook is the one that we wrote there."""
    return written is not None and abs(penalty - written) <= _TOLERANCE
