"""The class report: everything on one self-contained page, its pictures beside it as files."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jinja2
import numpy as np

from autograder import feedback
from autograder.assignment import Assignment, Course
from autograder.feedback.page import points, readable
from autograder.picture import class_picture
from autograder.report import charts, statistics
from autograder.report.code import Answer, read_answers
from autograder.report.readymade import ready_made
from autograder.report.results import Results, read_results
from autograder.report.similarity import ALIKE, ENOUGH_TOKENS, by_students, same_answers, similar_pairs

TEMPLATES = Path(__file__).parent / "templates"
#: So many similar pairs are shown with their code; the others are counted.
SHOWN_PAIRS = 20


@dataclass(frozen=True)
class Summary:
    """The figures on top. ``waiting`` counts submissions that are not decided in full."""

    submissions: int
    max_points: float
    mean: float
    median: float
    full: int
    none: int
    waiting: int


def write_report(course: Course, assignment: str, out: Path) -> Path:
    """Write ``index.html`` and its PNGs into the folder ``out``; returns the page's path.

    Raises NothingToGrade where nothing is graded yet, GradingError where there is no such assignment.
    """
    opened = Assignment.open(course, assignment)
    results = read_results(course, assignment)
    answers = read_answers(course, opened, [verdict.student for verdict in results.verdicts])
    out.mkdir(parents=True, exist_ok=True)
    exercises = statistics.exercise_statistics(results.verdicts)
    pictures = {
        "distribution": charts.distribution(results.verdicts, out / "distribution.png"),
        "exercises": charts.exercise_chart(exercises, out / "exercises.png"),
        "class": class_picture(results.verdicts, out / "class.png"),
    }
    page = out / "index.html"
    page.write_text(render(results, exercises, answers, pictures), encoding="utf-8")
    return page


def render(
    results: Results,
    exercises: list[statistics.ExerciseStatistics],
    answers: list[Answer],
    pictures: dict[str, Path],
) -> str:
    """The page. ``pictures``: name -> PNG file, put into the page as data."""
    alike = by_students(similar_pairs(answers))
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            assignment=results.assignment,
            summary=summary_of(results),
            unreadable=results.unreadable,
            exercises=exercises,
            weak=charts.WEAK,
            few=statistics.FEW,
            mistakes=statistics.mistake_counts(results.verdicts),
            times=statistics.times(results.verdicts),
            repairs=statistics.repairs(results.verdicts),
            repair_kinds=statistics.repair_kinds(results.verdicts),
            waiting=statistics.waiting_for_people(results.verdicts),
            pairs=alike[:SHOWN_PAIRS],
            more_pairs=max(0, len(alike) - SHOWN_PAIRS),
            same=same_answers(answers),
            alike=ALIKE,
            enough=ENOUGH_TOKENS,
            parts=ready_made(answers),
            students=results.verdicts,
            pictures={name: _inline(path) for name, path in pictures.items()},
            style=_style(),
        )
    )


def summary_of(results: Results) -> Summary:
    totals = np.array([verdict.points for verdict in results.verdicts])
    undecided = [
        any(cell.points is None for notebook in verdict.notebooks for cell in notebook.cells)
        for verdict in results.verdicts
    ]
    top = results.max_points
    return Summary(
        len(totals),
        top,
        float(totals.mean()),
        float(np.median(totals)),
        int((totals >= top - 1e-9).sum()),
        int((totals <= 0).sum()),
        sum(undecided),
    )


def _inline(path: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"


def exercise(name: str) -> str:
    """``attention_block_answer`` -> ``Attention block``; a file keeps its name."""
    return name if "." in name else readable(name.removesuffix("_answer"))


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"points": points, "readable": readable, "exercise": exercise, "duration": duration}
    return environment


@lru_cache(maxsize=1)
def _style() -> str:
    shared = Path(feedback.__file__).parent / "templates" / "page.css"
    return shared.read_text(encoding="utf-8") + (TEMPLATES / "report.css").read_text(encoding="utf-8")
