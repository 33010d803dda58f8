"""What travels between the stages: the judge's words about one submission, and their JSON form.

A verdict is made in the trusted process alone. ``verdicts.json`` beside an autograded notebook
holds one :class:`NotebookVerdict` per notebook; ``docs/verdicts.md`` describes the format.

Digests tell a changed answer from an unchanged one.
"""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from nbformat import NotebookNode

from autograder.exercise.model import Check
from autograder.model import cells
from autograder.model import plain_text as plain

Status = Literal[
    "passed", "partial", "failed", "crashed", "timeout", "missing", "manual", "ungradable", "infrastructure"
]

#: What a person decides: an answer to be read, or a file that nobody could judge.
FOR_A_PERSON = ("manual", "ungradable")

#: Bumped when a field changes its meaning or goes away.
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class CellVerdict:
    """One graded cell. ``points`` is None where a human, or a second attempt, must decide.

    ``judged``: by stored answers (``reference``), by plain tests where none of the student's code runs (``outside``),
    by plain tests in a kernel of the student's alone (``kernel``), or by a human (``manual``).
    offered: the points of a plain test that wait for a person's word. refused: why they wait, or what was refused where
    none of the student's code runs; in words for the instructor.
    ready_made: the ready-made parts that ran, as the student's own process says.
    """

    cell: str
    status: Status
    points: float | None
    max_points: float
    checks: tuple[Check, ...] = ()
    seconds: float = 0.0
    judged: Literal["reference", "outside", "kernel", "manual"] = "reference"
    offered: float | None = None
    refused: str = ""
    ready_made: tuple[str, ...] = ()


@dataclass(frozen=True)
class NotebookVerdict:
    """One notebook of one submission. ``notes`` says what the rebuild put right."""

    student: str
    assignment: str
    notebook: str
    cells: tuple[CellVerdict, ...]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def points(self) -> float:
        return total(cell.points or 0.0 for cell in self.cells)

    @property
    def max_points(self) -> float:
        return total(cell.max_points for cell in self.cells)

    @property
    def status(self) -> Status:
        """``infrastructure`` where the grader itself failed: such a notebook has no grade yet.

        ``manual`` where a person decides.
        """
        if any(cell.status == "infrastructure" for cell in self.cells):
            return "infrastructure"
        if any(cell.status in FOR_A_PERSON for cell in self.cells):
            return "manual"
        full = self.points >= self.max_points - 1e-9
        return "passed" if full else "partial" if self.points else "failed"


@dataclass(frozen=True)
class SubmissionVerdict:
    """Everything about one student's submission to one assignment."""

    student: str
    assignment: str
    notebooks: tuple[NotebookVerdict, ...] = field(default_factory=tuple)

    @property
    def points(self) -> float:
        return total(notebook.points for notebook in self.notebooks)

    @property
    def max_points(self) -> float:
        return total(notebook.max_points for notebook in self.notebooks)


def presentable(verdict: NotebookVerdict) -> NotebookVerdict:
    """The verdict with every word that a submission had a hand in made fit to be saved and shown."""
    cells = tuple(
        replace(
            cell,
            refused=plain.paragraph(cell.refused),
            checks=tuple(
                replace(check, message=plain.paragraph(check.message), hint=plain.paragraph(check.hint))
                for check in cell.checks
            ),
        )
        for cell in verdict.cells
    )
    return replace(verdict, cells=cells, notes=plain.few(verdict.notes))


def to_json(verdict: SubmissionVerdict) -> str:
    return json.dumps({"schema": SCHEMA_VERSION, **asdict(verdict)}, indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> SubmissionVerdict:
    """Inverse of :func:`to_json`. Raises ValueError where the text is of another schema."""
    data: dict[str, Any] = json.loads(text)
    if data.pop("schema", None) != SCHEMA_VERSION:
        raise ValueError(f"verdicts.json: expected schema {SCHEMA_VERSION}; grade the submission again with --force")
    notebooks = tuple(
        NotebookVerdict(
            **{
                **notebook,
                "notes": tuple(notebook["notes"]),
                "cells": tuple(map(_cell, notebook["cells"])),
            }
        )
        for notebook in data.pop("notebooks")
    )
    return SubmissionVerdict(**data, notebooks=notebooks)


def _cell(data: dict[str, Any]) -> CellVerdict:
    """What an earlier version wrote beside it (``inside``) is left out."""
    known = {name: value for name, value in data.items() if name in CellVerdict.__dataclass_fields__}
    checks, ran = tuple(Check(**check) for check in data["checks"]), tuple(data.get("ready_made", ()))
    return CellVerdict(**{**known, "checks": checks, "ready_made": ran})


def read(path: Path) -> SubmissionVerdict:
    return from_json(path.read_text(encoding="utf-8"))


_DIGITS = 9


def total(points: Iterable[float]) -> float:
    """The sum, without what binary fractions add to it."""
    return round(math.fsum(points), _DIGITS)


def same(first: float, second: float) -> bool:
    return round(first - second, _DIGITS) == 0


@dataclass(frozen=True)
class Graded:
    """A verdict, and the notebooks with the verdict written into them, ready to be saved.

    ``answers``: per notebook what the student answered, as digests; None where nobody could read it.
    ``slowest`` is what the slowest part of a cell took, in seconds; ``cut`` is true where a limit ended one.
    ``ran``: the notebooks that were run for this verdict; the others were judged by an earlier run.
    ``hurried``: whether a test that measures time did not hold, which may be the machine's fault.
    """

    verdict: SubmissionVerdict
    notebooks: Mapping[str, NotebookNode]
    log: tuple[str, ...]
    slowest: float = 0.0
    cut: bool = False
    answers: "Mapping[str, Digests] | None" = None
    ran: tuple[str, ...] = ()
    hurried: bool = False


#: Grade id to digest.
Digests = Mapping[str, str]


def answer_digests(notebook: NotebookNode, files: Mapping[str, bytes], waiting: Collection[str] = ()) -> dict[str, str]:
    """A digest for every answer and every graded cell of a rebuilt notebook.

    A written answer is its own text, with the pictures in it. What a person sees of code depends on the code that ran
    before it and on the student's ``files``, so both are part of it; the answer to a task is everything that the
    student added, and so is an answer that stands outside of its cell (``waiting``: the grade ids of these).
    """
    ran = hashlib.sha256()
    for file, data in sorted(files.items()):
        ran.update(file.encode("utf-8", "replace") + b"\0" + hashlib.sha256(data).digest())
    found: dict[str, str] = {}
    for cell in notebook.cells:
        name = cells.grade_id(cell)
        text = cell.source.strip().encode("utf-8", "replace")
        if cell.get("attachments"):
            text += b"\0" + json.dumps(cell.attachments, sort_keys=True).encode()
        added = not name and cell.get("id", "").startswith("extra-")
        if cell.cell_type == "code" and (added or cells.is_solution(cell)):
            ran.update(hashlib.sha256(text).digest())
        elif added:
            ran.update(b"text" + hashlib.sha256(text).digest())
        if name and cells.is_graded(cell) and cell.cell_type == "code":
            found[name] = ran.hexdigest()
        elif name and cells.is_solution(cell):
            found[name] = hashlib.sha256(text).hexdigest()
    tasks = [cells.grade_id(cell) or "" for cell in notebook.cells if cells.is_task(cell)]
    return found | dict.fromkeys((*tasks, *waiting), ran.hexdigest())
