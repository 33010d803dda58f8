"""The bytes of a submitted file as text, and what the file is where it is no notebook."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

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
