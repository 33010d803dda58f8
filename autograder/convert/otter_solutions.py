"""Otter's marks in a solution cell (``# SOLUTION``, ``# BEGIN PROMPT``, ``# SEED``) as nbgrader's regions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.errors import GradingError

_LINE = re.compile(r"^(?P<code>.*?)\s*#\s?(?P<mark>SOLUTION NO PROMPT|SOLUTION|SEED|IGNORE)\s*$")
_BEGIN = re.compile(r"^\s*#\s?BEGIN (?P<what>SOLUTION|IGNORE)(?: NO PROMPT)?\s*$")
_END = re.compile(r"#\s?END (?P<what>SOLUTION|IGNORE)\s*$")
_PROMPT = re.compile(r"^\s*(?:\"{3}|'{3}|\"|')\s*#\s?BEGIN PROMPT\s*$")
_PROMPT_END = re.compile(r"#\s?END PROMPT\s*$")
#: What stays of an assignment in otter's stub: everything up to its sign.
_ASSIGNED = re.compile(r"^\s*((?:[\w.]+(?:\[['\"].*?['\"]\])*(?:,\s*)?)+\s*=)(?!=)")


@dataclass(frozen=True)
class _Line:
    """kind: "given", "solution" (nbgrader takes it out) or "prompt" (otter puts it in)."""

    kind: str
    text: str
    hint: str = ""


def is_marked(source: str) -> bool:
    """True where a line carries one of otter's marks for solutions."""
    return any(_LINE.match(line) or _BEGIN.match(line) or _PROMPT.match(line) for line in source.split("\n"))


def without_ignored(source: str) -> str:
    """The code without the lines that otter leaves out of every notebook."""
    kept: list[str] = []
    inside = False
    for line in source.split("\n"):
        begin, end, marked = _BEGIN.match(line), _END.search(line), _LINE.match(line)
        if begin and begin["what"] == "IGNORE":
            inside = True
        elif end and end["what"] == "IGNORE":
            inside = False
        elif not inside and not (marked and marked["mark"] == "IGNORE"):
            kept.append(line)
    return "\n".join(kept).strip("\n")


def with_regions(source: str) -> str:
    """The cell with ``### BEGIN SOLUTION`` around what otter would take out; its prompts as comments.

    Raises GradingError where a region is not ended.
    """
    lines = list(_lines(without_ignored(source).split("\n")))
    made: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.kind == "solution":
            end = _end_of_region(lines, at)
            made += _region(lines[at:end])
            at = end
            continue
        made.append(_comment(line.text) if line.kind == "prompt" else line.text)
        at += 1
    return "\n".join(made).strip("\n")


def _lines(source: list[str]) -> Iterator[_Line]:
    block = ""
    for line in source:
        marked = _LINE.match(line)
        if block == "prompt":
            if _PROMPT_END.search(line):
                block = ""
            else:
                yield _Line("prompt", line)
        elif block == "solution":
            if _END.search(line):
                block = ""
            else:
                yield _Line("solution", line)
        elif _PROMPT.match(line):
            block = "prompt"
        elif _BEGIN.match(line):
            block = "solution"
        elif marked:
            assigned = _ASSIGNED.match(marked["code"]) if marked["mark"] == "SOLUTION" else None
            yield _Line("solution", marked["code"], f"{assigned[1]} ..." if assigned else "")
        else:
            yield _Line("given", line)
    if block:
        raise GradingError(f"a cell begins a {block} that no '# END {block.upper()}' ends")


def _end_of_region(lines: list[_Line], start: int) -> int:
    """One region for the solution lines that follow each other at one depth, blank lines between them included."""
    depth, end = _depth(lines[start].text), start + 1
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if line.kind == "solution" and (not line.text.strip() or _depth(line.text) >= depth):
            end = at + 1
        elif line.kind != "given" or line.text.strip():
            break
    return end


def _region(lines: list[_Line]) -> list[str]:
    indent = " " * min((_depth(line.text) for line in lines if line.text.strip()), default=0)
    hints = [f"{indent}# {line.hint}" for line in lines if line.hint]
    return [*hints, f"{indent}### BEGIN SOLUTION", *(line.text for line in lines), f"{indent}### END SOLUTION"]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _comment(line: str) -> str:
    text = line.lstrip()
    return line if not text or text.startswith("#") else f"{line[: _depth(line)]}# {text}"
