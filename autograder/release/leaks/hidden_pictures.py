"""Pictures that only a solution or a mark scheme shows: inside its cell, or in a file beside the notebook."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.model import cells
from autograder.release.clear import leaves_traces, shows
from autograder.release.leaks.embedded import embedded
from autograder.release.leaks.secrets import split_cell

#: What one looks at; data that a hidden test reads is none of it.
_SHOWN = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".pdf", ".html"}


def hidden_pictures(assignment: Assignment) -> dict[str, str]:
    """SHA-256 of a picture's bytes -> whose it is, for all that no visible text of the assignment shows."""
    hidden: dict[str, str] = {}
    shown: set[str] = set()
    removed: dict[str, str] = {}  # text that a release takes out -> whose it is
    visible = [data.decode("utf-8", "replace") for name, data in assignment.files.items() if name.endswith(".md")]
    for name, notebook in {**assignment.source, **assignment.other_languages}.items():
        for number, cell in enumerate(notebook.cells):
            owner = f"{assignment.name}/{name}/{cells.grade_id(cell) or f'cell {number}'}"
            regions, text = split_cell(cell, owner)
            visible.append(text)
            removed |= {"\n".join(region.lines): region.owner for region in regions}
            for attachment, digest in _inside(cell):
                if not (shows(text, attachment) if attachment else not leaves_traces(cell)):
                    hidden.setdefault(digest, f"a picture of {regions[0].owner if regions else owner}")
                else:
                    shown.add(digest)
    for name, data in assignment.files.items():
        digest = hashlib.sha256(data).hexdigest()
        owners = [owner for text, owner in removed.items() if _names(text, name)]
        if PurePosixPath(name).suffix.lower() not in _SHOWN or not owners:
            continue
        if any(_names(text, name) for text in visible):
            shown.add(digest)
        else:
            hidden.setdefault(digest, f"a picture that only {owners[0]} shows")
    return {digest: owner for digest, owner in hidden.items() if digest not in shown}


def _inside(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    """(name of the attachment, empty for an output; digest) of each picture in a cell's fields."""
    for name, attachment in cell.get("attachments", {}).items():
        alone = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(attachments={name: attachment})])
        yield from ((name, _digest(data)) for _, data in embedded("a.ipynb", nbformat.writes(alone)))
    if cell.get("outputs"):
        alone = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=cell.outputs)])
        yield from (("", _digest(data)) for _, data in embedded("a.ipynb", nbformat.writes(alone)))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _names(text: str, file: str) -> bool:
    """Whether a text names a file, by its path or by its last part."""
    return any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) for name in (file, quote(file)))
