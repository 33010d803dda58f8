"""All mutants of a solution's parts that points are given for: every operator at every place, each result once."""

import ast
import difflib
import hashlib
import re
import warnings
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import affected, graded_cells, solutions
from autograder.model import cells
from autograder.model.cells import tree_of
from autograder.mutants import python
from autograder.mutants.python import Edit, Source


@dataclass(frozen=True)
class SolutionPart:
    """One part of the solutions.

    place: grade id of the cell, or name of the file. text: the solution there, without markers.
    lines: the first and last line of the part. exercises: grade ids of the cells that look at this part itself.
    others: those of the cells that build on it. graded: False where none of ``exercises`` has points.
    """

    assignment: str
    place: str
    name: str
    text: str
    lines: tuple[int, int]
    exercises: tuple[str, ...]
    others: tuple[str, ...]
    graded: bool

    @property
    def label(self) -> str:
        return self.name if len(self.exercises) > 1 else self.exercises[0]


def parts(assignment: Assignment, exercise: str = "") -> list[SolutionPart]:
    """The parts in the order of the notebooks, or those of one exercise. What no graded cell looks at is left out."""
    solved = solutions(assignment)
    found = [
        part
        for notebook in assignment.source.values()
        for cell in notebook.cells
        if cells.is_solution(cell) and str(cells.grade_id(cell)) in solved
        for part in _of_cell(assignment, notebook, cell, solved[str(cells.grade_id(cell))])
    ]
    for file in sorted(assignment.deliverables):
        found += _of_file(assignment, file, solved[file])
    return [part for part in found if not exercise or exercise in part.exercises]


def _of_cell(assignment: Assignment, notebook: NotebookNode, cell: NotebookNode, text: str) -> list[SolutionPart]:
    place = str(cells.grade_id(cell))
    here = notebook.cells.index(cell)
    concerned = affected(notebook, [place])
    after = list(enumerate(notebook.cells))[here + 1 :]
    answers = (index for index, other in after if other.cell_type == "code" and cells.is_solution(other))
    behind = next(answers, len(notebook.cells))
    own = [index for index in concerned if here < index < behind] or concerned[:1]
    lines = (1, text.count("\n") + 1)
    return _part(assignment, place, place.removesuffix("_answer"), text, lines, notebook, own, concerned)


def _of_file(assignment: Assignment, file: str, text: str) -> list[SolutionPart]:
    found: list[SolutionPart] = []
    tree = tree_of(text)
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            for notebook in assignment.source.values():
                every = graded_cells(notebook)
                own = [index for index in every if _names(notebook.cells[index], node.name)]
                lines = (node.lineno, node.end_lineno or node.lineno)
                found += _part(assignment, file, node.name, text, lines, notebook, own, every)
    return found


def _names(cell: NotebookNode, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", cell.source) is not None


def _part(
    assignment: Assignment,
    place: str,
    name: str,
    text: str,
    lines: tuple[int, int],
    notebook: NotebookNode,
    own: list[int],
    concerned: list[int],
) -> list[SolutionPart]:
    """The part as a list; empty where no graded cell looks at it."""
    if not own:
        return []
    exercises = tuple(str(cells.grade_id(notebook.cells[index])) for index in own)
    others = tuple(str(cells.grade_id(notebook.cells[index])) for index in concerned if index not in own)
    graded = any(cells.max_points(notebook.cells[index]) for index in own)
    return [SolutionPart(assignment.name, place, name, text, lines, exercises, others, graded)]


OPERATORS = (*python.ON_ARRAYS, *python.ON_ANYTHING)  # a change that both make is called by the field
_MAX_WORDS = 70


@dataclass(frozen=True)
class Mutant:
    """One small change to a solution.

    id: stable as long as the changed statement is. line: in the text of the cell or file. before, after: what was
    changed, shortened. message: True where only the text of an error is changed.
    """

    id: str
    part: SolutionPart
    operator: str
    line: int
    before: str
    after: str
    text: str
    message: bool = False

    @property
    def description(self) -> str:
        return f"{self.operator}, line {self.line}: {self.before} → {self.after}"

    def diff(self) -> str:
        """The change as a unified diff without context."""
        old, new = self.part.text.splitlines(), self.text.splitlines()
        lines = difflib.unified_diff(old, new, self.part.place, self.id, n=0, lineterm="")
        return "\n".join(list(lines)[2:])


def mutants(part: SolutionPart) -> list[Mutant]:
    """In the order of the text; empty where the solution is no Python."""
    try:
        source = Source(part.text, part.lines)
    except SyntaxError:
        return []
    seen, found = {ast.dump(source.tree)}, []
    for edit in sorted(
        (edit for operator in OPERATORS for edit in operator(source)), key=lambda edit: (edit.start, edit.end)
    ):
        text = source.applied(edit)
        shape = _shape(text)
        if shape and shape not in seen:
            seen.add(shape)
            found.append(_mutant(part, source, edit, text))
    return found


def _shape(text: str) -> str:
    """The syntax tree as text; empty where the text is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = tree_of(text)
            compile(tree, "", "exec")
        return ast.dump(tree)
    except (SyntaxError, ValueError):
        return ""


def _mutant(part: SolutionPart, source: Source, edit: Edit, text: str) -> Mutant:
    start, end = source.statement(edit.start)
    statement = source.data[start:end]
    changed = source.data[start : edit.start] + edit.text.encode() + source.data[edit.end : max(end, edit.end)]
    earlier = source.data[:start].count(statement)  # the same statement further up
    name = hashlib.sha256(b"\0".join([part.name.encode(), statement, changed, str(earlier).encode()])).hexdigest()[:8]
    line = source.data[: edit.start].count(b"\n") + 1
    before = source.data[edit.start : edit.end].decode()
    return Mutant(
        f"{part.name}-{name}",
        part,
        edit.operator,
        line,
        _short(before),
        _short(edit.text),
        text,
        source.is_message(edit),
    )


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MAX_WORDS else words[: _MAX_WORDS - 1] + "…"


def sample(chosen: list[Mutant], most: int, seed: int) -> list[Mutant]:
    """At most so many of them, the same for the same seed, whatever else there is; in the order given."""
    ranked = sorted(chosen, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.id}".encode()).digest())
    kept = {mutant.id for mutant in ranked[:most]}
    return [mutant for mutant in chosen if mutant.id in kept]
