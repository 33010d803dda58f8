"""TOML files as instructors write them, on Windows too: editors there begin a file with a byte order mark."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def toml_text(data: bytes) -> str:
    """Raises TOMLDecodeError, a ValueError, for another encoding: what it was meant to be cannot be told."""
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise tomllib.TOMLDecodeError(f"line {line} is not in UTF-8: save the file as UTF-8") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Raises OSError, and TOMLDecodeError where it is none."""
    return tomllib.loads(toml_text(path.read_bytes()))
