"""The answer of a run of ``autograder grade`` that has nothing to do, kept for as long as nothing has changed.

To find out that every grade still stands, a run reads the course, the submissions and the gradebook, and imports what
judges them: a second or two, most of it imports. It therefore notes what it has read (:mod:`.trace`) and what it found.
Where all of that looks the same, the next run shows the same table at once. Anything else, down to a variable of the
environment, and the run looks for itself; so it does with ``--force``, with a gradebook that is no file, where
nbgrader's exchange is, and for a large class, in which to look is most of the time.

This module imports little, so that it can be asked before all the rest is imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.classroom.row import Row
from autograder.classroom.trace import Stamp, Trace, is_as_it_was
from autograder.errors import GradingError
from autograder.files.atomic import names_of, write_file

if TYPE_CHECKING:
    from autograder.model.course import Course

FOLDER = "unchanged"
#: In a larger class nothing is kept: what was read would take memory that grows with it.
MAX_STUDENTS = 300
_SETTLED = 0.06  # seconds after which what this process has written does not look fresh any more
_CONFIGS = "nbgrader_config", "jupyter_config"
#: What shells and terminals change from one command to the next, and nothing here depends on.
_PASSING = {"_", "OLDPWD", "PWD", "SHLVL", "COLUMNS", "LINES", "AUTOGRADER_WARM"}


class LastAnswer:
    """What the last run in this folder found that was asked the same question.

    folder: the course's own, or else nothing is found. question: all that was asked. remarks: what is said before the
    table; standing: what is said behind it (:mod:`.standing`).
    """

    def __init__(self, folder: Path, assignment: str, question: Sequence[object]) -> None:
        self._folder, self._assignment = Path(os.path.abspath(folder)), assignment
        self._question = _digest(self._folder, question)  # now: a run sets variables and paths of its own
        self._trace: Trace | None = None
        self.remarks: list[str] = []
        self.standing: list[str] = []

    def rows(self) -> list[Row] | None:
        """The rows that a run would show, where nothing has changed; None where it must look for itself."""
        try:
            kept = json.loads(_path(self._folder, self._assignment).read_text(encoding="utf-8"))
            if kept["question"] != self._question:
                return None
            stamps: dict[str, Stamp] = kept["stamps"]
            rows = [Row.from_json(row) for row in kept["rows"]]
            self.remarks, self.standing = list(kept["remarks"]), list(kept["standing"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return rows if all(is_as_it_was(path, before) for path, before in stamps.items()) else None

    def watch(self) -> None:
        """Begin to note what this process reads, before it reads anything that the answer depends on."""
        self._trace = Trace.begin()

    def expect(self, students: int) -> None:
        """Told how large the class is, before any submission is read."""
        if students > MAX_STUDENTS:
            self.close()

    def keep(self, course: Course, rows: list[Row], look_again: Callable[[], list[Row]]) -> None:
        """Keep what a run has found, where it is certain what that depends on.

        look_again: makes the rows anew, as a run does that has nothing to do; none where it would have.
        """
        from autograder.classroom.standing import standing_remarks

        trace = self._trace
        if trace is None or any(row.failure for row in rows) or course.root != self._folder or not _is_on_disk(course):
            return
        if not all(row.skipped and not row.rewritten for row in rows):
            time.sleep(_SETTLED)
            folders = [course.autograded(row.student, self._assignment) for row in rows]
            written = [folder.with_name(name) for folder in folders for name in names_of(folder)]
            trace.forget([course.root / ".autograder", *_gradebook(course), *written])
            rows = look_again()
        standing = standing_remarks(course, self._assignment)
        for path in _asked_for(course):
            trace.look(path)
        if not rows or trace.fresh:
            return
        kept = {
            "question": self._question,
            "remarks": self.remarks,
            "standing": standing,
            "rows": [asdict(row) for row in rows],
            "stamps": trace.lasting(course.root),
        }
        with suppress(GradingError, ValueError):  # a full disk, a name that is no text: the next run looks for itself
            write_file(_path(course.root, self._assignment), json.dumps(kept).encode())

    def close(self) -> None:
        """End what :meth:`watch` began."""
        if self._trace is not None:
            self._trace.end()
            self._trace = None


def _digest(folder: Path, question: Sequence[object]) -> str:
    """Of all that is no file: what is asked, where, by whom, with which Python and which environment."""
    surroundings = sorted((name, value) for name, value in os.environ.items() if name not in _PASSING)
    user = os.getuid() if hasattr(os, "getuid") else 0
    asked = [list(question), str(folder), os.getcwd(), user, sys.version, sys.executable, sys.path, surroundings]
    return hashlib.sha256(json.dumps(asked, default=str).encode()).hexdigest()


def _path(root: Path, assignment: str) -> Path:
    return root / ".autograder" / FOLDER / f"{assignment}.json"


def _is_on_disk(course: Course) -> bool:
    """Whether all that a run depends on are files whose changes can be seen."""
    from autograder.gradebook.late.times import exchange_of

    books, (_, exchanges) = _gradebook(course), exchange_of(course)
    return bool(books) and not books[0].with_name(f"{books[0].name}-wal").exists() and not exchanges


def _gradebook(course: Course) -> list[Path]:
    """Its file; none where it is a server's, or in memory."""
    from sqlalchemy.engine import make_url

    url = make_url(course.db_url)
    is_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return [Path(str(url.database))] if is_file else []


def _asked_for(course: Course) -> list[Path]:
    """What is not there, as a rule, and changes everything where it is: settings, in all their places; an exchange."""
    from jupyter_core.paths import jupyter_config_path

    from autograder.gradebook.late.times import exchange_of

    folders = [course.root, *course.root.parents, Path.cwd(), *Path.cwd().parents, *map(Path, jupyter_config_path())]
    configs = [folder / f"{name}{ending}" for folder in folders for name in _CONFIGS for ending in (".py", ".json")]
    return [course.root, *configs, *(folder / "course.toml" for folder in folders), exchange_of(course)[0]]
