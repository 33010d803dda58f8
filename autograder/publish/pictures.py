"""Pictures cannot be searched for solutions. So an instructor looks at each, and accepts it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from autograder.release.findings import Finding
from autograder.release.leaks.embedded import embedded

_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg", ".avif", ".ico", ".pdf"}
#: What a picture begins with, whatever it is called.
_BEGINNINGS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"%PDF")
_TEXTS = {".ipynb", ".md", ".html", ".htm", ".svg", ".css", ".py", ".json", ".txt", ".rst"}


def pictures(folder: Path) -> list[Finding]:
    """Every picture in a folder, those inside notebooks and pages too, in order. Digests begin as ``sha256sum``'s."""
    found: list[Finding] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        found += _of_file(str(path.relative_to(folder)), path.read_bytes())
    return found


def _of_file(name: str, data: bytes) -> Iterator[Finding]:
    if is_picture(name, data):
        yield Finding("picture", name, "a picture can show an answer", hashlib.sha256(data).hexdigest()[:32])
    if Path(name).suffix.lower() in _TEXTS:
        for inside, content in embedded(name, data.decode("utf-8", "replace")):
            yield from _of_file(inside, content)


def is_picture(name: str, data: bytes) -> bool:
    known = Path(name).suffix.lower() in _SUFFIXES or data.startswith(_BEGINNINGS)
    return known or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
