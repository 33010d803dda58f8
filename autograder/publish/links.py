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
_BLOCK = re.compile(r"(?ms)^\s*(```|~~~).*?^\s*\1")
_CODE = re.compile(r"`[^`\n]*`")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|/", re.IGNORECASE)
_HEADING = re.compile(r"(?m)^\s{0,3}#{1,6}\s+(.+?)[\s#]*$")
_NAMED = re.compile(r"\b(?:id|name)\s*=\s*[\"']([^\"']+)")


def dead_links(folder: Path, repository: str, present: Collection[str], later: Collection[str]) -> Iterator[Finding]:
    """Every link of a Markdown file or notebook to a file, or a heading of one, that will not be there.

    repository: OWNER/NAME that the folder is published as; links to its pages lead into the folder, too. present: files
    that an earlier publication left there. later: assignments whose turn comes.
    """
    known = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} | set(present)
    known |= {str(parent) for name in known for parent in PurePosixPath(name).parents}
    coming = tuple(f"release/{name}" for name in later)
    texts = list(_texts(folder))
    headings: dict[str, list[str]] = {}
    for _, name, text in texts:
        headings.setdefault(name, []).extend(_headings(_BLOCK.sub("", text)))
    for where, name, text in texts:
        for link in dict.fromkeys("".join(found) for found in _LINK.findall(_CODE.sub("", _BLOCK.sub("", text)))):
            target = _target(link, name, repository)
            if target is None or target.startswith(coming or ("\0",)):
                continue
            part = unquote(link.partition("#")[2])
            heading = "" if "=" in part else _plain(part)  # Colab's scrollTo=... names a cell
            if target not in known:
                yield pinned("link", where, f"the link {link} leads to {target}, which is not published", link, text)
            elif heading and target in headings and heading not in _numbered(headings[target]):
                said = f"the link {link} leads to a heading that {target} does not have"
                yield pinned("link", where, said, link, text)


def _headings(text: str) -> Iterator[str]:
    """What a link to a part of the text may name."""
    for found in (*_HEADING.findall(text), *_NAMED.findall(text)):
        yield _plain(found)


def _numbered(headings: list[str]) -> set[str]:
    """A second heading of the same words is called so with -1 behind it."""
    return {f"{one}{headings[:place].count(one) or ''}" for place, one in enumerate(headings)}


def _plain(heading: str) -> str:
    """Letters and digits alone: of the rest, GitHub, Jupyter and Colab each make something else."""
    return re.sub(r"[\W_]+", "", re.sub(r"\]\([^)]*\)", "", heading)).casefold()


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
    if _ELSEWHERE.match(link):
        return None
    if not path:
        return file
    return os.path.normpath(PurePosixPath(file).parent / path)
