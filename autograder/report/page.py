"""The class report: everything on one self-contained page, its pictures beside it as files."""

import base64
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

import jinja2
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from autograder import feedback
from autograder.assignment.assignment import Assignment
from autograder.feedback.words import points, readable
from autograder.files.atomic import write_file
from autograder.files.temporary import TemporaryFolder
from autograder.gradebook.read import Student
from autograder.gradebook.results import CellHint, StudentResult, hints_of
from autograder.gradebook.roster import read_salt, with_salt
from autograder.model.course import Course
from autograder.model.verdict import SubmissionVerdict
from autograder.pipeline.judge_questions import ASKED_NOTHING, OTHER_STUDENT
from autograder.plain.where import judged_in_kernel
from autograder.report import statistics
from autograder.report.picture import ACCENT, INK, SOFT, class_picture, plot_distribution
from autograder.report.similarity import (
    ALIKE,
    ENOUGH_TOKENS,
    Answer,
    EarlierTerm,
    Pair,
    by_students,
    pairs_with_earlier,
    read_answers,
    read_earlier,
    same_answers,
    similar_pairs,
)
from autograder.report.statistics import ExerciseStatistics, Results, read_results

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
            "distribution": distribution(results.verdicts, fresh / "distribution.png"),
            "exercises": exercise_chart(exercises, fresh / "exercises.png"),
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
    listed: Mapping[str, Sequence[str]],
    reasons: Mapping[tuple[str, str], str],
    earlier: Earlier | None = None,
    hints: Sequence[CellHint] = (),
) -> str:
    """The page. ``pictures``: name -> PNG file, put into the page as data; ``listed``: the course's ready-made parts.

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
            weak=WEAK,
            few=statistics.FEW,
            mistakes=statistics.mistake_counts(results.verdicts),
            times=statistics.times(results.verdicts),
            repairs=statistics.repairs(results.verdicts),
            repair_kinds=statistics.repair_kinds(results.verdicts),
            waiting=statistics.waiting_for_people(results.rows),
            hints=hints,
            pairs=alike[:SHOWN_PAIRS],
            more_pairs=max(0, len(alike) - SHOWN_PAIRS),
            terms=earlier.names if earlier else "",
            earlier=before[:SHOWN_PAIRS],
            more_earlier=max(0, len(before) - SHOWN_PAIRS),
            same=same_answers(answers),
            alike=ALIKE,
            enough=ENOUGH_TOKENS,
            parts=ready_made(results.verdicts, listed),
            own_code=for_a_person(results.verdicts),
            rows=results.rows,
            mates=tuple(row for row in results.table.rows if row.submitted_by),
            waivers=results.table.waivers,
            pictures={
                name: f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
                for name, path in pictures.items()
            },
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


def under_pseudonyms(root: Path, results: Results, answers: Sequence[Answer]) -> tuple[Results, list[Answer]]:
    """Both with pseudonyms in the place of ids, in the pseudonyms' order; names and addresses are gone."""
    salt = read_salt(root)

    def row(one: StudentResult) -> StudentResult:
        name, by = with_salt(salt, one.student.id), one.submitted_by and with_salt(salt, one.submitted_by)
        return replace(one, student=Student(name), submitted_by=by, verdict=_verdict(one.verdict, name))

    table = results.table
    rows = tuple(sorted(map(row, table.rows), key=lambda one: one.student.id))
    unreadable = {with_salt(salt, student): why for student, why in table.unreadable.items()}
    hidden = Results(replace(table, rows=rows, unreadable=unreadable))
    return hidden, [replace(one, student=with_salt(salt, one.student)) for one in answers]


def _verdict(verdict: SubmissionVerdict | None, name: str) -> SubmissionVerdict | None:
    if verdict is None:
        return None
    return replace(verdict, student=name, notebooks=tuple(replace(one, student=name) for one in verdict.notebooks))


def for_a_person(verdicts: Sequence[SubmissionVerdict]) -> list[tuple[str, str, str]]:
    """(cell, student, reason) where code was asked nothing, or another student's questions were answered."""
    return [
        (cell.cell, verdict.student, check.message)
        for verdict in verdicts for notebook in verdict.notebooks for cell in notebook.cells
        for check in cell.checks if check.name in (ASKED_NOTHING, OTHER_STUDENT)
    ]  # fmt: skip


def ready_made(
    verdicts: Sequence[SubmissionVerdict], listed: Mapping[str, Sequence[str]]
) -> list[tuple[str, str, tuple[str, ...]]]:
    """(part, cell, students) for every ready-made part that ran in students' answers.

    listed: as in ``CourseFile.ready_made``.
    """
    uses: dict[tuple[str, str], set[str]] = defaultdict(set)
    for verdict, cell in ((one, cell) for one in verdicts for book in one.notebooks for cell in book.cells):
        given = listed.get(f"{verdict.assignment}/{cell.cell}", ())
        for name in (name for name in cell.ready_made if not _among(name, given)):
            for label in (label for label, names in listed.items() if "/" not in label and _among(name, names)):
                uses[label, cell.cell].add(verdict.student)
    order = list(listed)
    found = sorted(uses.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    return [(label, cell, tuple(sorted(students))) for (label, cell), students in found]


def _among(name: str, names: Iterable[str]) -> bool:
    return any(fnmatchcase(name, one) or fnmatchcase(name, f"{one}.*") for one in names)


#: An exercise that separates less than this separates hardly at all.
WEAK = 0.2
#: Of every picture, in inches: narrow enough that its words can be read on a telephone.
WIDTH = 5.6


def distribution(verdicts: Sequence[SubmissionVerdict], path: Path) -> Path:
    figure = _figure(2.6)
    plot_distribution(figure.add_axes((0.1, 0.2, 0.88, 0.68)), verdicts)
    figure.savefig(path)
    return path


def exercise_chart(statistics: Sequence[ExerciseStatistics], path: Path) -> Path:
    """Per exercise the mean share of the points, and how well it tells students apart."""
    names = [one.cell.replace("_", " ") for one in statistics]
    left = 0.085 * max(len(name) for name in names) + 0.2
    height, width = 0.3 * len(names) + 0.9, (WIDTH - left) / 2 - 0.15
    figure = _figure(height)
    bottom, tall = 0.6 / height, 1 - 0.9 / height
    shares = figure.add_axes((left / WIDTH, bottom, width / WIDTH, tall))
    apart = figure.add_axes(((left + width + 0.2) / WIDTH, bottom, width / WIDTH, tall))
    _bars(shares, [one.difficulty for one in statistics], (0, 1), "mean share of the points")
    _bars(apart, [one.discrimination for one in statistics], (-0.3, 1), "discrimination")
    shares.set_yticks(range(len(names)), [name.replace("$", r"\$") for name in names], fontsize=9, color=INK)
    apart.axvline(WEAK, color="#b07a00", linewidth=1, linestyle=":")
    figure.savefig(path)
    return path


def _bars(axes: Axes, values: Sequence[float | None], limits: tuple[float, float], label: str) -> None:
    lengths = np.array([np.nan if value is None else value for value in values], dtype=float)
    lines = np.arange(len(lengths))
    axes.barh(
        lines, np.nan_to_num(lengths), height=0.62, color=[ACCENT if value >= 0 else "#b4481d" for value in lengths]
    )
    for line, value in zip(lines, lengths, strict=True):
        text = "–" if np.isnan(value) else f"{value:.2f}"
        axes.text(max(0.0, float(np.nan_to_num(value))) + 0.02, float(line), text, va="center", fontsize=8, color=INK)
    axes.set_xlim(limits[0], limits[1] + 0.15)
    axes.set_ylim(len(lengths) - 0.4, -0.6)
    axes.set_yticks([])
    axes.set_xticks([0, 0.5, 1])
    axes.set_xlabel(label, fontsize=9, color=SOFT)
    axes.tick_params(length=0, labelsize=8, colors=SOFT)
    axes.spines[:].set_visible(False)
    axes.axvline(0, color=SOFT, linewidth=0.8)


def _figure(height: float) -> Figure:
    figure = Figure(figsize=(WIDTH, height), dpi=160, facecolor="white")
    FigureCanvasAgg(figure)
    return figure
