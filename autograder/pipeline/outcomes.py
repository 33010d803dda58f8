"""What comes out of the stage RUN: how every cell ended. Nothing of it is a verdict.

Answer files were written by a process that ran student code, and are read here in the trusted one. Nothing in them is
believed: size, header, number of arrays, shapes and the nesting of texts are bounded before anything is parsed. The
judge's memory for one file stays below a few megabytes, whatever the file holds.

``autograder release`` runs the solutions and notes their cells' times in ``.autograder/``: they are this machine's own.
Time limits are made of them; where nothing is noted, every cell has the same limit.
"""

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from nbformat import NotebookNode
from safetensors.numpy import load

from autograder.exercise.model import Case
from autograder.exercise.values import MAX_TEXT_BYTES, READY_MADE, TEXT, read_text
from autograder.files.atomic import write_file
from autograder.model.limits import CellLimits
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


#: Any answer file may be this large; one whose inputs and expected answers are larger may be in proportion.
MIN_FILE_BYTES = 256 << 10
TIMES_EXPECTED = 4
#: The header names every array with its shape. The largest of our own has 4 kB.
MAX_HEADER_BYTES = 32 << 10
MAX_ARRAYS = 200
MAX_AXES = 12
_NAME_OF_A_PART = re.compile(r"[A-Za-z0-9_.]{1,200}")


class UnreadableAnswers(ValueError):
    """There is a file, but its content is not read; the message says why, in words for the student."""


def most_bytes(case: Case) -> int:
    arrays = (*case.inputs.values(), *case.weights.values(), *case.expected.values())
    return max(MIN_FILE_BYTES, TIMES_EXPECTED * 8 * sum(array.size for array in arrays))


def read_answers(answers: AnswerFiles, name: str, case: Case) -> dict[str, np.ndarray] | None:
    """Those of one case, ``<cell>/<slug>/<case>.safetensors``, as :func:`read_file` gives them."""
    if isinstance(answers, Path):
        return read_file(answers / name, case)
    return _parsed(answers[name], len(answers[name]), case) if name in answers else None


def read_file(path: Path, case: Case) -> dict[str, np.ndarray] | None:
    """The arrays of one answer file; None where there is no plain file. Raises UnreadableAnswers."""
    most = most_bytes(case)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        data = stream.read(most + 1) if size <= most else b""
    return _parsed(data, size, case)


def ready_made_in(arrays: dict[str, np.ndarray]) -> list[str]:
    """Takes the names of ready-made parts that ran out of the answers; what is none is left out."""
    names = read_text(arrays.pop(READY_MADE, None))
    names = names if isinstance(names, list) else []
    return [name for name in names if isinstance(name, str) and _NAME_OF_A_PART.fullmatch(name)][:MAX_ARRAYS]


def _parsed(data: bytes, size: int, case: Case) -> dict[str, np.ndarray]:
    most = most_bytes(case)
    if size > most or len(data) > most:
        raise UnreadableAnswers(f"What your code handed over has {max(size, len(data)):,} bytes; at most {most:,} fit.")
    return parse(data)


def parse(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file of bounded size. Raises UnreadableAnswers, and nothing else."""
    _look_at_header(data)
    try:
        arrays = dict(load(data))
    except Exception as error:  # whatever the parser makes of hostile bytes, it is a wrong answer
        raise UnreadableAnswers("What your code handed over could not be read.") from error
    for name, array in arrays.items():
        if name.startswith(TEXT) and array.nbytes > MAX_TEXT_BYTES:
            raise UnreadableAnswers(f"A text of {array.nbytes:,} bytes came; at most {MAX_TEXT_BYTES:,} are read.")
    return arrays


def _look_at_header(data: bytes) -> None:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(MAX_HEADER_BYTES, len(data) - 8):
        raise UnreadableAnswers("What your code handed over could not be read, or holds too many answers.")
    header = _json(data[8 : 8 + length])
    if not isinstance(header, dict):
        raise UnreadableAnswers("What your code handed over could not be read.")
    if len(header) > MAX_ARRAYS:
        raise UnreadableAnswers(f"{len(header)} answers came for one case; at most {MAX_ARRAYS} are read.")
    for about in header.values():
        shape = about.get("shape", []) if isinstance(about, dict) else []
        if not isinstance(shape, list) or len(shape) > MAX_AXES:
            raise UnreadableAnswers(f"An answer came that has no shape, or more than {MAX_AXES} axes.")
        # an empty array of shape (0, 10**12) costs nothing until somebody sums over its first axis
        sizes = [max(size, 1) if isinstance(size, int) else len(data) + 1 for size in shape]
        if math.prod(sizes) > len(data):
            raise UnreadableAnswers("An answer came whose shape makes no sense.")


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


#: A cell may take so many times as long as the solution, but never less than the first of ``STEPS``.
MULTIPLE = 20.0
#: Limits in seconds. There are few of them, so that measuring again does not change what a grade depends on.
STEPS = (10.0, 20.0, 30.0, 45.0, 60.0)

#: notebook -> cell id -> seconds
Seconds = Mapping[str, Mapping[str, float]]


def pace_path(root: Path, assignment: str) -> Path:
    return root / ".autograder" / "seconds" / f"{assignment}.json"


def record_pace(root: Path, assignment: str, seconds: Seconds) -> None:
    """Note what the solution's cells took, in place of what was noted before."""
    rounded = {name: {cell: round(taken, 2) for cell, taken in found.items()} for name, found in seconds.items()}
    write_file(pace_path(root, assignment), (json.dumps(rounded, indent=1) + "\n").encode())


def seconds_of(ran: ExecutedNotebook) -> dict[str, float]:
    """cell id -> what its slower part took."""
    return {
        ran.notebook.cells[one.index].id: max(part.seconds for part in (one.visible, one.hidden) if part)
        for one in ran.outcomes
    }


def limits_of(root: Path, assignment: str, longest: float) -> dict[str, CellLimits]:
    """notebook -> its cells' limits, none above ``longest``; empty where no solution was timed, or nobody can tell."""
    try:
        noted = json.loads(pace_path(root, assignment).read_text(encoding="utf-8"))
        return {name: {cell: _limit(taken, longest) for cell, taken in found.items()} for name, found in noted.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _limit(taken: float, longest: float) -> float:
    return min(longest, next((step for step in STEPS if step >= MULTIPLE * taken), longest))
