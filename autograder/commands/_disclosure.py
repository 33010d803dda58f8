"""Options that name a moment: until when hidden tests are held back, and what is published."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from autograder.errors import GradingError

VisibleOnly = Annotated[
    bool, typer.Option("--visible-only", help="Show the visible checks; hold hidden tests back. Not with --until.")
]
Until = Annotated[
    str | None, typer.Option(metavar="DATETIME", help="Hold hidden tests back until then: 2026-12-01T18:00+01:00.")
]


def check_one(visible_only: bool, until: str | None) -> None:
    """Raises GradingError where both are given."""
    if visible_only and until is not None:
        raise GradingError("--visible-only holds hidden tests back for good, --until for a time: give one of them")


def moment(text: str) -> datetime:
    """An aware moment. Raises GradingError where the text is none, or names no time zone."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise GradingError(f"--until takes a moment with its time zone, say 2026-12-01T18:00+01:00, not {text!r}")
    return when


def day(text: str) -> datetime:
    """A day, or a moment, which is UTC's where it names no time zone. Raises GradingError where the text is neither."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise GradingError(f"--until takes a day such as 2027-01-15, or a time, not {text!r}") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)
