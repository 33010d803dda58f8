"""An otter-grader notebook read into its parts: configuration, questions with prompt, solution and tests, other cells.

The format is that of ``otter assign``: raw cells with YAML delimit blocks, and ``# BEGIN QUESTION`` holds a question's
name and points. A raw cell may also be written as a Markdown cell with an ``otter`` fence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode

from autograder.errors import GradingError

_BOUNDARY = re.compile(r"#\s+(?:(begin|end)\s+(question|prompt|solution|tests)|(assignment)\s+config)\b", re.I)
_FENCED = re.compile(r"(?ms)^```otter\n(.*?)\n```[ \t]*$")
_IGNORED = re.compile(r"##\s*ignore\s*##", re.I)


@dataclass
class Question:
    """``parts``: kind of block ("text", "prompt", "solution" or "tests") and cell, in the notebook's order."""

    config: dict[str, Any]
    parts: list[tuple[str, NotebookNode]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.config["name"])

    def cells(self, kind: str) -> list[NotebookNode]:
        return [cell for one, cell in self.parts if one == kind]


@dataclass
class OtterNotebook:
    """``parts``: questions, and the cells between them, in order."""

    config: dict[str, Any] = field(default_factory=dict)
    parts: list[Question | NotebookNode] = field(default_factory=list)
    ignored: int = 0


def read_blocks(notebook: NotebookNode) -> OtterNotebook:
    """Raises GradingError where the blocks do not fit together, or there is no question."""
    _require_this_format(notebook)
    found = OtterNotebook()
    question: Question | None = None
    block = ""
    for number, cell in enumerate(_unfenced(notebook.cells), start=1):
        if _IGNORED.match(cell.source.lstrip()):
            found.ignored += 1
            continue
        boundary = _BOUNDARY.match(cell.source) if cell.cell_type == "raw" else None
        if boundary is None:
            if question is None:
                found.parts.append(cell)
            else:
                question.parts.append((block or "text", cell))
            continue
        word, kind = (boundary[1] or "").lower(), (boundary[2] or "").lower()
        if boundary[3]:
            found.config |= _yaml(cell, number)
        elif kind == "question":
            if (word == "begin") == (question is not None) or block:
                raise _misplaced(cell, number)
            question = _question(cell, number) if word == "begin" else None
            if question:
                found.parts.append(question)
        elif question is None or (word == "begin") == bool(block) or (word == "end" and kind != block):
            raise _misplaced(cell, number)
        else:
            block = kind if word == "begin" else ""
    if question is not None:
        raise GradingError(f"question '{question.name}' has no '# END QUESTION'")
    return found


def _question(cell: NotebookNode, number: int) -> Question:
    config = _yaml(cell, number)
    if not config.get("name"):
        raise GradingError(f"cell {number}, '# BEGIN QUESTION', has no name: write 'name: q1' below it")
    return Question(config)


def _yaml(cell: NotebookNode, number: int) -> dict[str, Any]:
    try:
        read = yaml.safe_load(cell.source)
    except yaml.YAMLError as error:
        raise GradingError(f"cell {number} is no YAML: {' '.join(str(error).split())}") from error
    if read is not None and not isinstance(read, dict):
        raise GradingError(f"cell {number}: expected lines like 'name: q1' below its first, not {str(read)[:40]!r}")
    return read or {}


def _misplaced(cell: NotebookNode, number: int) -> GradingError:
    line = cell.source.split("\n")[0].strip()
    return GradingError(f"cell {number}, '{line}', does not fit the blocks before it: one was not begun or not ended")


def _unfenced(cells: list[NotebookNode]) -> Iterator[NotebookNode]:
    """The cells, with each Markdown fence called ``otter`` as the raw cell that it stands for."""
    for cell in cells:
        if cell.cell_type != "markdown" or not _FENCED.search(cell.source):
            yield cell
            continue
        for place, text in enumerate(_FENCED.split(cell.source)):
            if place % 2:
                yield nbformat.v4.new_raw_cell(text)
            elif text.strip():
                yield nbformat.v4.new_markdown_cell(text.strip("\n"))


def _require_this_format(notebook: NotebookNode) -> None:
    language = notebook.metadata.get("kernelspec", {}).get("language") or "python"
    if language.lower() != "python":
        raise GradingError(f"the notebook is written in {language}; only Python can be converted")
    if any(_BOUNDARY.match(cell.source) for cell in _unfenced(notebook.cells) if cell.cell_type == "raw"):
        return
    old = any(re.search(r"(?m)^\s*BEGIN (?:QUESTION|ASSIGNMENT)\s*$", cell.source) for cell in notebook.cells)
    raise GradingError(
        "the notebook is in otter's old format (v0); otter's own converter makes it one with raw cells: "
        "python -m otter.assign.v0.convert"
        if old
        else "the notebook has no raw cell '# BEGIN QUESTION' or '# ASSIGNMENT CONFIG': expected the master notebook "
        "that 'otter assign' takes, not what it makes"
    )
