"""Trying sample answers: the real cells, run in a kernel as a student's are, judged by the real judge.

Only the cells that the changed ones can influence are run. What testers, time limits and whole notebooks add is tested
where submissions are graded.
"""

import ast
import textwrap
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from threading import Lock
from types import TracebackType

import numpy as np
from nbformat import NotebookNode
from safetensors.numpy import load_file

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError, InfrastructureError, NoLibrary
from autograder.exercise import SampleAnswer
from autograder.exercise.values import READY_MADE
from autograder.isolation import IsolationUnavailable, available
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.imports import KernelImports, imports_for
from autograder.kernel.kernels import Isolation, Kernels
from autograder.kernel.outputs import Outputs
from autograder.model import cells
from autograder.model.cells import tree_of
from autograder.model.course_file import read_course_file
from autograder.model.limits import Clock, Limits
from autograder.model.questions import asking
from autograder.model.verdict import CellVerdict
from autograder.pipeline.execute import number_shown
from autograder.pipeline.judge import judge
from autograder.pipeline.outcomes import CellOutcome, ExecutedNotebook, PartOutcome, TestOutcome
from autograder.pipeline.student_kernel import HIDDEN_OUTPUT_BYTES, StudentKernel
from autograder.plain.names import names_of, statements_of
from autograder.plain.where import is_plain
from autograder.references.write import Files
from autograder.release.as_submitted import without_markers


def needed(notebook: NotebookNode, index: int) -> set[int]:
    """The code cells, as indices, that the graded cell at ``index`` builds on, that cell among them."""
    wanted = set(names_of(notebook.cells[index].source).read)
    found = {index}
    for number in reversed(range(index)):
        cell = notebook.cells[number]
        if cell.cell_type != "code" or (cells.is_autograded(cell) and not is_plain(cell)):
            continue  # plain tests may bind names for later ones
        bound = _bound(cell.source)
        if "*" in bound or not bound.isdisjoint(wanted):
            wanted |= names_of(cell.source).read
            found.add(number)
    return found


def affected(notebook: NotebookNode, changed: Iterable[str]) -> list[int]:
    """The autograded cells whose result may depend on the solution cells (grade ids) that were changed, in order."""
    places = {index for index, cell in enumerate(notebook.cells) if cells.grade_id(cell) in set(changed)}
    return [index for index in graded_cells(notebook) if places & needed(notebook, index)] if places else []


def graded_cells(notebook: NotebookNode) -> list[int]:
    """The indices of the autograded cells; those whose right answers depend on the student's own code are left out."""
    return [
        index for index, cell in enumerate(notebook.cells)
        if cells.is_autograded(cell) and asking(cell) is None
    ]  # fmt: skip


@lru_cache(maxsize=4096)
def _bound(source: str) -> frozenset[str]:
    """The names that a cell binds, and those of what it changes; ``*`` among them for a star import."""
    bound = set(names_of(source).bound)
    for node in (inner for statement in statements_of(source) for inner in ast.walk(statement)):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            bound.add("*")
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            bound |= {inner.id for inner in ast.walk(node.value) if isinstance(inner, ast.Name)}
    return frozenset(bound)


MAX_SECONDS = 120.0
#: How a part ended before which another took too long.
NOT_REACHED = PartOutcome("skipped", "Skipped", "the time was up")


@dataclass(frozen=True)
class Tried:
    """What became of one answer: the verdicts on every autograded cell that it can influence.

    visible: grade id -> what the visible part said against the answer, empty where it passed.
    ticked: grade ids whose visible part printed a ✓.
    """

    verdicts: Mapping[str, CellVerdict]
    visible: Mapping[str, str]
    ticked: frozenset[str] = frozenset()


class Trials:
    """Tries answers to one assignment; several threads may do so at once. A context manager.

    fork_server: the address of a running one that others use, too; default: one of its own.
    seconds: of a part of a cell; the first that takes longer is the last.
    """

    def __init__(self, assignment: Assignment, fork_server: str | None = None, seconds: float = MAX_SECONDS) -> None:
        self.assignment = assignment
        self.solutions = solutions(assignment)
        self._limits = Limits(cell_seconds=seconds, submission_seconds=seconds)
        self._imports = imports_of_trials(assignment.references.folder.parent)
        self._isolation = _isolation()
        self._until_done = ExitStack()
        if fork_server is None and self._isolation == "auto":
            fork_server = self._until_done.enter_context(closing(KernelForkServer(self._imports))).address
        self._fork_server = fork_server
        self._free: deque[Kernels] = deque()
        self._opening = Lock()
        solved = {name: self.solutions[name].encode() for name in assignment.deliverables}
        self._files = {**assignment.files, **assignment.solutions, **solved}

    def __enter__(self) -> "Trials":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._until_done.close()

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

    def handed_over(
        self, texts: Mapping[str, str], slug: str, inputs: Files
    ) -> tuple[dict[int, dict[str, np.ndarray]], str]:
        """What these texts hand over for an exercise with these inputs: number of case -> arrays.

        And with what they stopped, in a line; empty where they came to their end.
        """
        found: dict[int, dict[str, np.ndarray]] = {}
        stopped = ""
        for name, graded in self.asking(slug).items():
            with self._executed(name, texts, graded, {slug: inputs}) as (ran, _):
                assert isinstance(ran.answers, Path)  # it ran just now
                for path in ran.answers.glob(f"*/{slug}/*.safetensors"):
                    found[int(path.stem)] = load_file(path)
                    found[int(path.stem)].pop(READY_MADE, None)
                stopped = stopped or next(filter(None, map(_stopped, ran.outcomes)), "")
        return found, stopped

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
        with self._executed(name, texts, graded) as (ran, ticked):
            verdict = judge(
                ran, self.assignment.references, student="sample", assignment=self.assignment.name, notebook=name,
                earlier=earlier,
            )  # fmt: skip
        said = {
            str(cells.grade_id(ran.notebook.cells[outcome.index])): ""
            if (part := outcome.visible).status == "ok"
            else f"{part.ename}: {part.evalue}"
            for outcome in ran.outcomes
            if cells.is_autograded(ran.notebook.cells[outcome.index])
        }
        named = frozenset(str(cells.grade_id(ran.notebook.cells[index])) for index in ticked)
        return Tried({cell.cell: cell for cell in verdict.cells}, said, named)

    @contextmanager
    def _executed(
        self, name: str, texts: Mapping[str, str], graded: list[str], own_inputs: Mapping[str, Files] | None = None
    ) -> Iterator[tuple[ExecutedNotebook, set[int]]]:
        """These graded cells of a notebook and what they need, run; their answers are there within the block.

        The last thing are the indices of the cells whose visible part printed a ✓.

        own_inputs: slug -> its files of inputs, in place of the stored ones.
        """
        source = self.assignment.source[name]
        targets = [index for index, cell in enumerate(source.cells) if cells.grade_id(cell) in graded]
        # an answer may use names that the instructor's solution does not
        both = (source, self._filled(source.cells, texts))
        kept = sorted(set().union(*(needed(notebook, index) for notebook in both for index in targets)))
        notebook = self._filled([source.cells[index] for index in kept], texts)
        slugs = {slug for cell in notebook.cells if _has_parts(cell) for slug in cells.references_of(cell.source)}
        own = own_inputs or {}
        inputs = {slug: own.get(slug) or self.assignment.references.inputs(slug) for slug in slugs}
        files = self._files | {file: texts[file].encode() for file in self.assignment.deliverables & set(texts)}
        with self._kernels() as kernels, kernels.answers() as answers:
            clock = Clock(self._limits, {})
            student = StudentKernel(kernels, self._limits, clock, files, inputs, answers, unseen=True, printed=True)
            try:
                run = _Run(student)
                outcomes = [run.cell(index, cell) for index, cell in enumerate(notebook.cells)]
            except InfrastructureError as error:
                raise GradingError(f"answers cannot be tried: {error}") from error
            finally:
                student.close()
            yield ExecutedNotebook(notebook, outcomes, answers), run.ticked

    def _filled(self, chosen: list[NotebookNode], texts: Mapping[str, str]) -> NotebookNode:
        """A notebook of these cells with these texts, and the instructor's solutions without markers elsewhere."""
        return NotebookNode(cells=[self._filled_cell(cell, texts) for cell in chosen])

    def _filled_cell(self, cell: NotebookNode, texts: Mapping[str, str]) -> NotebookNode:
        grade_id = str(cells.grade_id(cell))
        if not cells.is_solution(cell) or grade_id not in self.solutions:
            return cell
        return NotebookNode({**cell, "source": texts.get(grade_id, self.solutions[grade_id])})

    @contextmanager
    def _kernels(self) -> Iterator[Kernels]:
        """Those that no other thread uses meanwhile."""
        try:
            kernels = self._free.pop()
        except IndexError:
            with self._opening:
                kernels = self._until_done.enter_context(
                    Kernels.open(self._isolation, fork_server=self._fork_server, imports=self._imports)
                )
        try:
            yield kernels
        finally:
            self._free.append(kernels)


def imports_of_trials(root: Path) -> KernelImports:
    """What a fork server for the answers to a course's exercises imports."""
    file = read_course_file(root)
    try:
        return imports_for(root, file)
    except NoLibrary:  # references are drawn before there is one
        return KernelImports(warm=file.warm)


def _isolation() -> Isolation:
    """An author's own answers are tried also where nobody's can be confined."""
    try:
        available()
    except IsolationUnavailable:
        return "none"
    return "auto"


def _stopped(outcome: CellOutcome) -> str:
    """With what a cell stopped, and where. Of a graded one the visible check is left out: it may not be made yet."""
    ended = outcome.hidden or outcome.visible
    if ended.status == "ok":
        return ""
    file, line = ended.raised
    inside = "the notebook" if not file or file.removesuffix(".py").isdigit() else file  # cells have numbers as names
    where = f" in {inside}: {line}" if line else ""
    return f"{ended.ename or ended.status}: {ended.evalue}".rstrip(": ") + where


def _has_parts(cell: NotebookNode) -> bool:
    """Whether the cell has a visible and a hidden part; tests that are plain are one."""
    return cells.is_autograded(cell) and not is_plain(cell)


class _Run:
    """One notebook in its kernel. ``ticked``: the cells whose visible part printed a ✓.

    After a cell that took too long, or that ended the process outside of a test, nothing more is run.
    """

    def __init__(self, student: StudentKernel) -> None:
        self._student = student
        self._over: PartOutcome | None = None
        self.ticked: set[int] = set()

    def cell(self, index: int, cell: NotebookNode) -> CellOutcome:
        """Run one code cell. An author's own answers are tried in one process with plain tests."""
        parts, outputs = _has_parts(cell), Outputs(HIDDEN_OUTPUT_BYTES)
        both = cells.split_hidden(cell.source) if parts else cells.Parts(cell.source, "")
        ended = self._ended(partial(self._student.part, index, "", both.visible, outputs, remembered=True))
        if not parts:
            if not is_plain(cell):
                if ended.status == "crashed":
                    self._over = ended  # else the author reads of names that nobody defined
                return CellOutcome(index, ended, None)
            inside = TestOutcome("kernel", ended, number_shown(outputs.finish()))
            return CellOutcome(index, ended, None, replace(inside, message=ended.evalue, inside=inside))
        printed = "".join(output.text for output in outputs.finish() if output.output_type == "stream")
        if any(line.startswith("✓ ") for line in printed.splitlines()):
            self.ticked.add(index)
        slugs = cells.references_of(cell.source)
        return CellOutcome(index, ended, self._ended(partial(self._student.hidden, index, "", both.hidden, slugs)))

    def _ended(self, part: Callable[[], PartOutcome]) -> PartOutcome:
        if self._over is not None:
            return self._over
        ended = part()
        if ended.status == "timeout":
            self._over = NOT_REACHED
        return ended


def solutions(assignment: Assignment) -> dict[str, str]:
    """Every solution of the instructor without markers: grade id of a cell or name of a file -> text."""
    found = {
        str(cells.grade_id(cell)): cell.source
        for notebook in assignment.source.values()
        for cell in notebook.cells
        if cells.is_solution(cell) and cell.cell_type == "code"
    }
    found |= {name: data.decode() for name, data in assignment.solutions.items()}
    return {name: without_markers(text) for name, text in found.items()}


def texts_of(answer: SampleAnswer, solved: Mapping[str, str]) -> dict[str, str]:
    """Grade id or file name -> text, for every place that the answer fills.

    Raises GradingError where the instructor's solution has no such cell, line or method (any more).
    """
    places = [answer.cell, *answer.cells]
    missing = [place for place in places if place not in solved]
    if missing:
        raise GradingError(f"answer {answer.name!r}: there is no solution cell or file {missing[0]!r}")
    text = answer.text or solved[answer.cell]
    for old, new in answer.changes:
        if old not in text:
            raise GradingError(f"answer {answer.name!r}: the solution of {answer.cell} has no {old!r}")
        text = text.replace(old, new)
    try:
        text = with_methods(text, answer.methods)
    except (KeyError, SyntaxError) as error:
        raise GradingError(f"answer {answer.name!r}: {answer.cell}: {error}") from error
    return {answer.cell: text, **answer.cells}


def with_methods(text: str, methods: Mapping[tuple[str, str], str]) -> str:
    """A module with other bodies in some methods: (class, method) -> statements. What comes first in the body stays:
    the docstring, or the call of ``super().__init__()``.

    Raises KeyError where a method is missing, SyntaxError where the result is no Python.
    """
    for (owner, method), body in methods.items():
        function = _method(tree_of(text), owner, method)
        lines = text.split("\n")
        first, last = function.body[1].lineno - 1, function.end_lineno
        lines[first:last] = textwrap.indent(textwrap.dedent(body).strip("\n"), 8 * " ").split("\n")
        text = "\n".join(lines)
    if methods:
        tree_of(text)
    return text


def _method(tree: ast.Module, owner: str, method: str) -> ast.FunctionDef:
    for kind in tree.body:
        if isinstance(kind, ast.ClassDef) and kind.name == owner:
            for node in kind.body:
                if isinstance(node, ast.FunctionDef) and node.name == method:
                    return node
    raise KeyError(f"there is no method {owner}.{method}")
