"""A Markdown page for ``$GITHUB_STEP_SUMMARY``: per notebook a table of exercises, points and what to look at.

GitHub renders GitHub Flavored Markdown there, and takes at most 1 MiB a step
(https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#adding-a-job-summary).
"""

from __future__ import annotations

import re

from autograder.ci.outcome import Disclosure, ExerciseOutcome, NotebookOutcome, SubmissionOutcome
from autograder.feedback.words import WORDS, points, readable

_MAX_CELL = 600
#: What Markdown, or GitHub's own additions to it, could take for structure, a link, a formula or a mention.
_STRUCTURE = re.compile(r"[!#$&*<>@\[\\\]^_`{|}~]|:(?=\S)|(?<=www)\.")
_VISIBLE = {"passed": "passes", "failed": "not right yet", "silent": "said nothing; run it yourself"}


def summary_md(outcome: SubmissionOutcome, disclosure: Disclosure) -> str:
    """The file's text. Unless ``disclosure`` is NOW it tells of visible checks alone, and of no points."""
    lines = [f"## {escape(outcome.assignment)}: {escape(outcome.student)}", ""]
    lines += [_heading(outcome, disclosure), ""]
    for notebook in outcome.notebooks:
        lines += _notebook(notebook, disclosure)
    return "\n".join(lines)


def _heading(outcome: SubmissionOutcome, disclosure: Disclosure) -> str:
    if outcome.failure:
        return f"**Not graded:** {escape(outcome.failure)}. This is no mark."
    if disclosure is not Disclosure.NOW:
        return "Hidden tests decide over the points and are shown later; this is what the visible checks say."
    waiting = f", and up to {points(outcome.waiting)} more when a person has read them" if outcome.waiting else ""
    return f"**{points(outcome.points)} of {points(outcome.max_points)} points**{waiting}."


def _notebook(notebook: NotebookOutcome, disclosure: Disclosure) -> list[str]:
    columns = ["exercise", "points", "result", "what to look at"]
    if disclosure is not Disclosure.NOW:
        columns = ["exercise", "visible check", "what it says"]
    lines = [f"### {escape(readable(notebook.name))}", "", _row(columns), _row(["---"] * len(columns))]
    lines += [_row(_cells(exercise, disclosure)) for exercise in notebook.exercises]
    return [*lines, "", *(f"- {escape(note)}" for note in notebook.notes), *([""] if notebook.notes else [])]


def _cells(exercise: ExerciseOutcome, disclosure: Disclosure) -> list[str]:
    name = escape(readable(exercise.cell))
    if disclosure is Disclosure.NOW:
        earned = f"{points(exercise.points)} of {points(exercise.max_points)}"
        return [name, earned, escape(WORDS[exercise.status]), escape(exercise.text)]
    if exercise.visible is None:
        return [name, escape(WORDS[exercise.status]), ""]
    text = exercise.visible.text if exercise.visible.status == "failed" else ""
    return [name, _VISIBLE[exercise.visible.status], escape(text)]


def _row(texts: list[str]) -> str:
    return f"| {' | '.join(texts)} |"


def escape(text: str) -> str:
    """The text as one line of Markdown that shows it and does nothing else.

    Character references never make structure (CommonMark 0.31, section 2.5), nor do they end a table's cell.
    """
    bounded = text if len(text) <= _MAX_CELL else text[:_MAX_CELL] + " …"
    lines = [line.strip() for line in bounded.strip().split("\n")]
    return "<br>".join(_STRUCTURE.sub(lambda match: f"&#{ord(match[0])};", line) for line in lines if line)
