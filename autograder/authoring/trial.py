"""Trying sample answers: the real cells, run in a forked process, judged by the real judge.

Only the cells that the changed ones can influence are run. What isolation, time limits and whole notebooks add is
tested where submissions are graded.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.authoring.slices import affected, graded_cells, needed
from autograder.authoring.texts import solutions
from autograder.model import cells
from autograder.model.assignment import Assignment
from autograder.model.course_file import read_course_file
from autograder.model.verdict import CellVerdict
from autograder.pipeline.execute import CellOutcome, ExecutedNotebook, PartOutcome, answers_folder
from autograder.pipeline.judge import judge

MAX_SECONDS = 120.0


@dataclass(frozen=True)
class Tried:
    """What became of one answer: the verdicts on every autograded cell that it can influence.

    visible: grade id -> what the visible part said against the answer, empty where it passed.
    """

    verdicts: Mapping[str, CellVerdict]
    visible: Mapping[str, str]


class Trials:
    """Tries answers to one assignment; several threads may do so at once. A context manager."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.solutions = solutions(assignment)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", "-m", "autograder.authoring.server", str(theirs.fileno())]
        environment = {**os.environ, "MPLBACKEND": "agg", "TOKENIZERS_PARALLELISM": "false"}
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=environment)
        theirs.close()
        self._channel, self._lock = ours, threading.Lock()
        modules = read_course_file(assignment.references.folder.parent).warm
        self._channel.send(json.dumps(modules).encode())

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._channel.close()
        self._process.wait()

    def affected(self, texts: Mapping[str, str]) -> dict[str, list[str]]:
        """Notebook -> the autograded cells (grade ids) that these texts of solution cells and files can influence.

        A file can influence every cell.
        """
        found = {}
        for name, notebook in self.assignment.source.items():
            if self.assignment.deliverables & set(texts):
                places = graded_cells(notebook)
            else:
                places = sorted({*affected(notebook, texts), *affected(self._filled(notebook.cells, texts), texts)})
            if places:
                found[name] = [str(cells.grade_id(notebook.cells[index])) for index in places]
        return found

    def run(self, texts: Mapping[str, str], only: Iterable[str] = ()) -> Tried:
        """Try these texts (grade id or file name -> text) in place of the instructor's solutions.

        only: grade ids of the autograded cells to judge; default: all that the texts can influence.
        """
        wanted = set(only)
        verdicts: dict[str, CellVerdict] = {}
        visible: dict[str, str] = {}
        for name, graded in self.affected(texts).items():
            chosen = [grade_id for grade_id in graded if not wanted or grade_id in wanted]
            if chosen:
                tried = self._notebook(name, texts, chosen)
                verdicts |= tried.verdicts
                visible |= tried.visible
        return Tried(verdicts, visible)

    def _notebook(self, name: str, texts: Mapping[str, str], graded: list[str]) -> Tried:
        source = self.assignment.source[name]
        targets = [index for index, cell in enumerate(source.cells) if cells.grade_id(cell) in graded]
        # an answer may use names that the instructor's solution does not
        both = (source, self._filled(source.cells, texts))
        kept = sorted(set().union(*(needed(notebook, index) for notebook in both for index in targets)))
        notebook = self._filled([source.cells[index] for index in kept], texts)
        with tempfile.TemporaryDirectory(prefix="autograder-trial-") as folder:
            parts = self._lay_out(Path(folder), notebook, texts)
            ended = self._fork(Path(folder))
            outcomes = _outcomes(parts, ended)
            ran = ExecutedNotebook(notebook, list(outcomes.values()), Path(folder, "answers"))
            verdict = judge(
                ran, self.assignment.references, student="sample", assignment=self.assignment.name, notebook=name
            )
        said = {
            str(cells.grade_id(notebook.cells[index])): _message(outcome.visible)
            for index, outcome in outcomes.items()
            if cells.is_autograded(notebook.cells[index])
        }
        return Tried({cell.cell: cell for cell in verdict.cells}, said)

    def _filled(self, chosen: list[NotebookNode], texts: Mapping[str, str]) -> NotebookNode:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.from_dict(cell) for cell in chosen])
        for cell in notebook.cells:
            grade_id = str(cells.grade_id(cell))
            if cells.is_solution(cell) and grade_id in self.solutions:
                cell.source = texts.get(grade_id, self.solutions[grade_id])
        return notebook

    def _lay_out(
        self, folder: Path, notebook: NotebookNode, texts: Mapping[str, str]
    ) -> list[tuple[int, bool, dict[str, str]]]:
        """Write the working folder and the task. -> (index of the cell, hidden or not, part) for every part."""
        work, inputs = folder / "work", folder / "inputs"
        for path, data in {**self.assignment.files, **self.assignment.solutions}.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_bytes(data)
        for file in self.assignment.deliverables:
            (work / file).write_text(texts.get(file, self.solutions[file]), encoding="utf-8")
        work.mkdir(exist_ok=True)
        parts: list[tuple[int, bool, dict[str, str]]] = []
        for index, cell in enumerate(notebook.cells):
            if not cells.is_autograded(cell):
                parts.append((index, False, {"source": cell.source, "answers": ""}))
                continue
            both = cells.split_hidden(cell.source)
            parts.append((index, False, {"source": both.visible, "answers": ""}))
            answers = str(answers_folder(folder / "answers", index))
            parts.append((index, True, {"source": both.hidden, "answers": answers}))
            for slug in cells.references_of(cell.source):
                (inputs / slug).parent.mkdir(parents=True, exist_ok=True)
                if not (inputs / slug).exists():
                    (inputs / slug).symlink_to(self.assignment.references.inputs(slug))
        task = {"folder": str(work), "inputs": str(inputs), "seconds": MAX_SECONDS, "parts": [one for *_, one in parts]}
        (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
        return parts

    def _fork(self, folder: Path) -> list[dict[str, Any]]:
        reading, writing = os.pipe()
        with self._lock:
            socket.send_fds(self._channel, [str(folder / "task.json").encode()], [writing])
        os.close(writing)
        try:
            said, in_time = _read(reading, MAX_SECONDS)
        finally:
            os.close(reading)
        pid, _, result = said.partition(b"\n")
        if not in_time and pid.isdigit():
            os.killpg(int(pid), signal.SIGKILL)
        if not result:
            return []
        ended: list[dict[str, Any]] = json.loads(result)
        return ended


def _read(descriptor: int, seconds: float) -> tuple[bytes, bool]:
    """Everything up to the end, and whether it came in time."""
    deadline, said = time.monotonic() + seconds, b""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([descriptor], [], [], left)[0]:
            data = os.read(descriptor, 1 << 16)
            if not data:
                return said, True
            said += data
    return said, False


def _outcomes(parts: list[tuple[int, bool, dict[str, str]]], ended: list[dict[str, Any]]) -> dict[int, CellOutcome]:
    """Per cell how its parts ended. Where the process died, every part counts as crashed."""
    found: dict[int, dict[bool, PartOutcome]] = {}
    for number, (index, hidden, _) in enumerate(parts):
        part = PartOutcome(**ended[number]) if ended else PartOutcome("crashed", "Died", "the process ended")
        found.setdefault(index, {})[hidden] = part
    return {index: CellOutcome(index, both[False], both.get(True)) for index, both in found.items()}


def _message(part: PartOutcome) -> str:
    return "" if part.status == "ok" else f"{part.ename}: {part.evalue}"
