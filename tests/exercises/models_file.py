"""``models.py`` of the encoder lab: the instructor's, the students' stub, and the solution with other methods."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from autograder.authoring.texts import solutions, with_methods
from tests.grading import ROOT, assignment

FILE = "models.py"


@lru_cache
def solution_file() -> str:
    return solutions(assignment("encoder_lab"))[FILE]


def stub_file() -> str:
    return (ROOT / "release" / "encoder_lab" / FILE).read_text(encoding="utf-8")


def models_file(methods: Mapping[tuple[str, str], str]) -> str:
    """The solution with other bodies in some methods: (class, method) -> statements."""
    return with_methods(solution_file(), methods)
