"""Who marked what, and when: a line for each answer in ``.autograder/marks/ASSIGNMENT.jsonl``.

A line is written just before the gradebook is, so that there is no mark without one. A process that is killed in
between leaves a line without a mark: undoing compares with the gradebook first, and so does whoever reads.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.errors import GradingError
from autograder.feedback.words import in_points
from autograder.files.atomic import append, writing
from autograder.gradebook.marks import MarkChange, MarkState
from autograder.gradebook.read import Key
from autograder.marking.answers import ClassAnswer

#: What ends a line for Python, and not for JSON.
_ENDS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\x85\u2028\u2029"}
#: Of a line of the mark scheme: its text without points, its points, what the student reads.
GivenLine = tuple[str, float, str]


@dataclass(frozen=True)
class LoggedMark:
    """``click``: what the marks of one click have in common. ``digest``: of the answer that was shown.

    ``second``: the mark of a second person, which is here alone; ``change.before`` is then that of the first.
    ``lines``: of the mark scheme, as they were.
    """

    click: str
    at: str
    grader: str
    student: str
    exercise: str
    digest: str
    change: MarkChange
    second: bool = False
    lines: tuple[GivenLine, ...] = ()

    def is_about(self, answer: ClassAnswer) -> bool:
        """Whether this is the mark that the answer has now."""
        state, after = answer.state, self.change.after
        return not self.second and not state.waits and state.score == after.score and self.digest == answer.digest


@dataclass
class LoggedMarks:
    """What was not undone, the oldest first; by row of the gradebook the ``last``, the ``seconds``, and who marked."""

    marks: list[LoggedMark] = field(default_factory=list)
    last: dict[str, LoggedMark] = field(default_factory=dict)
    seconds: dict[str, LoggedMark] = field(default_factory=dict)
    graders: dict[str, set[str]] = field(default_factory=dict)

    def of(self, answer: ClassAnswer) -> LoggedMark | None:
        """The line of the mark that the answer has; None where it was given elsewhere."""
        found = self.last.get(answer.row)
        return found if found and found.is_about(answer) else None

    def last_click(self, grader: str) -> list[LoggedMark]:
        click = next((one.click for one in reversed(self.marks) if one.grader == grader), "")
        return [one for one in self.marks if one.click == click]


class MarkLog:
    """The file of one assignment; it is read again when it has changed."""

    def __init__(self, root: Path, assignment: str) -> None:
        self._path = root / ".autograder" / "marks" / f"{assignment}.jsonl"
        self._known: tuple[object, LoggedMarks] = None, LoggedMarks()

    def read(self) -> LoggedMarks:
        """Raises GradingError where the file is there and cannot be read. A line that was cut off is left out."""
        try:
            there = self._path.stat()
            stamp = there.st_ino, there.st_mtime_ns, there.st_size
            if self._known[0] != stamp:
                text = self._path.read_text(encoding="utf-8", errors="replace")
                self._known = stamp, _read(text.splitlines())
        except FileNotFoundError:
            return LoggedMarks()
        except OSError as error:
            raise GradingError(f"{self._path} cannot be read: {error.strerror}") from error
        return self._known[1]

    @contextmanager
    def noting(self, marks: Sequence[LoggedMark]) -> Iterator[None]:
        """Write lines, and take them back where what follows fails."""
        self._append(asdict(one) for one in marks)
        try:
            yield
        except BaseException:
            self.take_back(marks, "")
            raise

    def take_back(self, marks: Iterable[LoggedMark], grader: str) -> None:
        """Note that marks were undone, and by whom; "" for one that could not be stored."""
        rows = [(one.click, one.change.row, one.student) for one in marks]
        self._append(
            {"undone": click, "row": row, "student": student, "at": now(), "grader": grader}
            for click, row, student in rows
        )

    def _append(self, lines: Iterable[dict[str, Any]]) -> None:
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        if text:
            with writing(self._path):
                append(self._path, text.translate(_ENDS).encode("utf-8", "replace"))


def logged(
    key: Key,
    answers: Iterable[ClassAnswer],
    changes: Iterable[MarkChange],
    grader: str,
    click: str,
    lines: Callable[[str], tuple[GivenLine, ...]],
    second: bool = False,
) -> list[LoggedMark]:
    """The lines of one click. answers: among which those are that the changes are about. lines: those of a comment."""
    at, about = now(), {one.row: one for one in answers}
    return [
        LoggedMark(
            click, at, grader, about[one.row].student, "/".join(key), about[one.row].digest, one, second,
            lines(one.after.comment or ""),
        )
        for one in changes
    ]  # fmt: skip


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _read(lines: Iterable[str]) -> LoggedMarks:
    marks: dict[tuple[str, str], LoggedMark] = {}
    for line in lines:
        try:
            read = json.loads(line)
            if "undone" in read:
                marks.pop((read["undone"], read["row"]), None)
                continue
            change = read.pop("change")
            states = (MarkState(**change.pop(name)) for name in ("before", "after"))
            given = tuple((str(name), float(points), str(text)) for name, points, text in read.pop("lines", ()))
            one = LoggedMark(**read, lines=given, change=MarkChange(change["row"], change["comment_row"], *states))
            marks[one.click, one.change.row] = one
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    found = LoggedMarks([*marks.values()])
    for one in found.marks:
        (found.seconds if one.second else found.last)[one.change.row] = one
        found.graders.setdefault(one.change.row, set()).add(one.grader)
    return found


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
