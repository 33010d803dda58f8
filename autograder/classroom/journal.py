"""What has been graded already, and from what, so that a killed run goes on and a change is graded again.

One line of JSON per submission, appended and synced after its grades are in the gradebook. A line torn by a crash is
ignored: that submission is graded again. Other lines say what the trusted side was (it is the same for many
submissions) and where a run with ``--force`` began and ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from autograder.classroom.fingerprint import Parts, digest
from autograder.errors import GradingError


@dataclass(frozen=True)
class Entry:
    """How a submission came to its grade.

    ``trusted`` and ``submission`` are the parts it was made from. ``seconds`` is what grading took, ``slowest`` what
    its slowest cell took, ``cut`` is true where a limit ended a cell; ``limits`` tells the limits of then from others.
    """

    trusted: Parts
    submission: Parts
    seconds: float = 0.0
    slowest: float = 0.0
    cut: bool = False
    limits: str = ""


class Journal:
    """The submissions to one assignment that have been graded: what their grades were made from."""

    def __init__(self, root: Path, assignment: str) -> None:
        self.path = root / ".autograder" / f"{assignment}.jsonl"
        self._states: dict[str, Parts] = {}
        self._entries: dict[str, Entry] = {}
        self._last: dict[str, Entry] = {}
        self._older: set[str] = set()
        self._forced: list[str] | None = None  # whom an unfinished run with --force was for; [] is everybody
        self._done: set[str] = set()  # in that run
        for line in self._lines():
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue

    def _lines(self) -> Iterable[str]:
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise GradingError(f"{self.path} cannot be read: {error.strerror}") from error

    def _take(self, line: dict[str, object]) -> None:
        if "parts" in line:
            self._states[str(line["trusted"])] = dict(line["parts"])  # type: ignore[call-overload]
        elif "forced" in line:
            self._forced, self._done = line["forced"], set()  # type: ignore[assignment]
        elif "digest" in line:  # as written before parts had names
            self._older.add(str(line["student"]))
        else:
            student = str(line.pop("student"))
            self._entries.pop(student, None)
            self._done.discard(student)
            if "failed" not in line:
                trusted = self._states[str(line.pop("trusted"))]
                self._entries[student] = Entry(trusted, **line)  # type: ignore
                self._last[student] = self._entries[student]
                self._done.add(student)

    def entry(self, student: str) -> Entry | None:
        """What the grade of a student was made from; None where there is no grade, or nobody knows."""
        return self._entries.get(student)

    def last(self, student: str) -> Entry | None:
        """How a student was graded last, whether or not that grade still holds."""
        return self._last.get(student)

    def is_older(self, student: str) -> bool:
        """True where a student was graded by a version of the grader that did not say from what."""
        return student in self._older and student not in self._entries

    def saved(self, student: str, entry: Entry) -> None:
        """Note that a submission's grades are in the gradebook. On disk when this returns."""
        state = digest(entry.trusted)
        if state not in self._states:
            self._append({"trusted": state, "parts": entry.trusted})
            self._states[state] = entry.trusted
        line = {field.name: getattr(entry, field.name) for field in fields(entry)}
        self._append({"student": student, **line, "trusted": state})
        self._entries[student] = self._last[student] = entry
        self._done.add(student)

    def failed(self, student: str, why: str) -> None:
        """Note that a submission has no grade, whatever an earlier line says."""
        self._append({"student": student, "failed": why})
        self._entries.pop(student, None)

    def begin_forced(self, students: Iterable[str]) -> frozenset[str]:
        """Begin to grade everything again, for these students (none: everybody), or go on with such a run.

        Returns those who were graded already in the run that was interrupted.
        """
        chosen = sorted(students)
        if self._forced != chosen:
            self._append({"forced": chosen})
            self._forced, self._done = chosen, set()
        return frozenset(self._done)

    def end_forced(self) -> None:
        """A run has come to its end: the next ``--force`` begins anew."""
        if self._forced is not None:
            self._append({"forced": None})
            self._forced, self._done = None, set()

    def _append(self, line: Mapping[str, object]) -> None:
        text = json.dumps(line) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o660)
        try:
            if _torn(descriptor):
                text = "\n" + text
            data = text.encode()
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _torn(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
