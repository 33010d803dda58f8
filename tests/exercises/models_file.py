"""``models.py`` of the encoder lab: the instructor's, the students' stub, and the solution with other methods."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from autograder.assignment.submission import Submission
from autograder.authoring.trial import solutions, with_methods
from autograder.model.verdict import NotebookVerdict
from autograder.pipeline.execute import Limits
from autograder.pipeline.grade import grade_submission
from tests.grading import ROOT, assignment, exercises_alone, filled, kernels

FILE = "models.py"
#: The notebooks whose exercises the file answers.
NOTEBOOKS = ("1_attention", "2_encoder")


@lru_cache
def solution_file() -> str:
    return solutions(assignment("encoder_lab"))[FILE]


def stub_file() -> str:
    return (ROOT / "release" / "encoder_lab" / FILE).read_text(encoding="utf-8")


def graded(files: Mapping[str, bytes]) -> NotebookVerdict:
    """The cells of both notebooks as one verdict; the answers in cells are right."""
    alone = {name: exercises_alone("encoder_lab", name) for name in NOTEBOOKS}
    opened = replace(
        assignment("encoder_lab"),
        source={name: source for name, (source, _) in alone.items()},
        release={name: release for name, (_, release) in alone.items()},
    )
    books = {name: filled("encoder_lab", name, {}, release) for name, (_, release) in alone.items()}
    first, second = grade_submission(
        Submission("student", books, dict(files), ()), opened, kernels(), Limits()
    ).verdict.notebooks
    return replace(first, cells=first.cells + second.cells)


def models_file(methods: Mapping[tuple[str, str], str]) -> str:
    """The solution with other bodies in some methods: (class, method) -> statements."""
    return with_methods(solution_file(), methods)
