"""Who is reading which answers now, so that no two people mark the same one. A claim expires by itself."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from autograder.errors import GradingError
from autograder.files.atomic import write_file, writing

#: So long an answer that somebody has opened is theirs; every look at it and every mark begins anew.
MINUTES = 5
_LOCK_SECONDS = 10

Claimed = dict[str, tuple[str, float]]  # row of the gradebook -> grader, end


class Claims:
    """Kept in a file beside the gradebook: people who mark may each have a server of their own."""

    def __init__(self, root: Path, assignment: str) -> None:
        self._path = root / ".autograder" / "marks" / assignment / "claims.json"

    def take(self, grader: str, rows: Iterable[str]) -> dict[str, str]:
        """Claim what is free, and let go of what the grader had before.

        Returns the rows that are somebody else's, each with the other grader.
        """
        wanted = set(rows)
        with self._changing() as claimed:
            others = {row: one[0] for row, one in claimed.items() if row in wanted and one[0] != grader}
            for row in [row for row, one in claimed.items() if one[0] == grader]:
                del claimed[row]
            claimed |= dict.fromkeys(wanted - others.keys(), (grader, time.time() + 60 * MINUTES))
        return others

    def others(self, grader: str) -> Mapping[str, str]:
        """The rows that other people have claimed, each with its grader."""
        return {row: one[0] for row, one in _current(self._path).items() if one[0] != grader}

    @contextmanager
    def _changing(self) -> Iterator[Claimed]:
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._path.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o660)
        try:
            with lock:
                claimed = _current(self._path)
                yield claimed
                write_file(self._path, json.dumps(claimed).encode())
        except Timeout as error:
            raise GradingError(f"{self._path} is locked by another process for {_LOCK_SECONDS} s") from error


def _current(path: Path) -> Claimed:
    """Without those that have expired; nothing where nothing can be read: the gradebook refuses a second mark."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return {str(row): (str(one), float(end)) for row, (one, end) in read.items() if end > time.time()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
