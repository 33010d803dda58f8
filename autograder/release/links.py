"""Links in a published folder, checked within that folder: what lies in the instructor's alone leads nowhere."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import nbformat

from autograder.model import cells
from autograder.release.findings import Finding, pinned

_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)|\b(?:src|href)\s*=\s*[\"']([^\"']+)")
_CODE = re.compile(r"(?ms)^\s*(```|~~~).*?^\s*\1|`[^`\n]*`")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|/", re.IGNORECASE)


def dead_links(folder: Path, repository: str, present: Collection[str], later: Collection[str]) -> Iterator[Finding]:
    """Every link of a Markdown file or notebook to a file that will not be there.

    repository: OWNER/NAME that the folder is published as; links to its pages lead into the folder, too. present: files
    that an earlier publication left there. later: assignments whose turn comes.
    """
    known = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} | set(present)
    known |= {str(parent) for name in known for parent in PurePosixPath(name).parents}
    coming = tuple(f"release/{name}" for name in later)
    for where, name, text in _texts(folder):
        for link in dict.fromkeys("".join(found) for found in _LINK.findall(_CODE.sub("", text))):
            target = _target(link, name, repository)
            if target is not None and target not in known and not target.startswith(coming or ("\0",)):
                yield pinned("link", where, f"the link {link} leads to {target}, which is not published", link, text)


def _texts(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(where, file, text) of everything in which people follow links."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".md" and path.is_file():
            yield name, name, path.read_text(encoding="utf-8", errors="replace")
        elif path.suffix == ".ipynb" and path.is_file():
            for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
                if cell.cell_type == "markdown":
                    yield f"{name}, {cells.place(cell, number)}", name, cell.source


def _target(link: str, file: str, repository: str) -> str | None:
    """The path in the folder that a link of a file leads to; None where it leads out of the folder."""
    path = unquote(link.partition("#")[0].partition("?")[0])
    page = re.match(rf"https://(?:github\.com|colab\.research\.google\.com/github)/{re.escape(repository)}/", link)
    if page:
        inside = re.fullmatch(r"(?:blob|tree|raw)/[^/]+/(.+)", path[page.end() :])
        return os.path.normpath(inside[1]) if inside else None
    if _ELSEWHERE.match(link) or not path:
        return None
    return os.path.normpath(PurePosixPath(file).parent / path)
