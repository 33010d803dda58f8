"""The class report: everything on one self-contained page, its pictures beside it as files."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import jinja2
import numpy as np

from autograder import feedback
from autograder.assignment.assignment import Assignment
from autograder.feedback.words import points, readable
from autograder.files.atomic import write_file
from autograder.files.temporary import TemporaryFolder
from autograder.gradebook.accepted import disputed, refused
from autograder.gradebook.hints import CellHint, hints_of
from autograder.gradebook.results import StudentResult
from autograder.model.course import Course
from autograder.plain.in_kernel import judged_in_kernel
from autograder.report import charts, statistics
from autograder.report.anonymous import under_pseudonyms
from autograder.report.code import Answer, read_answers
from autograder.report.earlier import EarlierTerm, pairs_with_earlier, read_earlier
from autograder.report.picture import class_picture
from autograder.report.questions import asked_nothing, same_tokens
from autograder.report.readymade import ready_made
from autograder.report.results import Results, read_results
from autograder.report.similarity import ALIKE, ENOUGH_TOKENS, Pair, by_students, same_answers, similar_pairs

TEMPLATES = Path(__file__).parent / "templates"
#: So many similar pairs are shown with their code; the others are counted.
SHOWN_PAIRS = 20


@dataclass(frozen=True)
class Summary:
    """The figures on top: points before late deductions, of submissions on which the grader did not fail.

    mean, median: of the points so far; None where there are none. full, none: of those that are decided.
    ``waiting`` counts submissions that a person has to finish, ``failed`` those that the grader has.
    """

    submissions: int
    max_points: float
    mean: float | None
    median: float | None
    full: int
    none: int
    waiting: int
    failed: int
    late: int


@dataclass(frozen=True)
class Earlier:
    """Earlier terms, and pairs of one of their answers with one of now."""

    terms: Sequence[EarlierTerm]
    pairs: Sequence[Pair]

    @property
    def names(self) -> str:
        return ", ".join(term.name for term in self.terms)


def write_report(
    course: Course, assignment: str, out: Path, *, anonymous: bool = False, against: Sequence[Path] = ()
) -> Path:
    """Write ``index.html`` and its PNGs into the folder ``out``; returns the page's path.

    anonymous: with pseudonyms in the place of students' ids.
    against: archives and folders of earlier terms, with whose answers those of now are compared.
    Raises NothingToGrade where nothing is graded yet; GradingError where there is no such assignment, where the class
    was graded with points of two versions, where an earlier term cannot be read, or the folder cannot be written.
    """
    opened = Assignment.open(course, assignment)
    results = read_results(course, assignment)
    answers = read_answers(course, opened, [verdict.student for verdict in results.verdicts])
    hints = hints_of(course, opened, results.rows)
    terms = [read_earlier(course, assignment, path) for path in against]
    if anonymous:
        results, answers = under_pseudonyms(course.root, results, answers)
    earlier = Earlier(terms, pairs_with_earlier(course.root, answers, terms, anonymous=anonymous)) if terms else None
    exercises = statistics.exercise_statistics(results.verdicts)
    with TemporaryFolder("report-") as fresh:
        pictures = {
            "distribution": charts.distribution(results.verdicts, fresh / "distribution.png"),
            "exercises": charts.exercise_chart(exercises, fresh / "exercises.png"),
            "class": class_picture(results.verdicts, fresh / "class.png"),
        }
        reasons = {(one.notebook, one.cell): one.reason for one in judged_in_kernel(opened)}
        page = render(results, exercises, answers, pictures, course.file.ready_made, reasons, earlier, hints)
        for path in pictures.values():
            write_file(out / path.name, path.read_bytes())
        write_file(out / "index.html", page.encode("utf-8", "replace"))  # names of folders
    return out / "index.html"


def render(
    results: Results,
    exercises: list[statistics.ExerciseStatistics],
    answers: list[Answer],
    pictures: dict[str, Path],
    patterns: Mapping[str, str],
    reasons: Mapping[tuple[str, str], str],
    earlier: Earlier | None = None,
    hints: Sequence[CellHint] = (),
) -> str:
    """The page. ``pictures``: name -> PNG file, put into the page as data; ``patterns`` of ready-made parts.

    reasons: (notebook, exercise) -> why it is judged in the student's own kernel.
    earlier: pairs with answers of earlier terms; None where nobody asked for them.
    hints: exercises whose tests may be wrong.
    """
    alike = by_students(similar_pairs(answers))
    before = by_students(earlier.pairs) if earlier else []
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            assignment=results.assignment,
            summary=summary_of(results),
            unreadable=results.unreadable,
            ungraded=results.ungraded,
            exercises=exercises,
            in_kernel=statistics.in_kernel(results.verdicts),
            reasons=reasons,
            weak=charts.WEAK,
            few=statistics.FEW,
            mistakes=statistics.mistake_counts(results.verdicts),
            times=statistics.times(results.verdicts),
            repairs=statistics.repairs(results.verdicts),
            repair_kinds=statistics.repair_kinds(results.verdicts),
            waiting=statistics.waiting_for_people(results.rows),
            hints=hints,
            disputed=disputed(results.rows),
            refused=refused(results.rows),
            pairs=alike[:SHOWN_PAIRS],
            more_pairs=max(0, len(alike) - SHOWN_PAIRS),
            terms=earlier.names if earlier else "",
            earlier=before[:SHOWN_PAIRS],
            more_earlier=max(0, len(before) - SHOWN_PAIRS),
            same=same_answers(answers),
            alike=ALIKE,
            enough=ENOUGH_TOKENS,
            parts=ready_made(answers, patterns),
            same_tokens=same_tokens(answers),
            asked_nothing=asked_nothing(results.verdicts),
            rows=results.rows,
            waivers=results.table.waivers,
            pictures={name: _inline(path) for name, path in pictures.items()},
            style=_style(),
        )
    )


def summary_of(results: Results) -> Summary:
    top = results.max_points
    counted = [row.points_so_far for row in results.rows if row.state != "infrastructure"]
    decided = [row.points for row in results.rows if row.points is not None]
    return Summary(
        len(results.rows),
        top,
        float(np.mean(counted)) if counted else None,
        float(np.median(counted)) if counted else None,
        sum(points >= top - 1e-9 for points in decided),
        sum(points <= 0 for points in decided),
        sum(row.state == "waiting" for row in results.rows),
        sum(row.state == "infrastructure" for row in results.rows),
        sum(bool(row.deduction) or row.state == "refused" for row in results.rows),
    )


def _inline(path: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"


def earned(row: StudentResult) -> str:
    """``20``; ``16 so far``; an en dash where nothing is decided."""
    if row.points is not None:
        return points(row.points)
    return f"{points(row.points_so_far)} so far" if len(row.waiting) < len(row.exercises) else points(None)


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
    environment.filters |= {
        "points": points,
        "readable": readable,
        "exercise": exercise,
        "duration": duration,
        "earned": earned,
    }
    return environment


@lru_cache(maxsize=1)
def _style() -> str:
    shared = Path(feedback.__file__).parent / "templates" / "page.css"
    return shared.read_text(encoding="utf-8") + (TEMPLATES / "report.css").read_text(encoding="utf-8")
