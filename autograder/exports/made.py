"""What a format hands back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Made:
    """The file's bytes; ``notes`` for the teacher; ``left_out``: students who are not in the template."""

    data: bytes
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def number_in(text: str) -> float | None:
    """``50``, ``50.00`` and ``50,00``; None where it is no number."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None
