"""The page itself: points on top, then every exercise in words, then the notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import jinja2
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter

from autograder.assignment.submission import NOT_HANDED_IN
from autograder.feedback.body import TEMPLATES, notebook_body
from autograder.feedback.paths import without_paths
from autograder.feedback.strip import without_hidden_tests
from autograder.feedback.titles import exercise_titles
from autograder.feedback.whole import graded_again, whole_assignment
from autograder.feedback.words import WORDS, points, readable
from autograder.gradebook.read import Student
from autograder.gradebook.results import ExerciseResult, StudentResult, result_of
from autograder.model import cells
from autograder.model.points import total
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict


@dataclass(frozen=True)
class ExerciseSection:
    """One graded cell as the page shows it. ``points`` is None where nobody has decided yet."""

    cell: str
    title: str
    status: str
    words: str
    points: float | None
    max_points: float
    failed: tuple[Check, ...]
    passed: tuple[Check, ...]
    comments: tuple[str, ...]
    linked: bool

    @property
    def share(self) -> float:
        """Between 0 and 1, for the bar."""
        if not self.max_points:
            return float(self.status == "passed")
        return min(1.0, max(0.0, (self.points or 0.0) / self.max_points))


def render_notebook(
    notebook: NotebookNode | None, verdict: NotebookVerdict, result: StudentResult | None = None, library: str = ""
) -> str:
    """One self-contained page for one notebook of one student.

    notebook: as autograded; None where none was handed in.
    result: the student's, on the whole assignment; what the verdict alone says where there is none.
    library: import name of what the course's notebooks import; paths in tracebacks begin there.
    """
    result = result or _of_verdict(verdict)
    here = result.notebook(verdict.notebook)
    comments = comments_by_exercise(notebook, verdict, {cell: text for (_, cell), text in here.comments.items()})
    body = _body(notebook, verdict, library)
    shown = {cells.grade_id(cell) for cell in notebook.cells} if notebook is not None and body else set()
    titles = exercise_titles(notebook)
    exercises = [
        _exercise(
            cell,
            here.exercises.get((verdict.notebook, cell.cell)) or result_of(cell),
            titles.get(cell.cell) or readable(cell.cell),
            comments.get(cell.cell, ()),
            cell.cell in shown,
        )
        for cell in verdict.cells
    ]
    said = {check.message for exercise in exercises for check in exercise.failed}  # why a notebook was not run, say
    template = _environment().get_template("page.html.j2")
    return template.render(
        verdict=verdict,
        title=readable(verdict.notebook),
        exercises=exercises,
        notes=[_friendly(note) for note in verdict.notes if note not in said and not note.endswith(NOT_HANDED_IN)],
        missing=[note for note in verdict.notes if note.endswith(NOT_HANDED_IN)],
        total=here.points_so_far if any(one.points is not None for one in exercises) or not exercises else None,
        max_points=total(exercise.max_points for exercise in exercises),
        open=[exercise for exercise in exercises if exercise.points is None],
        whole=(*whole_assignment(result), *graded_again(result)),
        body=body,
        style=page_style(),
    )


def _body(notebook: NotebookNode | None, verdict: NotebookVerdict, library: str) -> str:
    """The notebook as it was run; nothing where it was not."""
    if notebook is None or any(cell.status == "ungradable" for cell in verdict.cells):
        return ""
    return notebook_body(without_paths(without_hidden_tests(notebook), library))


def _of_verdict(verdict: NotebookVerdict) -> StudentResult:
    results = {(verdict.notebook, cell.cell): result_of(cell) for cell in verdict.cells}
    return StudentResult(Student(verdict.student), results)


def _exercise(
    cell: CellVerdict, result: ExerciseResult, title: str, comments: tuple[str, ...], linked: bool
) -> ExerciseSection:
    words = WORDS.get(result.status, "graded")
    if result.decided_by == "person":
        words = "graded by hand"
    if result.waiver:
        words = result.waiver
    if result.extra_credit:
        words += f", with {points(result.extra_credit)} points of extra credit"
    failed = tuple(check for check in cell.checks if not check.passed)
    passed = tuple(check for check in cell.checks if check.passed)
    status, most = result.status, result.max_points
    return ExerciseSection(cell.cell, title, status, words, result.points, most, failed, passed, comments, linked)


def comments_by_exercise(
    notebook: NotebookNode | None, verdict: NotebookVerdict, comments: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Graded cell -> comments. nbgrader hangs a comment on the answer; its points stand at the next graded cell."""
    graded = [cell.cell for cell in verdict.cells]
    order = [cells.grade_id(cell) for cell in notebook.cells] if notebook is not None else []
    found: dict[str, tuple[str, ...]] = {}
    for name, text in comments.items():
        if not text or not text.strip() or not graded:
            continue
        behind = order[order.index(name) :] if name in order else [name]
        target = next((cell for cell in behind if cell in graded), graded[-1])
        found[target] = (*found.get(target, ()), text.strip())
    return found


def _friendly(note: str) -> str:
    return (note[:1].upper() + note[1:]).rstrip(".") + "."


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["points"] = points
    return environment


@lru_cache(maxsize=1)
def page_style() -> str:
    # the colours of both stand out enough from the background, those of comments too
    light = HtmlFormatter(style="xcode").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    own = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{own}"
