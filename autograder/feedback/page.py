"""The page itself: points on top, then every exercise in words, then the notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import jinja2
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter

from autograder import cells
from autograder.feedback.body import TEMPLATES, notebook_body
from autograder.feedback.strip import without_hidden_tests
from autograder.verdict import CellVerdict, Check, NotebookVerdict

#: status -> what a student reads.
WORDS = {
    "passed": "all right",
    "partial": "partly right",
    "failed": "not right yet",
    "crashed": "stopped before it was done",
    "timeout": "took too long",
    "missing": "not there",
    "manual": "waits to be read by a person",
    "infrastructure": "could not be graded: our fault, not yours, and it will be tried again",
}


@dataclass(frozen=True)
class Exercise:
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
    by_hand: bool
    linked: bool

    @property
    def share(self) -> float:
        """Between 0 and 1, for the bar."""
        if not self.max_points:
            return float(self.status == "passed")
        return min(1.0, max(0.0, (self.points or 0.0) / self.max_points))


def render_notebook(
    notebook: NotebookNode | None,
    verdict: NotebookVerdict,
    comments: Mapping[str, str] = {},
    manual: Mapping[str, float] = {},
    late_penalty: float = 0.0,
) -> str:
    """One self-contained page for one notebook of one student.

    notebook: as autograded; None where none was handed in.
    comments: grade id (of the answer or of the graded cell) -> the instructor's words.
    manual: grade id -> the points that count instead of the judge's, extra credit included.
    late_penalty: points taken off the notebook's sum.
    """
    own = comments_by_exercise(notebook, verdict, comments)
    shown = {cells.grade_id(cell) for cell in notebook.cells} if notebook is not None else set()
    exercises = [_exercise(cell, own.get(cell.cell, ()), manual, cell.cell in shown) for cell in verdict.cells]
    total = sum(exercise.points or 0.0 for exercise in exercises)
    template = _environment().get_template("page.html.j2")
    return template.render(
        verdict=verdict,
        title=readable(verdict.notebook),
        exercises=exercises,
        notes=[_friendly(note) for note in verdict.notes],
        total=max(0.0, total - late_penalty),
        late_penalty=late_penalty,
        open=[exercise for exercise in exercises if exercise.points is None],
        body=notebook_body(without_hidden_tests(notebook)) if notebook is not None else "",
        style=_style(),
    )


def _exercise(cell: CellVerdict, comments: tuple[str, ...], manual: Mapping[str, float], linked: bool) -> Exercise:
    by_hand = cell.cell in manual
    failed = tuple(check for check in cell.checks if not check.passed)
    passed = tuple(check for check in cell.checks if check.passed)
    return Exercise(
        cell.cell,
        readable(cell.cell),
        cell.status,
        "graded by hand" if by_hand else WORDS[cell.status],
        manual.get(cell.cell, cell.points),
        cell.max_points,
        failed,
        passed,
        comments,
        by_hand,
        linked,
    )


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


def readable(name: str) -> str:
    """``2_attention_block`` -> ``2 Attention block``."""
    words = name.replace("_", " ").replace("-", " ").strip()
    return re.sub(r"[^\W\d_]", lambda letter: letter[0].upper(), words, count=1)


def _friendly(note: str) -> str:
    return (note[:1].upper() + note[1:]).rstrip(".") + "."


def points(value: float | None) -> str:
    """Points as people write them; an en dash where nobody has decided yet."""
    return "–" if value is None else f"{round(value, 2):g}"


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["points"] = points
    return environment


@lru_cache(maxsize=1)
def _style() -> str:
    light = HtmlFormatter(style="friendly").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    own = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{own}"
