"""Who marked what, and when: a line for each answer in ``.autograder/marks/ASSIGNMENT.jsonl``.

A line is written just before the gradebook is, so that there is no mark without one. A process that is killed in
between leaves a line without a mark: undoing compares with the gradebook first, and so does whoever reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.errors import GradingError
from autograder.files.atomic import writing
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
        data = text.translate(_ENDS).encode("utf-8", "replace")
        if not data:
            return
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            place = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o660)  # a group of people marks
            try:
                size = os.fstat(place).st_size
                torn = size and os.pread(place, 1, size - 1) != b"\n"
                with os.fdopen(place, "ab", closefd=False) as file:
                    file.write((b"\n" if torn else b"") + data)
            finally:
                os.close(place)


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
