"""Where a plain test cell is judged: as the calibration found out, unless its own text decides it."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.assignment.calibration import CellCalibration
from autograder.errors import GradingError
from autograder.model import cells
from autograder.model.questions import asking
from autograder.plain.names import names_of, parse

NOT_CALIBRATED = "nobody has run the instructor's solution yet to find out where it can be judged"


def plain_cells(source: NotebookNode) -> list[int]:
    """The indices of the graded code cells that no stored reference judges. Raises nothing."""
    return [index for index, cell in enumerate(source.cells) if is_plain(cell)]


def is_plain(cell: NotebookNode) -> bool:
    if not cells.is_autograded(cell) or asking(cell) is not None:
        return False
    try:
        return not cells.references_of(cell.source)
    except (ValueError, SyntaxError):
        return "reference" not in cell.source


def where_judged(source: NotebookNode, calibration: Mapping[str, CellCalibration]) -> dict[str, CellCalibration]:
    """Grade id -> where it is judged, for every plain test cell of an instructor's notebook."""
    found = {}
    for index in plain_cells(source):
        name = cells.nbgrader(source.cells[index])["grade_id"]
        reason = reason_for(source, index)
        known = calibration.get(name, CellCalibration("kernel", NOT_CALIBRATED))
        found[name] = CellCalibration("kernel", reason, known.problem) if reason else known
    return found


# Test cells that are never judged in the tester: their text asks for the student's kernel, or could open the tester.
# Whatever else needs the student's process shows when the solution is calibrated, and a text that is about to become
# code ends the tester (:mod:`autograder.tester.no_code`).

_SHELL = "it uses a magic, the shell or get_ipython()"
#: Modules that make objects of any class of a text, without a line of code that the tester would hear of.
_MAKES_OBJECTS = ("yaml", "ruamel", "jsonpickle")


def reason_for(source: NotebookNode, index: int) -> str:
    """Why the text of test cell ``index`` asks for the student's kernel; empty where it does not."""
    text = source.cells[index].source
    if "kernel" in asked(text):
        return "the line '# autograder: kernel' asks for it"
    try:
        tree = parse(text)
    except SyntaxError as error:
        return f"it is no Python ({error.msg})"
    if any(isinstance(node, ast.Name) and node.id == "get_ipython" for node in ast.walk(tree)):
        return _SHELL
    above = [one.source for one in source.cells[: index + 1] if one.cell_type == "code"]
    made = {name for one in above for name in _names_from(one, _MAKES_OBJECTS)} & names_of(text).loaded
    return f"it makes objects of a text, which may be the student's ({', '.join(sorted(made))})" if made else ""


#: Modules with the clocks by which a test measures time.
_CLOCKS = ("time", "timeit")


def measuring_time(source: NotebookNode) -> set[str]:
    """Grade ids of the plain tests that read a clock, themselves or by what the instructor's cells above define.

    How they end depends on what else the machine does.
    """
    found = set()
    for index in plain_cells(source):
        above = [one for one in source.cells[: index + 1] if one.cell_type == "code" and not cells.is_solution(one)]
        names = [names_of(one.source) for one in above]
        used = names[-1].loaded
        for one in reversed(names):
            used |= one.loaded if one.bound & used else frozenset()
        if used & {name for one in above for name in _names_from(one.source, _CLOCKS)}:
            found.add(cells.nbgrader(source.cells[index])["grade_id"])
    return found


def _names_from(source: str, modules: tuple[str, ...]) -> Iterator[str]:
    """The names that imports in a cell bind to these modules, or to what is in them."""
    try:
        nodes = list(ast.walk(parse(source)))
    except SyntaxError:
        return
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            root = (getattr(node, "module", None) or "").partition(".")[0]
            for alias in node.names:
                if (root or alias.name.partition(".")[0]) in modules:
                    yield (alias.asname or alias.name).partition(".")[0]


def asked(source: str) -> list[str]:
    """What the lines ``# autograder: ...`` of a cell say."""
    return re.findall(r"(?m)^[ \t]*#+[ \t]*autograder[ \t]*:[ \t]*(.*?)[ \t]*$", source)


@dataclass(frozen=True)
class KernelCell:
    """A plain test cell whose points rest on what the student's own process says. reason: one sentence.

    hidden: whether it has a hidden part, which is in that process. failed: whether the solution does not pass it, which
    is what is to be mended.
    """

    notebook: str
    cell: str
    points: float
    reason: str
    hidden: bool = False
    failed: bool = False

    def __str__(self) -> str:
        points = f"{self.points:g} point{'s' * (self.points != 1)}"
        read = "; students' code can read its hidden part, as under stock nbgrader" if self.hidden else ""
        return f"{self.notebook}.ipynb, cell '{self.cell}' ({points}): {self.reason}{read}"


def judged_in_kernel(assignment: Assignment) -> list[KernelCell]:
    """Those that have points, in order of notebooks and cells."""
    found = []
    for name, notebook in assignment.source.items():
        calibration = assignment.calibration.cells_of(name) if assignment.calibration is not None else {}
        judged = where_judged(notebook, calibration)
        for cell in notebook.cells:
            one = judged.get(cells.grade_id(cell) or "") if cells.is_autograded(cell) else None
            if one is not None and one.judged == "kernel" and (points := cells.max_points(cell)):
                hidden = bool(cells.split_hidden(cell.source).hidden.strip())
                why, failed = one.reason or one.problem, bool(one.problem and not one.reason)
                found.append(KernelCell(name, cells.nbgrader(cell)["grade_id"], points, why, hidden, failed))
    return found


def require_outside(assignment: Assignment, required: bool) -> None:
    """Raises GradingError that names every cell judged in the student's own kernel, where none is to be."""
    found = judged_in_kernel(assignment) if required else []
    if found:
        named = "; ".join(map(str, found))
        raise GradingError(
            f"{assignment.name}: --require-outside was given, but {len(found)} cell{'s are' if found[1:] else ' is'} "
            f"judged in the student's own kernel: {named}. Write the tests otherwise (docs/plain-tests.md), or leave "
            "the option out"
        )


def summary(assignment: Assignment) -> list[str]:
    """``ps1: 41 cells: 36 judged as the solution does, 3 in the student's kernel, 2 by a person``, then the reasons."""
    graded = [cell for book in assignment.source.values() for cell in book.cells if cells.is_graded(cell)]
    plain = [cell for cell in graded if is_plain(cell)]
    inside, by_hand = judged_in_kernel(assignment), sum(map(cells.is_manually_graded, graded))
    parts = [f"{len(plain) - len(inside)} judged as the solution does", f"{len(inside)} in the student's kernel alone"]
    parts += [f"{len(graded) - len(plain) - by_hand} by references"] if len(graded) > len(plain) + by_hand else []
    parts += [f"{by_hand} by a person"] if by_hand else []
    return [f"{assignment.name}: {len(graded)} cells: {', '.join(parts)}", *(f"    {one}" for one in inside)]
