"""Files inside files: a notebook's attachments and outputs, and whatever stands in a text as ``data:...;base64,``."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
import re
from collections.abc import Iterator
from typing import Any

_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w=.+-]+)*;base64,([A-Za-z0-9+/=\s]+)")
_TYPE = re.compile(r"^[\w.+-]+/[\w.+-]+$")


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
