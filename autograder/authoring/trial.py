"""Trying sample answers: the real cells, run in a forked process, judged by the real judge.

Only the cells that the changed ones can influence are run. What isolation, time limits and whole notebooks add is
tested where submissions are graded.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any

import numpy as np
from nbformat import NotebookNode
from safetensors.numpy import load_file

from autograder.assignment.assignment import Assignment
from autograder.authoring.forks import Part, WarmServer, Workplace
from autograder.authoring.slices import affected, graded_cells, needed
from autograder.authoring.texts import solutions
from autograder.files.temporary import TemporaryFolder
from autograder.model import cells
from autograder.model.course_file import read_course_file
from autograder.model.library import library_folder
from autograder.model.verdict import CellVerdict
from autograder.pipeline.judge import judge
from autograder.pipeline.outcomes import CellOutcome, ExecutedNotebook, PartOutcome, TestOutcome, answers_folder
from autograder.plain.where import is_plain
from autograder.references.stored_files import Files, lay_out

MAX_SECONDS = 120.0


@dataclass(frozen=True)
class Tried:
    """What became of one answer: the verdicts on every autograded cell that it can influence.

    visible: grade id -> what the visible part said against the answer, empty where it passed.
    ticked: grade ids whose visible part printed a ✓.
    """

    verdicts: Mapping[str, CellVerdict]
    visible: Mapping[str, str]
    ticked: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Step:
    """A part with its place: the index of its cell, and whether it is the hidden part of that cell.

    plain: the whole of a cell with plain tests; an author's own answers are tried in one process with them.
    """

    index: int
    hidden: bool
    part: Part
    plain: bool = False


class Trials:
    """Tries answers to one assignment; several threads may do so at once. A context manager.

    server: a warm process that others use, too; default: one of its own.
    """

    def __init__(self, assignment: Assignment, server: WarmServer | None = None, seconds: float = MAX_SECONDS) -> None:
        self.assignment, self._seconds = assignment, seconds
        self.solutions = solutions(assignment)
        self._until_done = ExitStack()
        self._server = server or self._until_done.enter_context(warm_server(assignment))
        folder = self._until_done.enter_context(TemporaryFolder("trial-"))
        self._folder, self._numbers = Path(folder), count()
        self._free: deque[Workplace] = deque()
        self._inputs: dict[str, Files] = {}  # those that are laid out
        self._laying_out = Lock()
        self._lay_out_files()

    def __enter__(self) -> Trials:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for place in self._free:
            place.close()
        self._until_done.close()

    def _lay_out_files(self) -> None:
        """Write what lies beside the notebooks, with the instructor's own deliverables."""
        files = self._folder / "files"
        files.mkdir()
        solved = {name: self.solutions[name].encode() for name in self.assignment.deliverables}
        for name, data in {**self.assignment.files, **self.assignment.solutions, **solved}.items():
            (files / name).parent.mkdir(parents=True, exist_ok=True)
            (files / name).write_bytes(data)

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
        earlier: dict[str, CellVerdict] = {}  # a later notebook is not charged for what an earlier one was
        visible: dict[str, str] = {}
        ticked: frozenset[str] = frozenset()
        for name, graded in self.affected(texts).items():
            chosen = [grade_id for grade_id in graded if not wanted or grade_id in wanted]
            if chosen:
                tried = self._notebook(name, texts, chosen, earlier)
                verdicts |= tried.verdicts
                visible |= tried.visible
                ticked |= tried.ticked
        return Tried(verdicts, visible, ticked)

    def handed_over(self, texts: Mapping[str, str], slug: str, inputs: Path) -> dict[int, dict[str, np.ndarray]]:
        """What these texts hand over for an exercise whose inputs lie in ``inputs``: number of case -> arrays."""
        found: dict[int, dict[str, np.ndarray]] = {}
        for name, graded in self.asking(slug).items():
            with self._executed(name, texts, graded, {slug: inputs}) as (ran, *_):
                assert isinstance(ran.answers, Path)  # it ran just now
                for path in ran.answers.glob(f"*/{slug}/*.safetensors"):
                    found[int(path.stem)] = load_file(path)
        return found

    def asking(self, slug: str) -> dict[str, list[str]]:
        """Notebook -> the graded cells (grade ids) that ask for the stored inputs of an exercise."""
        found = {
            name: [str(cells.grade_id(cell)) for cell in notebook.cells if slug in cells.references_of(cell.source)]
            for name, notebook in self.assignment.source.items()
        }
        return {name: graded for name, graded in found.items() if graded}

    def sources(self, slug: str) -> list[str]:
        """The cells that a try of an exercise's solution runs, as text."""
        found = []
        for name, graded in self.asking(slug).items():
            notebook = self._filled(self.assignment.source[name].cells, {})
            targets = [index for index, cell in enumerate(notebook.cells) if cells.grade_id(cell) in graded]
            kept = set().union(*(needed(notebook, index) for index in targets))
            found += [notebook.cells[index].source for index in sorted(kept)]
        return found

    def _notebook(
        self, name: str, texts: Mapping[str, str], graded: list[str], earlier: dict[str, CellVerdict]
    ) -> Tried:
        with self._executed(name, texts, graded) as (ran, outcomes, printed):
            verdict = judge(
                ran, self.assignment.references, student="sample", assignment=self.assignment.name, notebook=name,
                earlier=earlier,
            )  # fmt: skip
        said = {
            str(cells.grade_id(ran.notebook.cells[index])): _message(outcome.visible)
            for index, outcome in outcomes.items()
            if cells.is_autograded(ran.notebook.cells[index])
        }
        ticked = frozenset(str(cells.grade_id(ran.notebook.cells[index])) for index in printed)
        return Tried({cell.cell: cell for cell in verdict.cells}, said, ticked)

    @contextmanager
    def _executed(
        self, name: str, texts: Mapping[str, str], graded: list[str], own_inputs: Mapping[str, Path] | None = None
    ) -> Iterator[tuple[ExecutedNotebook, dict[int, CellOutcome], set[int]]]:
        """These graded cells of a notebook and what they need, run; their answers are there within the block.

        The last thing are the indices of the cells whose visible part printed a ✓.

        own_inputs: slug -> the folder of its inputs, in place of the stored one.
        """
        source = self.assignment.source[name]
        targets = [index for index, cell in enumerate(source.cells) if cells.grade_id(cell) in graded]
        # an answer may use names that the instructor's solution does not
        both = (source, self._filled(source.cells, texts))
        kept = sorted(set().union(*(needed(notebook, index) for notebook in both for index in targets)))
        notebook = self._filled([source.cells[index] for index in kept], texts)
        with self._workplace() as place, tempfile.TemporaryDirectory(prefix="answers-", dir=place.folder) as folder:
            steps = self._steps(notebook, Path(folder), place.inputs, own_inputs or {})
            files = {file: texts[file] for file in self.assignment.deliverables & set(texts)}
            unchanged = 0 if files else _unchanged(notebook, steps, texts)
            ended = place.run([step.part for step in steps], unchanged, files, self._seconds)
            outcomes = _outcomes(steps, ended)
            visible = [(step.index, part) for step, part in zip(steps, ended, strict=False) if not step.hidden]
            printed = {index for index, part in visible if part["ticked"]}
            yield ExecutedNotebook(notebook, list(outcomes.values()), Path(folder)), outcomes, printed

    def _filled(self, chosen: list[NotebookNode], texts: Mapping[str, str]) -> NotebookNode:
        """A notebook of these cells with these texts, and the instructor's solutions without markers elsewhere."""
        return NotebookNode(cells=[self._filled_cell(cell, texts) for cell in chosen])

    def _filled_cell(self, cell: NotebookNode, texts: Mapping[str, str]) -> NotebookNode:
        grade_id = str(cells.grade_id(cell))
        if not cells.is_solution(cell) or grade_id not in self.solutions:
            return cell
        return NotebookNode({**cell, "source": texts.get(grade_id, self.solutions[grade_id])})

    def _steps(
        self, notebook: NotebookNode, answers: Path, inputs: Path, own_inputs: Mapping[str, Path]
    ) -> list[_Step]:
        """The parts to run, in order; the inputs that they ask for are laid out."""
        steps: list[_Step] = []
        for index, cell in enumerate(notebook.cells):
            if not cells.is_autograded(cell) or is_plain(cell):
                steps.append(_Step(index, False, Part(cell.source), is_plain(cell)))
                continue
            both = cells.split_hidden(cell.source)
            steps.append(_Step(index, False, Part(both.visible)))
            steps.append(_Step(index, True, Part(both.hidden, str(answers_folder(answers, index)))))
            for slug in cells.references_of(cell.source):
                target = own_inputs.get(slug) or self._stored_inputs(slug)
                if not (inputs / slug).exists() or (inputs / slug).readlink() != target:
                    (inputs / slug).parent.mkdir(parents=True, exist_ok=True)
                    (inputs / slug).unlink(missing_ok=True)
                    (inputs / slug).symlink_to(target)
        return steps

    def _stored_inputs(self, slug: str) -> Path:
        """A folder with the stored inputs of an exercise, as they are now."""
        files = self.assignment.references.inputs(slug)
        with self._laying_out:
            if self._inputs.get(slug) != files:
                self._inputs[slug] = files
                lay_out(files, self._folder / "inputs" / slug)
        return self._folder / "inputs" / slug

    @contextmanager
    def _workplace(self) -> Iterator[Workplace]:
        """One that no other thread uses meanwhile: the one used last, which may have run the unchanged cells."""
        try:
            place = self._free.pop()
        except IndexError:
            place = Workplace(self._server, self._folder / str(next(self._numbers)), self._folder / "files")
        try:
            yield place
        finally:
            self._free.append(place)


def warm_server(assignment: Assignment) -> WarmServer:
    """A server for the trials of this assignment."""
    root = assignment.references.folder.parent
    file = read_course_file(root)
    return WarmServer(file.warm, library_folder(root, file))


def _unchanged(notebook: NotebookNode, steps: list[_Step], texts: Mapping[str, str]) -> int:
    """How many of the first steps come before any text of the answer, and before every graded cell."""
    for number, step in enumerate(steps):
        cell = notebook.cells[step.index]
        if cells.grade_id(cell) in texts or cells.is_autograded(cell):
            return number
    return len(steps)


def _outcomes(steps: list[_Step], ended: list[dict[str, Any]]) -> dict[int, CellOutcome]:
    """Per cell how its parts ended. Where the process died, every part counts as crashed."""
    found: dict[int, dict[bool, PartOutcome]] = {}
    tests: dict[int, TestOutcome] = {}
    for number, step in enumerate(steps):
        died = {"status": "crashed", "ename": "Died", "evalue": "the process ended"}
        said: dict[str, Any] = dict(ended[number] if ended else died)
        result, _ = said.pop("result", None), said.pop("ticked", False)
        outcome = PartOutcome(**said)
        found.setdefault(step.index, {})[step.hidden] = outcome
        if step.plain:
            inside = TestOutcome("kernel", outcome, result)
            tests[step.index] = TestOutcome("kernel", outcome, result, message=outcome.evalue, inside=inside)
    return {index: CellOutcome(index, both[False], both.get(True), tests.get(index)) for index, both in found.items()}


def _message(part: PartOutcome) -> str:
    return "" if part.status == "ok" else f"{part.ename}: {part.evalue}"
