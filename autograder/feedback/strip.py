"""Cutting out what students are not meant to read: hidden tests, solutions, and the grader's folders in tracebacks."""

import re
import sys
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.model import cells

_MARK_SCHEME = re.compile(r"^.*BEGIN MARK SCHEME.*$[\s\S]*?(^.*END MARK SCHEME.*$|\Z)", re.MULTILINE)
_SOLUTION = re.compile(r"^.*BEGIN SOLUTION.*$[\s\S]*?(^.*END SOLUTION.*$|\Z)", re.MULTILINE)
_HIDDEN_LINE = "[a line of the grader's own]"
#: A hidden line shorter than this says nothing, and may stand in anybody's code.
_TELLING = 20


def without_hidden_tests(notebook: NotebookNode) -> NotebookNode:
    """A copy without hidden tests, mark schemes and model answers.

    A hidden line is blanked in outputs as well: a traceback or a curious print may have quoted it.
    """
    copy = nbformat.from_dict(deepcopy(notebook))
    hidden: set[str] = set()
    copy.cells = [cell for cell in copy.cells if not _is_mark_scheme(cell.source)]
    for cell in copy.cells:
        cell.source = _MARK_SCHEME.sub("", cell.source)
        if not cells.is_locked(cell):
            continue
        parts = cells.split_hidden(cell.source)
        hidden |= {line.strip() for line in parts.hidden.split("\n") if len(line.strip()) >= _TELLING}
        cell.source = _SOLUTION.sub("", parts.visible)
    own = "\n".join(cell.source for cell in copy.cells)
    telling = sorted((line for line in hidden if line not in own), key=len, reverse=True)
    for cell in copy.cells:
        for output in cell.get("outputs", []):
            _blank(output, telling)
    return copy


def _is_mark_scheme(source: str) -> bool:
    return bool(source.strip()) and not _MARK_SCHEME.sub("", source).strip()


def _blank(output: NotebookNode, telling: list[str]) -> None:
    for field in ("text", "evalue"):
        if isinstance(output.get(field), str):
            output[field] = _without(output[field], telling)
    if output.get("traceback"):
        output["traceback"] = [_without(line, telling) for line in output["traceback"]]
    for kind, value in output.get("data", {}).items():
        if isinstance(value, str) and kind.startswith("text/"):
            output["data"][kind] = _without(value, telling)
    for told in output.get("metadata", {}).values():
        if isinstance(told, dict) and isinstance(told.get("alt"), str):
            told["alt"] = _without(told["alt"], telling)


def _without(text: str, telling: list[str]) -> str:
    for line in telling:
        text = text.replace(line, _HIDDEN_LINE)
    return text


# Tracebacks without the grader's folders: a student has use for the file's name, and for nothing before it.

#: Begins after a colour's code, or where no other path or word does.
_PATH = re.compile(
    r"""(?:(?<=\x1b\[\dm)|(?<=\x1b\[\d\dm)|(?<![\w./~-]))~?(?:[A-Za-z]:)?(?:[/\\][^\s:"'<>/\\\x1b]+)+\.(?:py|pyx|ipynb)\b"""
)
#: Taken away first, for their names may hold spaces.
_OWN = {sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]), str(Path.home())}
_ROOTS = sorted((root for root in _OWN if len(root) > 3), key=len, reverse=True)
_LIBRARIES = ("site-packages", "dist-packages")


def without_paths(notebook: NotebookNode, library: str) -> NotebookNode:
    """A copy whose errors and warnings name files as a student knows them: ``models.py``, and ``course/check.py`` where
    ``library``, what the notebooks import, is called ``course``.
    """
    copy = deepcopy(notebook)
    for cell in copy.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                output.traceback = [shortened(line, library) for line in output.get("traceback", [])]
                output.evalue = shortened(output.get("evalue", ""), library)
            elif output.output_type == "stream" and output.get("name") == "stderr":
                output.text = shortened(output.text, library)
    return copy


def shortened(text: str, library: str) -> str:
    for root in _ROOTS:
        text = text.replace(f"{root}/", "/")
    return _PATH.sub(lambda found: _short(found, library.partition(".")[0]), text)


def _short(found: re.Match[str], library: str) -> str:
    parts = re.split(r"[/\\]", found[0])
    for number, part in reversed(list(enumerate(parts[:-1]))):
        if part.startswith("ipykernel_"):
            return "your notebook"
        if part in _LIBRARIES or re.fullmatch(r"python3[.]\d+", part):
            return "/".join(parts[number + 1 :])
        if library and part == library:
            return "/".join(parts[number:])
    return parts[-1]
