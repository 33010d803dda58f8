"""What has been graded already, so that a killed run goes on where it stopped.

One line of JSON per submission, appended and synced after its grades are in the gradebook. A line torn by
a crash is ignored: that submission is graded again, with the same result.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from autograder.assignment import Assignment, Course, Submission


class Journal:
    """The saved submissions of one assignment: student -> digest of everything that the grade depends on."""

    def __init__(self, root: Path, assignment: str) -> None:
        self.path = root / ".autograder" / f"{assignment}.jsonl"
        self._saved = dict(self._read())

    def _read(self) -> Iterable[tuple[str, str]]:
        if not self.path.is_file():
            return
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                entry = json.loads(line)
                yield entry["student"], entry["digest"]
            except (ValueError, KeyError, TypeError):
                continue

    def is_saved(self, student: str, digest: str) -> bool:
        return self._saved.get(student) == digest

    def saved(self, student: str, digest: str) -> None:
        """Note that a submission's grades are in the gradebook. On disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"student": student, "digest": digest}, ensure_ascii=False) + "\n"
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if _torn(descriptor):
                line = "\n" + line
            os.write(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._saved[student] = digest


def _torn(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


def assignment_digest(course: Course, assignment: Assignment) -> str:
    """Changes whenever the trusted side changes: notebooks, files, references."""
    digest = hashlib.sha256()
    for folder in (
        course.source(assignment.name),
        course.release(assignment.name),
        assignment.references.folder / assignment.name,
    ):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(
                    str(path.relative_to(folder)).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest()
                )
    return digest.hexdigest()


def submission_digest(assignment: str, submission: Submission) -> str:
    """Of an :func:`assignment_digest` and everything that a student handed in."""
    digest = hashlib.sha256(assignment.encode())
    for name, data in sorted({**submission.notebooks, **submission.files}.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
    return digest.hexdigest()
