"""Students a few at a time: what is read of a part of a class is forgotten before the next part is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

#: A query names twice as many at most, and an old SQLite takes no more than 999.
PART = 450


def parts_of(students: Sequence[str]) -> Iterator[Sequence[str]]:
    """All of them, in order, ``PART`` at a time."""
    for start in range(0, len(students), PART):
        yield students[start : start + PART]
