"""Pictures cannot be searched for solutions. So an instructor looks at each, and approves it by its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.release.leaks.embedded import embedded

#: In the course's folder: one line for each picture that somebody looked at, as ``sha256sum`` writes it.
APPROVED = "approved_pictures.sha256"
_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg", ".avif", ".ico", ".pdf"}
#: What a picture begins with, whatever it is called.
_BEGINNINGS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"%PDF")
_TEXTS = {".ipynb", ".md", ".html", ".htm", ".svg", ".css", ".py", ".json", ".txt", ".rst"}


@dataclass(frozen=True)
class Picture:
    """``name``: its path, and where in the file it lies when it lies inside one."""

    name: str
    digest: str


def pictures(folder: Path) -> list[Picture]:
    """Every picture in a folder, those inside notebooks and pages too, in order."""
    found: list[Picture] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        found += _of_file(str(path.relative_to(folder)), path.read_bytes())
    return found


def _of_file(name: str, data: bytes) -> Iterator[Picture]:
    suffix = Path(name).suffix.lower()
    if suffix in _SUFFIXES or data.startswith(_BEGINNINGS) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP"):
        yield Picture(name, hashlib.sha256(data).hexdigest())
    if suffix in _TEXTS:
        for inside, content in embedded(name, data.decode("utf-8", "replace")):
            yield from _of_file(inside, content)


def approved(root: Path) -> set[str]:
    """The digests of all pictures that were approved for this course."""
    try:
        lines = (root / APPROVED).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return set()
    return {line.split()[0].lower() for line in lines if line.strip() and not line.startswith("#")}


def approve(root: Path, seen: list[Picture]) -> None:
    """Write down that these were looked at. A picture that was replaced is approved no longer."""
    path = root / APPROVED
    names = {picture.name for picture in seen}
    before = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept = [line for line in before if line.partition("  ")[2] not in names]
    lines = sorted({*kept, *(f"{picture.digest}  {picture.name}" for picture in seen)}, key=lambda line: line[64:])
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
