"""Can every point of an assignment be given by somebody? Asked before anything is released, bundled or graded.

A graded code cell gets its points from the judge, who needs stored references; a written answer and a task are read by
a human. A cell that neither can judge would be a zero for the whole class.

Lines that are meant to be one of nbgrader's marks and are none are looked for, too.

The points that a notebook's text promises are held against those that its cells give.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.errors import GradingError
from autograder.exercise.model import Case
from autograder.model import cells
from autograder.model.questions import asked_questions
from autograder.model.verdict import total
from autograder.plain.where import asked, measuring_time
from autograder.release.findings import Finding, pinned

REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")
KNOWN = tuple(f"{word} {region}" for region in REGIONS for word in ("BEGIN", "END"))
#: How a comment begins in the languages of notebooks, Markdown and HTML among them, and nbgrader's own ``=== ... ===``.
_COMMENT = r"(?:#+|//+|/\*+|<!--+|={2,}|%+|--(?=\s)|;+|\*{2,}|>+)"
_SHOUTED = re.compile(rf"{_COMMENT}\s*(?:BEGIN|END)[\s_:-]+([A-Z]{{3,}}.*)")
#: Words that say that a region is to be hidden. "BEGIN TESTS", say, is a heading, or a marker of another tool.
_TO_HIDE = re.compile(r"SOL|ANSW|HID|SCHEM|RUBRIC|SECRET")
_AFTER_COMMENT = re.compile(rf"{_COMMENT}\s*(.*)$")
_LETTERS = re.compile(r"[^A-Z]+")
#: Words that share so much with the right ones are taken for them: one letter wrong, too many or too few.
_ENOUGH = 0.75
_MAX_LINE = 80


def marker_lines(text: str) -> Iterator[str]:
    """Every line that is a marker or is meant as one, in whatever spelling and after whatever sign of a comment."""
    return (line[:_MAX_LINE] for line in _lines(text) if _is_meant(line))


def misspelt(text: str) -> Iterator[str]:
    """The lines that are meant as a marker and that nbgrader passes over."""
    return (line for line in marker_lines(text) if not any(known in line for known in KNOWN))


def other_markers(text: str) -> Iterator[str]:
    """The lines that look like a marker of something that nbgrader does not know and need not hide."""
    return (line for line in _lines(text) if len(line) <= _MAX_LINE and _SHOUTED.search(line) and not _is_meant(line))


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.split("\n"))


@lru_cache(maxsize=1 << 14)  # source and release have most lines in common
def _is_meant(line: str) -> bool:
    if any(known in line for known in KNOWN):
        return True
    if len(line) > _MAX_LINE:
        return False
    shouted = _SHOUTED.search(line)
    if shouted and _TO_HIDE.search(shouted[1].upper()):
        return True
    after_comment = _AFTER_COMMENT.search(line)
    return any(_resembles(part) for part in (line, after_comment[1] if after_comment else ""))


def _resembles(part: str) -> bool:
    letters = _LETTERS.sub("", part.upper())
    return (
        8 <= len(letters) <= 24
        and letters[0] in "BEGIND"
        and any(
            _alike(letters[:cut], word) and _alike(letters[cut:], region.replace(" ", ""))
            for word in ("BEGIN", "END")
            for cut in range(len(word) - 1, len(word) + 2)
            for region in REGIONS
        )
    )


def _alike(letters: str, word: str) -> bool:
    return SequenceMatcher(None, letters, word, autojunk=False).ratio() >= _ENOUGH


_NO_TESTS = (
    "there is no test in it, neither a statement nor a reference(...), so that everybody gets its points: write "
    "one, or give the cell 0 points"
)
_VISIBLE_REFERENCE = (
    "it imports the grader outside of '### BEGIN HIDDEN TESTS' and '### END HIDDEN TESTS', where no answer reaches the "
    "judge: move reference(...) between them"
)
#: What :class:`autograder.testing.StoredCase` has besides the stored inputs.
_CASE = {"config", "load", "compare", "call", "called", "slug", "index"}


def require_judgeable(assignment: Assignment) -> None:
    """Raises GradingError with the first cell that nobody can judge, and what to do about it."""
    found = list(unjudgeable(assignment))
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise GradingError(f"{assignment.name}: {found[0]}{more}")


def unjudgeable(assignment: Assignment) -> Iterator[str]:
    """Every cell whose points nobody can give, each in one line that names notebook and cell."""
    for name, notebook in assignment.source.items():
        asked: dict[str, str] = {}
        counts = Counter(cells.grade_id(cell) for cell in notebook.cells if cells.grade_id(cell))
        yield from (f"{name}.ipynb has {count} cells '{one}'" for one, count in counts.items() if count > 1)
        for number, cell in enumerate(notebook.cells):
            where = f"{name}.ipynb, cell '{cells.grade_id(cell) or number}'"
            problem = _unknown_request(cell) or _points(cell) or _judge_lacks(cell, assignment)
            if problem:
                meant = next((f" (is {line!r} meant as a marker?)" for line in misspelt(cell.source)), "")
                yield f"{where}: {problem}{meant}"
            elif cells.is_autograded(cell):
                for slug in cells.references_of(cell.source):
                    if slug in asked:
                        yield f"{where}: '{asked[slug]}' asks for {slug!r} too, and only the last answers would count"
                    asked[slug] = str(cells.grade_id(cell))


def untested(assignment: Assignment) -> Iterator[Finding]:
    """Every cell with points and without a test: everybody gets them."""
    for name, notebook in assignment.source.items():
        for cell in notebook.cells:
            if cells.grade_id(cell) in untested_cells(notebook):
                meant = next((f" (is {line!r} meant as a marker?)" for line in misspelt(cell.source)), "")
                where = f"{assignment.name}/{name}.ipynb, cell '{cells.grade_id(cell)}'"
                points = f"{cells.max_points(cell):g}"
                yield pinned("untested", where, f"{_NO_TESTS}{meant}", cell.source, points)
        for one in sorted(measuring_time(notebook)):
            said = "it measures time: where it does not hold, the submission is run again with nothing beside it"
            yield pinned("clock", f"{assignment.name}/{name}.ipynb, cell '{one}'", said, one, blocks=False)


def untested_cells(notebook: NotebookNode) -> list[str]:
    """Their grade ids."""
    return [cells.nbgrader(cell)["grade_id"] for cell in notebook.cells if _is_untested(cell)]


def _is_untested(cell: NotebookNode) -> bool:
    if not cells.is_autograded(cell) or not isinstance(cells.nbgrader(cell).get("points"), int | float):
        return False
    try:
        return bool(cells.max_points(cell)) and not cells.parse(cell.source).body
    except SyntaxError:
        return False


def _unknown_request(cell: NotebookNode) -> str | None:
    words = [words for words in asked(cell.source) if words != "kernel"] if cells.is_autograded(cell) else []
    return f"'# autograder: {words[0]}' is not known; expected '# autograder: kernel'" if words else None


def _points(cell: NotebookNode) -> str | None:
    if not cells.is_graded(cell):
        return None
    points = cells.nbgrader(cell).get("points")
    if isinstance(points, bool) or not isinstance(points, int | float) or not 0 <= points < math.inf:
        return f"its points must be a number, 0 or more, not {points!r}"
    if cell.cell_type != "code" and not cells.is_manually_graded(cell):
        return "it is graded, but neither code that can be judged nor an answer that a human reads"
    return None


def _judge_lacks(cell: NotebookNode, assignment: Assignment) -> str | None:
    """What the judge lacks for a graded code cell, or None. A cell without points may do without a reference."""
    if not cells.is_autograded(cell):
        return None
    parts = cells.split_hidden(cell.source)
    for what, text in (("its visible part", parts.visible), ("its hidden tests", parts.hidden)):
        try:
            cells.parse(text)
        except SyntaxError as error:
            line = (error.text or "").strip()
            return f"{what} are no Python: {error.msg}" + (f" in {line[:60]!r}" if line else "")
    try:
        slugs = cells.references_of(cell.source)
    except ValueError as error:
        return str(error)
    if not slugs:
        return _plain_test_lacks(cell, parts.visible)
    tree = cells.parse(parts.hidden)
    if not any(isinstance(node, ast.Attribute) and node.attr in ("compare", "call") for node in ast.walk(tree)):
        return "its hidden tests never call case.compare(...) or case.call(...), so that no answer reaches the judge"
    return next(filter(None, (_reference_lacks(slug, tree, assignment) for slug in slugs)), None)


def _plain_test_lacks(cell: NotebookNode, visible: str) -> str | None:
    tree = cells.parse(visible)
    calls = {
        node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    if "questions" in calls and asked_questions(cell.source) is None:
        return "its questions are not found: the cell itself imports the checks, and names them as exercise=Function"
    if any(
        isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autograder") for node in ast.walk(tree)
    ):
        return _VISIBLE_REFERENCE
    return None


def _reference_lacks(slug: str, tree: ast.Module, assignment: Assignment) -> str | None:
    owner = slug.partition("/")[0]
    if owner != assignment.name:
        return f"reference({slug!r}) belongs to another assignment; expected '{assignment.name}/...'"
    draw = f"run 'autograder references {assignment.name}'"
    try:
        assignment.references.exercise(slug)
        stored = stored_cases(assignment, slug)
    except GradingError as error:
        return str(error)
    except (OSError, ValueError, KeyError) as error:
        return f"the stored reference {slug!r} cannot be read ({type(error).__name__}: {error}): {draw}"
    if not stored:
        return f"the stored reference {slug!r} has no case: {draw}"
    lacking = sorted(_read_from_cases(tree, slug) - set().union(*map(_inputs, stored)) - _CASE)
    return f"it reads case.{lacking[0]}, which the stored reference {slug!r} does not have: {draw}" if lacking else None


def stored_cases(assignment: Assignment, slug: str) -> tuple[Case, ...]:
    return assignment.references.cases(slug)


def _inputs(case: Case) -> set[str]:
    return {*case.inputs, *case.texts}


def _read_from_cases(tree: ast.Module, slug: str) -> set[str]:
    """What hidden tests read from the cases of one reference, in loops ``for case in reference(...)``."""
    read: set[str] = set()
    for loop in ast.walk(tree):
        if not (isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and isinstance(loop.iter, ast.Call)):
            continue
        if not any(isinstance(given, ast.Constant) and given.value == slug for given in loop.iter.args):
            continue
        for node in (node for line in loop.body for node in ast.walk(line)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == loop.target.id:
                read.add(node.attr)
    return read


_NUMBER = r"(?<![\d.,])(\d+(?:\.\d+)?)"
_TOTAL = re.compile(rf"{_NUMBER} points?\b")
_HEADING = re.compile(rf"(?m)^#+ .*\({_NUMBER} points?\)\s*$")
_ANY_HEADING = re.compile(r"(?m)^#+ ")


def wrong_points(where: str, notebook: NotebookNode) -> Iterator[Finding]:
    """Every number of points in the text that its cells do not add up to: the first cell's total, tables with a column
    "points", headings that end with "(5 points)". Only a note where no graded cell follows at all: then those points
    are given elsewhere.

    A table or heading speaks of the cells below it, up to a later one; a table may also speak of the whole notebook.
    """
    for place, text, given in _wrong(notebook):
        cell = notebook.cells[place]
        at = f"{where}, {cells.place(cell, place)}"
        yield pinned("points", at, text, cell.source, f"{given:g}", blocks=given > 0)


def _wrong(notebook: NotebookNode) -> Iterator[tuple[int, str, float]]:
    """(place of the cell, what is wrong, the points that there are)"""
    whole = total(map(_worth, notebook.cells))
    markdown = [(place, cell.source) for place, cell in enumerate(notebook.cells) if cell.cell_type == "markdown"]
    tables = {place: sums for place, text in markdown if (sums := list(_tables(text)))}
    headings = {place: float(match[1]) for place, text in markdown if (match := _HEADING.search(text))}
    if markdown and len(said := _TOTAL.findall(markdown[0][1])) == 1 and float(said[0]) != whole:
        yield markdown[0][0], f"the text says {float(said[0]):g} points, the notebook has {whole:g}", whole
    for place, sums in tables.items():
        below = _below(notebook, place, [other for other in tables if other > place])
        for promised in sums:
            if promised not in {*below, whole}:
                yield place, _said(promised, below[0], "table"), below[0]
    ends = [place for place, text in markdown if _ANY_HEADING.search(text)]
    for place, promised in headings.items():
        below = _below(notebook, place, [end for end in ends if end > place])
        if promised not in below:
            yield place, _said(promised, below[0], "heading"), below[0]


def _said(promised: float, given: float, what: str) -> str:
    return f"the {what} says {promised:g} points, the graded cells below it have {given:g}"


def _worth(cell: NotebookNode) -> float:
    return cells.max_points(cell) if cells.is_graded(cell) or cells.nbgrader(cell).get("task") else 0.0


def _below(notebook: NotebookNode, place: int, ends: list[int]) -> list[float]:
    """The points of the cells from one place to each of the ends, and to the notebook's end."""
    return [total(map(_worth, notebook.cells[place:end])) for end in (*ends, len(notebook.cells))]


def _tables(text: str) -> Iterator[float]:
    """The sum of the column "points" of each Markdown table that has one with numbers in it."""
    column: int | None = None
    numbers: list[float] = []
    for line in (*text.split("\n"), ""):
        row = [field.strip() for field in line.strip().strip("|").split("|")] if line.strip().startswith("|") else []
        if not row:
            if numbers:
                yield total(numbers)
            column, numbers = None, []
        elif column is None:
            column = next((place for place, field in enumerate(row) if field.lower() == "points"), -1)
        elif 0 <= column < len(row) and re.fullmatch(_NUMBER, row[column]):
            numbers.append(float(row[column]))
