"""The folder ``autograded/<student>/<assignment>/``: notebooks, ``verdicts.json`` and the log of one submission."""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.files.atomic import names_of, replacing
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.plain_text import paragraph
from autograder.model.verdict import Graded, SubmissionVerdict
from autograder.pipeline.mark_scheme import with_marking_guides

MAX_LOG = 50_000  # characters of one entry


def write_autograded(course: Course, graded: Graded, source: Mapping[str, NotebookNode]) -> None:
    """Write the autograded notebooks, ``verdicts.json`` and the log; all of them or none.

    source: the instructor's notebooks, which say how written answers are marked.
    """
    with replacing(course.autograded(graded.verdict.student, graded.verdict.assignment)) as folder:
        for name, notebook in graded.notebooks.items():
            guided = with_marking_guides(notebook, source[name])
            (folder / f"{name}.ipynb").write_text(nbformat.writes(guided) + "\n", encoding="utf-8")
        (folder / "verdicts.json").write_text(verdicts.to_json(graded.verdict), encoding="utf-8")
        (folder / "grading.log").write_text(_lines(graded.log), encoding="utf-8")


def sweep_autograded(course: Course, assignment: str, students: Iterable[str]) -> None:
    """Remove what a run left half-written when it was killed."""
    for student in students:
        folder = course.autograded(student, assignment)
        for leftover in (folder.with_name(name) for name in names_of(folder)[1:]):
            if leftover.exists():
                shutil.rmtree(leftover, ignore_errors=True)


def read_autograded(course: Course, verdict: SubmissionVerdict) -> Graded:
    """What :func:`write_autograded` wrote, for the gradebook; a notebook that is not there is left out."""
    folder = course.autograded(verdict.student, verdict.assignment)
    paths = {one.notebook: folder / f"{one.notebook}.ipynb" for one in verdict.notebooks}
    notebooks = {name: nbformat.read(path, as_version=4) for name, path in paths.items() if path.is_file()}
    return Graded(verdict, notebooks, ())


def read_verdict(course: Course, assignment: str, student: str) -> SubmissionVerdict | None:
    """None where there is none that can be read."""
    try:
        return verdicts.read(course.autograded(student, assignment) / "verdicts.json")
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_log(course: Course, assignment: str, student: str, lines: tuple[str, ...]) -> Path:
    """Keep what the grader said when it failed on a submission. Returns where."""
    path: Path = course.root / ".autograder" / "logs" / assignment / f"{student}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_lines(lines), encoding="utf-8")
    return path


def _lines(lines: tuple[str, ...]) -> str:
    return "".join(f"{paragraph(line, MAX_LOG)}\n" for line in lines if line)
