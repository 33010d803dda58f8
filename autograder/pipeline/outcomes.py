"""What comes out of the stage RUN: how every cell ended. Nothing of it is a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nbformat import NotebookNode

from autograder.remote.snapshots import Snapshot

#: A folder of answer files, or their contents by their paths in it.
AnswerFiles = Path | Mapping[str, bytes]


@dataclass(frozen=True)
class PartOutcome:
    """How one part of a cell ended. ``skipped``: the submission's time was up before.

    raised: file and line of code that raised the exception, see :func:`~autograder.tester.failure.line_that_raised`.
    """

    status: Literal["ok", "error", "crashed", "timeout", "skipped"]
    ename: str = ""
    evalue: str = ""
    seconds: float = 0.0
    raised: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class TestOutcome:
    """How a plain test cell ended, in the tester (``outside``) or in a kernel of the student's (``kernel``).

    result: the number that is the value of its last expression, None where that is none.
    statement: the instructor's statement that stopped, empty where nobody knows or a student must not see it.
    message: what the instructor says in that statement. asserted: an assertion failed.
    own: whether the exception came out of the student's code; own_lines: that code's traceback, as it said.
    came: what calls of the student's code gave to that statement, as text.
    hidden: whether it happened in a hidden part.
    refused: what the tester refused, in words; empty for nothing.
    places: where the student's code answered, where nothing was expected (:mod:`autograder.remote.places`).
    visits, marks: what came at each place, and how often each check was gone through.
    takes_others: while the solution runs, the places at which the test holds for other values, too.
    seen: whether the cell's visible part holds in the student's own kernel; None where nobody tried.
    inside: how the cell ended in the second kernel; None where it was not reached there. Of a cell that is judged
    there alone, all else tells how its visible part ended in the first one.
    """

    judged: Literal["outside", "kernel"]
    ended: PartOutcome
    result: float | None = None
    statement: str = ""
    message: str = ""
    asserted: bool = False
    own: bool = False
    own_lines: str = ""
    came: tuple[str, ...] = ()
    hidden: bool = False
    refused: str = ""
    places: Mapping[str, Sequence[str]] = field(default_factory=dict)
    visits: Mapping[str, Sequence[Snapshot]] = field(default_factory=dict)
    marks: Mapping[str, int] = field(default_factory=dict)
    takes_others: Sequence[str] = ()
    seen: bool | None = None
    inside: "TestOutcome | None" = None


@dataclass(frozen=True)
class CellOutcome:
    """A code cell's two parts. ``index`` counts the notebook's cells from 0; ``hidden`` is None where there is none.

    test: of a plain test cell; ``visible`` then tells how the whole cell ended.
    """

    index: int
    visible: PartOutcome
    hidden: PartOutcome | None
    test: TestOutcome | None = None


def slowest_of(outcomes: Sequence[CellOutcome]) -> float:
    """Seconds of the slowest part of a cell."""
    return max((part.seconds for part in _parts(outcomes)), default=0.0)


def was_cut(outcomes: Sequence[CellOutcome]) -> bool:
    """Whether a limit ended a part of a cell."""
    return any(part.status in ("timeout", "crashed", "skipped") for part in _parts(outcomes))


def _parts(outcomes: Sequence[CellOutcome]) -> list[PartOutcome]:
    return [part for one in outcomes for part in (one.visible, one.hidden) if part]


@dataclass
class ExecutedNotebook:
    """An executed notebook. ``answers`` holds ``<cell>/<slug>/<case>.safetensors``, out of every student's reach.

    read: the notebooks beside it that were read while it ran, as file names.
    """

    notebook: NotebookNode
    outcomes: list[CellOutcome]
    answers: AnswerFiles
    seconds: float = 0.0
    log: list[str] = field(default_factory=list)
    read: frozenset[str] = frozenset()


def answers_folder(answers: Path, index: int) -> Path:
    """Where one cell's answers are kept: two cells that ask for one reference never get each other's."""
    return answers / str(index)


def answer_name(index: int, slug: str, number: int) -> str:
    """The path of the answers to one case among all of a notebook's."""
    return f"{index}/{slug}/{number}.safetensors"
