"""Points, names and results in words that people read: on feedback pages, in the report and in CI."""

from __future__ import annotations

import re

#: status -> what a student reads.
WORDS = {
    "passed": "all right",
    "partial": "partly right",
    "failed": "not right yet",
    "crashed": "stopped before it was done",
    "timeout": "took too long",
    "missing": "not there",
    "manual": "waits to be read by a person",
    "ungradable": "could not be graded: a person looks at what was handed in",
    "infrastructure": "could not be graded: our fault, not yours, and it will be tried again",
}


def readable(name: str) -> str:
    """``2_attention_block`` -> ``2 Attention block``."""
    words = name.replace("_", " ").replace("-", " ").strip()
    return re.sub(r"[^\W\d_]", lambda letter: letter[0].upper(), words, count=1)


def points(value: float | None) -> str:
    """Points as people write them; an en dash where nobody has decided yet."""
    return "–" if value is None else f"{round(value, 2):g}"


def in_points(value: float | None) -> str:
    """``1 point``, ``1.5 points``."""
    return f"{points(value)} point{'' if value == 1 else 's'}"
