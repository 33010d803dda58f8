"""The cells of a submitted file, read with bounds: a student decides every byte of it.

Outputs count for nothing and may be very large. They are therefore cut out of the bytes before these are parsed: a
parsed value takes up to sixty times the memory of its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.model.plain_text import writable

MAX_NOTEBOOK_BYTES = 200 << 20
#: Of what is left without outputs, attachments and the state of widgets.
MAX_SOURCE_BYTES = 16 << 20
MAX_VALUES = 500_000
MAX_CELLS = 20_000
MAX_PARTS = 100_000
MAX_CELL_CHARACTERS = 200_000

_CHUNK = 1 << 20
#: A part of a cell (an output, nbgrader's marks) above this size is cut out: nbgrader's marks take 200 bytes.
_MAX_PART_BYTES = 4096
#: Brackets around a key of such a part, in notebook format 4 and in format 3.
_PART_LEVELS = (5, 7)


class UnreadableNotebook(ValueError):
    """The file is no notebook: what was expected, what came."""


@dataclass(frozen=True)
class SubmittedCell:
    """One cell of a submission, reduced to what counts."""

    source: str
    cell_type: str
    grade_id: str | None


def read_submitted(data: bytes) -> list[SubmittedCell]:
    """The cells of a submitted file. Raises UnreadableNotebook; never trusts the notebook format.

    Reads nbformat 3 and 4 by hand: a notebook saved by another tool need not pass the schema.
    """
    if len(data) > MAX_NOTEBOOK_BYTES:
        raise UnreadableNotebook(f"the file has {len(data) >> 20} MB; at most {MAX_NOTEBOOK_BYTES >> 20} MB are read")
    document = _parsed(data, _PART_LEVELS[0])
    raw = document.get("cells")
    if raw is None and isinstance(document.get("worksheets"), list):
        sheets = _parsed(data, _PART_LEVELS[1]).get("worksheets") or []
        raw = [cell for sheet in sheets if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))]
    if not isinstance(raw, list):
        raise UnreadableNotebook("the file is JSON, but has no list of cells")
    if len(raw) > MAX_CELLS:
        raise UnreadableNotebook(f"the file has {len(raw)} cells; at most {MAX_CELLS} are read")
    return [_sent(cell) for cell in raw if isinstance(cell, dict)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _sent(cell: dict[str, object]) -> SubmittedCell:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    # a lone surrogate is legal JSON, but no text that could be saved again
    text = writable(source[:MAX_CELL_CHARACTERS]) if isinstance(source, str) else ""
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = marks.get("grade_id") if isinstance(marks, dict) else None
    kind = cell.get("cell_type")
    return SubmittedCell(
        text,
        kind if kind in ("code", "markdown", "raw", "heading") else "code" if kind is None else "raw",
        writable(grade_id) if isinstance(grade_id, str) else None,
    )


def _parsed(data: bytes, level: int) -> dict[str, Any]:
    """The document without its large parts. ``level``: how many brackets stand around the keys of a part."""
    small = without_large_parts(data, level)
    if len(small) > MAX_SOURCE_BYTES:
        raise UnreadableNotebook(
            f"the file has {len(small) >> 20} MB besides its outputs; at most {MAX_SOURCE_BYTES >> 20} MB are read"
        )
    if sum(int(np.count_nonzero(_is_any(chunk, b",[{") & ~inside)) for chunk, inside in _chunks(small)) > MAX_VALUES:
        raise UnreadableNotebook(f"the file holds more than {MAX_VALUES} values besides its outputs")
    try:
        document = json.loads(small.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UnreadableNotebook(f"the file is no JSON: {error}"[:200]) from error
    if not isinstance(document, dict):
        raise UnreadableNotebook("the file is JSON, but no notebook")
    return document


def without_large_parts(data: bytes, level: int) -> bytes:
    """The JSON text with every large object or list of depth ``level`` emptied. Linear in time, small in memory.

    Raises UnreadableNotebook where there are too many of them to be looked at.
    """
    kept: list[bytes] = []
    depth = 0
    part: list[bytes] | None = []  # the part that is being read; None where it has become too large
    size = parts = 0

    def take(text: bytes) -> None:
        nonlocal part, size
        if depth < level:
            kept.append(text)
        elif part is not None:
            size += len(text)
            part = None if size > _MAX_PART_BYTES else [*part, text]

    for text, inside in _chunks(data):
        characters = np.frombuffer(text, dtype=np.uint8)
        steps = ((characters == ord("{")) | (characters == ord("["))).astype(np.int8)
        steps -= (characters == ord("}")) | (characters == ord("]"))
        steps[inside] = 0
        depths = depth + np.cumsum(steps, dtype=np.int32)
        borders = np.flatnonzero(((depths == level) & (steps == 1)) | ((depths == level - 1) & (steps == -1)))
        if (parts := parts + len(borders) // 2) > MAX_PARTS:
            raise UnreadableNotebook(f"the file holds more than {MAX_PARTS} outputs")
        start = 0
        for border, opens in zip(borders.tolist(), (steps[borders] == 1).tolist(), strict=True):
            take(text[start : border + opens])
            if not opens:
                kept.extend(part or ())
            depth, part, size, start = level if opens else level - 1, [], 0, border + opens
        take(text[start:])
        depth = int(depths[-1]) if depths.size else depth
    return b"".join([*kept, *(part or ())])


def _chunks(data: bytes) -> Iterator[tuple[bytes, np.ndarray]]:
    """Pieces of a JSON text, each with a mask of the bytes that lie within a string; no escape is torn apart."""
    start, inside = 0, False
    while start < len(data):
        text = data[start : start + _CHUNK]
        backslashes = len(text) - len(text.rstrip(b"\\"))
        if backslashes % 2 and start + len(text) < len(data):
            text = text[:-1]
        # of escapes only the quoted quote matters, and the backslash before it may itself be escaped
        plain = text.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in text else text
        quotes = np.frombuffer(plain, dtype=np.uint8) == ord('"')
        within = np.logical_xor.accumulate(quotes) ^ inside
        yield text, within
        inside, start = bool(within[-1]), start + len(text)


def _is_any(text: bytes, wanted: bytes) -> np.ndarray:
    table = np.zeros(256, dtype=bool)
    table[list(wanted)] = True
    return table[np.frombuffer(text, dtype=np.uint8)]
