"""What an instructor can ask of the grading of a class."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.classroom.workers import Isolation
from autograder.pipeline.execute import Limits


@dataclass(frozen=True)
class GradingOptions:
    """What the instructor asked for."""

    assignment: str
    students: tuple[str, ...] = ()
    workers: int = 1
    force: bool = False
    scheduler: str | None = None
    isolation: Isolation = "auto"
    limits: Limits = field(default_factory=Limits)
    require_outside: bool = False
