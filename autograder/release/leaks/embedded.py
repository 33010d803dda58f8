"""Files inside files: a notebook's attachments and outputs, and whatever stands in a text as ``data:...;base64,``; and
texts inside files that are none, such as what a picture says of itself.
"""

import base64
import binascii
import json
import mimetypes
import re
import zlib
from collections.abc import Iterator
from typing import Any

_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/=\s]+)")
_TYPE = re.compile(r"^[\w.+-]+/[\w.+-]+$")
_PNG, _CHUNK_HEAD = b"\x89PNG\r\n\x1a\n", 8
_PRINTED = re.compile(rb"[\t\n\r\x20-\x7e]{16,}")
#: Of a text that a picture has packed, no more than this is read.
MAX_PACKED_BYTES = 1 << 22


def embedded(name: str, text: str) -> Iterator[tuple[str, bytes]]:
    """(name, content) of every file inside a text file called ``name``; the name ends as its type of file does."""
    if name.endswith(".ipynb"):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return
        yield from _in_json(name, document)
    else:
        yield from _in_text(name, text)


def _in_json(name: str, value: Any) -> Iterator[tuple[str, bytes]]:
    if isinstance(value, str):
        yield from _in_text(name, value)
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        yield from _in_text(name, "".join(value))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _in_json(f"{name}!{place}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            text = "".join(item) if isinstance(item, list) and all(isinstance(one, str) for one in item) else item
            if _TYPE.match(key) and isinstance(text, str):  # what attachments and outputs are: type -> content
                yield from _content(f"{name}!{key.partition('/')[0]}", key, text)
            else:
                yield from _in_json(f"{name}!{key}", item)


def _in_text(name: str, text: str) -> Iterator[tuple[str, bytes]]:
    for number, match in enumerate(_DATA_URI.finditer(text), start=1):
        yield from _content(f"{name}!data-{number}", match[1], match[2])


def _content(name: str, kind: str, text: str) -> Iterator[tuple[str, bytes]]:
    named = name + (mimetypes.guess_extension(kind) or "")
    if kind.startswith("text/") or kind.endswith(("+xml", "json")):
        yield from _in_text(name, text)  # as words it is read with the notebook
        if kind == "image/svg+xml":
            yield named, _decoded(text) or text.encode()
        return
    data = _decoded(text)
    if data:
        yield named, data


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def text_in(data: bytes) -> str:
    """What can be read in a file that is no text: long runs of printed characters, and what a PNG has packed."""
    found = [run.decode() for run in _PRINTED.findall(data)]
    return "\n".join([*found, *(_in_png(data) if data.startswith(_PNG) else ())])


def _in_png(data: bytes) -> Iterator[str]:
    at = len(_PNG)
    while at + _CHUNK_HEAD <= len(data):
        begin = at + _CHUNK_HEAD
        kind, end = data[at + 4 : begin], begin + int.from_bytes(data[at : at + 4], "big")
        _, _, content = data[begin:end].partition(b"\0")
        if kind == b"zTXt":
            yield _unpacked(content[1:])
        elif kind == b"iTXt":
            text = content[2:].split(b"\0", 2)[-1]  # after the language and the translated keyword
            yield _unpacked(text) if content[:1] == b"\1" else text.decode("utf-8", "replace")
        elif kind == b"tEXt":
            yield content.decode("utf-8", "replace")
        at = end + 4


def _unpacked(data: bytes) -> str:
    try:
        return zlib.decompressobj().decompress(data, MAX_PACKED_BYTES).decode("utf-8", "replace")
    except zlib.error:
        return ""
