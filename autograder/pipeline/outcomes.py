"""What comes out of the stage RUN: how every cell ended. Nothing of it is a verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nbformat import NotebookNode


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
    """How a plain test cell ended, in the tester (``outside``) or in the student's kernel (``kernel``).

    result: the number that is the value of its last expression, None where that is none.
    statement: the instructor's statement that stopped, empty where nobody knows or a student must not see it.
    message: what the instructor says in that statement. asserted: an assertion failed.
    own: whether the exception came out of the student's code; own_lines: that code's traceback, as it said.
    came: what calls of the student's code gave to that statement, as text.
    hidden: whether it happened in a hidden part.
    changed: names of the instructor's that the cell reads, for which the student's kernel has another value.
    refused: whether the tester refused something, so that the end says nothing of what the cell compares.
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
    changed: tuple[str, ...] = ()
    refused: bool = False


@dataclass(frozen=True)
class CellOutcome:
    """A code cell's two parts. ``index`` counts the notebook's cells from 0; ``hidden`` is None where there is none.

    test: of a plain test cell; ``visible`` then tells how the whole cell ended.
    """

    index: int
    visible: PartOutcome
    hidden: PartOutcome | None
    test: TestOutcome | None = None


@dataclass
class ExecutedNotebook:
    """An executed notebook. ``answers`` holds ``<cell>/<slug>/<case>.safetensors``, out of every student's reach."""

    notebook: NotebookNode
    outcomes: list[CellOutcome]
    answers: Path
    seconds: float = 0.0
    log: list[str] = field(default_factory=list)


def answers_folder(answers: Path, index: int) -> Path:
    """Where one cell's answers are kept: two cells that ask for one reference never get each other's."""
    return answers / str(index)
