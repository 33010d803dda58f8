"""The cells of a submitted file, read with bounds: a student decides every byte of it.

Outputs count for nothing and may be very large. They are therefore cut out of the bytes before these are parsed: a
parsed value takes up to sixty times the memory of its text.
"""

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from nbformat import NotebookNode

from autograder.model.cells import checksum_of
from autograder.model.plain_text import writable

MAX_NOTEBOOK_BYTES = 200 << 20
#: Of what is left without outputs, pictures and the state of widgets.
MAX_SOURCE_BYTES = 16 << 20
#: Of the pictures pasted into a notebook, in base64: of one, and of all.
MAX_PICTURE_BYTES, MAX_PICTURES_BYTES = 12 << 20, 32 << 20
_MAX_PICTURES_OF_CELL, _MAX_PICTURE_NAME = 50, 200
MAX_VALUES = 500_000
MAX_CELLS = 20_000
MAX_PARTS = 100_000
MAX_CELL_CHARACTERS = 200_000

_CHUNK = 1 << 20
#: A part of a cell (an output, nbgrader's marks) above this size is cut out, unless it is a picture: nbgrader's marks
#: take 200 bytes.
_MAX_PART_BYTES = 4096
#: Brackets around a key of such a part, in notebook format 4 and in format 3.
_PART_LEVELS = (5, 7)


@dataclass(frozen=True)
class SubmittedCell:
    """One cell of a submission, reduced to what counts.

    attachments: name to mime type to data, of pictures alone. is_as_released: the cell has the checksum that nbgrader
    gave it at some release. A student can forge that, so it decides over the wording of a note and nothing else.
    """

    source: str
    cell_type: str
    grade_id: str | None
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    is_as_released: bool = False


def read_submitted(data: bytes, notes: list[str] | None = None) -> list[SubmittedCell]:
    """The cells of a submitted file. Raises UnreadableNotebook; never trusts the notebook format.

    Reads nbformat 3 and 4 by hand: a notebook saved by another tool need not pass the schema.
    notes: what had to be put right is added to these.
    """
    notes = [] if notes is None else notes
    if len(data) > MAX_NOTEBOOK_BYTES:
        raise UnreadableNotebook(f"the file has {len(data) >> 20} MB; at most {MAX_NOTEBOOK_BYTES >> 20} MB are read")
    data = as_utf8(data, notes)
    document = _parsed(data, _PART_LEVELS[0], notes)
    raw = document.get("cells")
    if raw is None and isinstance(document.get("worksheets"), list):
        sheets = _parsed(data, _PART_LEVELS[1], []).get("worksheets") or []
        raw = [cell for sheet in sheets if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))]
    if not isinstance(raw, list):
        raise UnreadableNotebook("the file is JSON, but has no list of cells")
    if len(raw) > MAX_CELLS:
        raise UnreadableNotebook(f"the file has {len(raw)} cells; at most {MAX_CELLS} are read")
    if any(None in _pictures(cell).values() for cell in raw if isinstance(cell, dict)):
        most = f"{MAX_PICTURE_BYTES >> 20} MB each and {MAX_PICTURES_BYTES >> 20} MB together"
        notes.append(f"pictures were left out of the text: at most {most} are kept")
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
    said = cell.get("cell_type")
    kind = str(said) if said in ("code", "markdown", "raw", "heading") else "code" if said is None else "raw"
    pictures = {name: bundle for name, bundle in _pictures(cell).items() if bundle}
    if not isinstance(marks, dict) or not isinstance(grade_id, str):
        return SubmittedCell(text, kind, None, pictures)
    return SubmittedCell(text, kind, writable(grade_id), pictures, _is_as_released(text, kind, marks))


def _is_as_released(text: str, kind: str, marks: dict[str, Any]) -> bool:
    try:
        cell = NotebookNode(source=text, cell_type=kind, metadata={"nbgrader": marks})
        return bool(marks.get("checksum")) and checksum_of(cell) == marks["checksum"]
    except (KeyError, TypeError, ValueError):
        return False


def _pictures(cell: dict[str, Any]) -> dict[str, dict[str, str] | None]:
    """Name -> mime type -> data; None for one that is too large."""
    attachments = cell.get("attachments")
    if not isinstance(attachments, dict) or cell.get("cell_type") == "code":
        return {}
    found: dict[str, dict[str, str] | None] = {}
    for name, bundle in list(attachments.items())[:_MAX_PICTURES_OF_CELL]:
        if not isinstance(bundle, dict) or len(name) > _MAX_PICTURE_NAME:
            continue
        kinds = {
            kind: "".join(part for part in (data if isinstance(data, list) else [data]) if isinstance(part, str))
            for kind, data in bundle.items()
            if kind.startswith("image/")
        }
        found[writable(name)] = {kind: writable(data) for kind, data in kinds.items()} if bundle else None
    return found


def _parsed(data: bytes, level: int, notes: list[str]) -> dict[str, Any]:
    """The document without its large parts. ``level``: how many brackets stand around the keys of a part."""
    small = without_large_parts(data, level)
    if len(small) > MAX_SOURCE_BYTES + MAX_PICTURES_BYTES:
        raise UnreadableNotebook(
            f"the file has {len(small) >> 20} MB besides its outputs; at most {MAX_SOURCE_BYTES >> 20} MB are read"
        )
    if sum(int(np.count_nonzero(_is_any(chunk, b",[{") & ~inside)) for chunk, inside in _chunks(small)) > MAX_VALUES:
        raise UnreadableNotebook(f"the file holds more than {MAX_VALUES} values besides its outputs")
    return document_of(small, data, notes)


def without_large_parts(data: bytes, level: int) -> bytes:
    """The JSON text with every large object or list of depth ``level`` emptied. Linear in time, small in memory.

    Raises UnreadableNotebook where there are too many of them to be looked at.
    """
    kept: list[bytes] = []
    depth = 0
    part: list[bytes] | None = []  # the part that is being read; None where it has become too large
    size = parts = 0
    room = MAX_PICTURES_BYTES

    def take(text: bytes) -> None:
        nonlocal part, size
        if depth < level:
            kept.append(text)
        elif part is not None:
            size += len(text)
            part.append(text)
            if size > _MAX_PART_BYTES and not (size <= min(MAX_PICTURE_BYTES, room) and _is_picture(part)):
                part = None

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
                room -= size if part and size > _MAX_PART_BYTES else 0
            depth, part, size, start = level if opens else level - 1, [], 0, border + opens
        take(text[start:])
        depth = int(depths[-1]) if depths.size else depth
    return b"".join([*kept, *(part or ())])


def _is_picture(part: list[bytes]) -> bool:
    """Whether a part is an attachment with a picture: mime types to data."""
    begin = b""
    for piece in part:
        begin += piece[:100]
        if len(begin) >= 100:
            break
    return begin.lstrip().startswith(b'"image/')


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


_CONFLICT = re.compile(rb"(?m)^(<{7}|>{7}) ")
#: How files begin that are handed in under the name of a notebook.
_KINDS = (
    (b"PK\x03\x04", "a zip archive, or a document of an office program"),
    (b"%PDF", "a PDF file"),
    (b"\x1f\x8b", "a compressed file"),
    (b"version https://git-lfs", "a pointer of Git LFS in the place of the notebook: 'git lfs pull' fetches it"),
    (b"<", "a web page: the notebook as HTML, or a page to sign in"),
)


class UnreadableNotebook(ValueError):
    """The file is no notebook: what was expected, what came."""


def _windows_1252(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    return bad.decode("cp1252", "replace"), error.end


codecs.register_error("windows-1252", _windows_1252)


def as_utf8(data: bytes, notes: list[str]) -> bytes:
    """The file in UTF-8. Single bytes of another encoding are left for :func:`document_of`."""
    encoding = json.detect_encoding(data)
    if encoding.startswith(("utf-16", "utf-32")) and len(data) > 1:
        notes.append(f"the file was read as {encoding.upper()}; notebooks are UTF-8")
        return data.decode(encoding, "replace").encode("utf-8", "replace")
    return data.removeprefix(codecs.BOM_UTF8)


def document_of(data: bytes, whole: bytes, notes: list[str]) -> dict[str, Any]:
    """The JSON object at the beginning of a file. Raises UnreadableNotebook.

    data: the file without its large parts; whole: with them, to say what it is where it is no notebook.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "windows-1252")
        notes.append("the file was read as Windows-1252; notebooks are UTF-8")
    text = text.strip("\ufeff\x00 \t\r\n")
    try:
        document, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableNotebook(what_it_is(whole) or f"the file is no JSON: {error}"[:200]) from error
    rest = text[end:].strip()
    if rest.startswith("{") and '"cells"' in rest:
        raise UnreadableNotebook("the file holds two notebooks, one after the other")
    if rest:
        notes.append("what stands after the end of the notebook was left out")
    if not isinstance(document, dict):
        raise UnreadableNotebook("the file is JSON, but no notebook")
    return document


def what_it_is(data: bytes) -> str:
    """Why a file cannot be read as a notebook, in words; empty where nobody knows."""
    begin = data[:4000].strip(b"\xef\xbb\xbf\x00 \t\r\n")
    if not data.strip(b"\x00 \t\r\n"):
        return "the file is empty"
    for prefix, what in _KINDS:
        if begin.startswith(prefix):
            return f"the file is {what}"
    if _CONFLICT.search(data):
        return "the file holds git's conflict markers: two versions that nobody has merged"
    if not begin.startswith((b"{", b"[")):
        return "the file is plain text, and no notebook"
    if not data.rstrip(b"\x00 \t\r\n").endswith(b"}"):
        return "the file ends in the middle: it was not saved or copied to its end"
    return ""
