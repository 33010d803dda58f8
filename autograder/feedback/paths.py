"""Tracebacks without the grader's folders: a student has use for the file's name, and for nothing before it."""

from __future__ import annotations

import re
import sys
from copy import deepcopy
from pathlib import Path

from nbformat import NotebookNode

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
