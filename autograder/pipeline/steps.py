"""What is done with each code cell of a notebook: in the student's kernel, in the tester, or in both.

Read from the instructor's notebook, and from how its solution was calibrated. A name is remote in the tester where the
instructor's solution cells bind it, by an import too; what a submission binds beyond that never takes the place of a
trusted name there.
"""

import ast
import builtins
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Literal

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.assignment.calibration import CellCalibration
from autograder.model import cells
from autograder.plain.names import is_python, names_of, statements_of
from autograder.plain.where import where_judged

#: ``student``: solutions and extra cells. ``trusted``: the instructor's, without points. The others are autograded: by
#: stored answers, or as plain tests: in the tester (``outside``), or in a copy of the student's kernel (``kernel``).
Role = Literal["student", "trusted", "reference", "outside", "kernel"]


@dataclass(frozen=True)
class TestPart:
    """A piece of a cell that the tester executes. ``hidden``: what it shows is for nobody's eyes."""

    source: str
    hidden: bool


@dataclass(frozen=True)
class Step:
    """What is done with one code cell.

    parts: what the tester executes of it; without, it has nothing to do with this cell.
    remote: names that are bound there anew, before, to what the student's kernel has; unknown: those that are only
    where the tester has no such name; read: those that the cell reads.
    given: trusted names that it reads; if they hold what can change, it is looked at what became of it there.
    also: what the student's kernel executes of a cell that is judged outside, because later cells use its names.
    expected: where the solution's code answered (:mod:`autograder.remote.places`); None: note it.
    """

    role: Role
    parts: tuple[TestPart, ...] = ()
    remote: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    also: str = ""
    expected: Mapping[str, Sequence[str]] | None = None
    points: float = 0.0


#: A cell that a student added.
OWN = Step("student")


def steps_of(
    source: NotebookNode,
    calibration: Mapping[str, CellCalibration],
    files: Collection[str] = (),
    deliverables: Collection[str] = (),
) -> tuple[Step, ...]:
    """One step for every cell of an instructor's notebook, other cells than code included.

    files: paths beside the notebook; deliverables: those of them that students write.
    """
    judged = where_judged(source, calibration)
    roles = [_role(cell, {name: one.judged for name, one in judged.items()}) for cell in source.cells]
    last = max((number for number, role in enumerate(roles) if role == "outside"), default=-1)
    names = _Names({PurePosixPath(name).stem for name in deliverables if name.endswith(".py")})
    steps: list[Step] = []
    for number, (cell, role) in enumerate(zip(source.cells, roles, strict=True)):
        if number > last or cell.cell_type != "code":
            steps.append(Step(role))
            continue
        behind = zip(source.cells[number + 1 :], roles[number + 1 :], strict=True)
        later = [(one.source, of) for one, of in behind if one.cell_type == "code"]
        step = names.step(cell, role, later)
        if role == "outside":
            step = replace(step, expected=judged[str(cells.grade_id(cell))].expected, points=cells.max_points(cell))
        steps.append(step)
    return tuple(steps)


#: The steps of notebooks by their object's id and calibration's, with both, so that the ids stay their own. Threads may
#: find them missing at the same time: each then makes the same ones.
_KEPT: dict[tuple[int, int], tuple[object, object, tuple[Step, ...]]] = {}
_MAX_KEPT = 64


def steps_for(assignment: Assignment, name: str, rebuilt: NotebookNode) -> list[Step]:
    """What is done with each cell of a rebuilt notebook. The instructor's one is read once for all submissions."""
    source, calibration = assignment.source[name], assignment.calibration
    key = id(source), id(calibration)
    kept = _KEPT.get(key)
    if kept is None:
        of_notebook = calibration.cells_of(name) if calibration is not None else {}
        steps = steps_of(source, of_notebook, assignment.files, assignment.deliverables)
        if len(_KEPT) >= _MAX_KEPT:
            _KEPT.clear()
        kept = _KEPT[key] = source, calibration, steps
    return aligned(source, kept[2], rebuilt)


def aligned(source: NotebookNode, steps: Sequence[Step], notebook: NotebookNode) -> list[Step]:
    """One step for every cell of a notebook that was rebuilt from ``source``, which ``steps`` belong to.

    Students may add cells anywhere. A cell without grade id is the instructor's only where its text is.
    """
    pairs = list(zip(source.cells, steps, strict=True))
    marked = {name: step for cell, step in pairs if (name := cells.grade_id(cell))}
    unmarked = deque((cell.source, step) for cell, step in pairs if not cells.grade_id(cell))
    found: list[Step] = []
    for cell in notebook.cells:
        if name := cells.grade_id(cell):
            found.append(marked[name])
        elif unmarked and unmarked[0][0] == cell.source:
            found.append(unmarked.popleft()[1])
        else:
            found.append(OWN)
    return found


def _role(cell: NotebookNode, judged: dict[str, Literal["outside", "kernel"]]) -> Role:
    if cells.is_autograded(cell):
        return judged.get(cells.nbgrader(cell)["grade_id"], "reference")
    return "student" if cells.is_solution(cell) else "trusted"


@dataclass
class _Names:
    """The names of a notebook's namespace up to a cell. ``own``: modules that students write."""

    own: set[str]
    students: set[str] = field(default_factory=set)
    trusted: set[str] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)  # that any cell of the tester loads
    unknown: set[str] = field(default_factory=set)  # that no cell of the notebook binds
    tests: set[str] = field(default_factory=set)  # that test cells bind, in the tester alone
    loads: dict[str, frozenset[str]] = field(default_factory=dict)  # trusted name -> what the cell that binds it loads

    def step(self, cell: NotebookNode, role: Role, later: list[tuple[str, Role]]) -> Step:
        names = names_of(cell.source)
        imported = self._of_own_modules(cell.source)
        if role == "student":
            self.students |= names.bound
            self.trusted -= names.bound
            return Step(role)
        if role not in ("trusted", "outside"):
            self._bind(names.bound, imported)
            return Step(role)
        self.wanted |= names.loaded
        unknown = names.loaded - self.students - self.trusted - names.imported - set(dir(builtins))
        parts = (TestPart(cell.source, True),) if role == "trusted" else tuple(parts_of(cell.source))
        also = ""
        if role == "outside":
            visible = cells.split_hidden(cell.source).visible
            bound = names_of(visible).bound
            also = visible if any(bound & names_of(text).loaded for text, of in later if of != "outside") else ""
        remote = self.students & self.wanted
        reached = self._reached(names.loaded)
        self.unknown |= unknown
        read = sorted(name for name in reached if name in remote | unknown or self._is_made_of(name))
        given = sorted(reached & self.trusted - self.tests - set(read)) if role == "outside" else ()
        self.tests |= names.bound if role == "outside" else set()
        self._bind(names.bound, imported)
        self.loads |= dict.fromkeys(names.bound - imported, names.loaded - names.bound)
        return Step(role, parts, tuple(sorted(remote)), tuple(sorted(unknown)), tuple(read), tuple(given), also)

    def _reached(self, loaded: Collection[str]) -> set[str]:
        """These names, and all that the cells load which bind them: a test's helper may look at a student's name."""
        found, left = set[str](), list(loaded)
        while left:
            if (name := left.pop()) not in found:
                found.add(name)
                left += self.loads.get(name, ()) if name in self.trusted else ()
        return found

    def _is_made_of(self, name: str) -> bool:
        """Whether a trusted name may hold what the student's code gave."""
        return name in self.trusted and bool(self._reached([name]) & (self.students | self.unknown))

    def _bind(self, bound: Collection[str], imported: set[str]) -> None:
        self.students = (self.students - set(bound)) | imported
        self.trusted = (self.trusted | set(bound)) - imported

    def _of_own_modules(self, source: str) -> set[str]:
        """The names that a cell imports from files that students write."""
        return {
            (alias.asname or alias.name).partition(".")[0]
            for node in statements_of(source)
            for alias in (node.names if isinstance(node, ast.Import | ast.ImportFrom) else ())
            if _modules(node) & self.own
        }


def _modules(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").partition(".")[0]}
    return {alias.name.partition(".")[0] for alias in node.names} if isinstance(node, ast.Import) else set()


def parts_of(source: str) -> list[TestPart]:
    """A test cell in pieces, visible and hidden ones in turn, markers left out.

    Where they are no Python on their own, the whole cell is one piece with its markers, which are comments.
    """
    parts: list[TestPart] = []
    lines: list[str] = []
    hidden = False
    for line in [*source.split("\n"), cells.END_HIDDEN]:
        marks = cells.BEGIN_HIDDEN in line or cells.END_HIDDEN in line
        if not marks:
            lines.append(line)
            continue
        if any(one.strip() for one in lines):
            parts.append(TestPart("\n".join(lines), hidden))
        lines, hidden = [], cells.BEGIN_HIDDEN in line
    if any(part.hidden for part in parts) and not all(is_python(part.source) for part in parts):
        return [TestPart(source, True)]
    return parts
