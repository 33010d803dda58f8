"""What a format hands back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.exports.sheet import Cell, neutral


@dataclass(frozen=True)
class ExportFile:
    """The file's bytes; ``notes`` for the instructor; ``left_out``: students who are not in the template."""

    data: bytes
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def number_in(text: str) -> float | None:
    """``50``, ``50.00`` and ``50,00``; None where it is no number."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def spoilt_keys(lines: Sequence[Sequence[Cell]], keys: Sequence[str]) -> tuple[str, ...]:
    """A note where a key begins like a formula. It is made harmless like every cell; the importer will not know it.

    lines: the header first. keys: the columns by which the importer finds a student.
    """
    header, *rows = lines
    places = [index for index, title in enumerate(header) if str(title).strip() in keys]
    spoilt = [cell for row in rows for index in places if isinstance(cell := row[index], str) and neutral(cell) != cell]
    if not spoilt:
        return ()
    return (f"written with an apostrophe, for they begin like a formula; match them by hand: {', '.join(spoilt[:10])}",)
