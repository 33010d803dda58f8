"""What is told of a failed test: the statement, and what its author says in it. Never what a comparison expected."""

import ast
import re
import textwrap
from types import FrameType
from typing import Any

MAX_TEXT = 1000
MAX_LINES = 8
#: Keywords by which assert functions take a message of their caller's.
_MESSAGES = ("msg", "err_msg", "message", "reason")
#: Where a frame begins in a traceback, and where installed code lies.
_FRAME = re.compile(r"^ *(?=File |Cell In\[)", re.MULTILINE)
_LIBRARIES = ("site-packages", "dist-packages", "/lib/python")
#: What the exercise's own code calls, and the copy of it in a course's library: the line above is its author's.
_EXERCISES = ("/autograder/exercise/", "/_rules/")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def failure_of(error: BaseException, source: str, names: dict[str, Any]) -> dict[str, Any]:
    """ename, evalue: of the exception; statement, lines: the text of the statement that stopped, first and last line;
    message: what the instructor says in it, empty where that is nothing; asserted: whether an assertion failed; own:
    whether the exception came out of the student's code; own_lines: that code's traceback, as it said.

    names: the notebook's namespace, by which its frames are known.
    """
    frames = [(frame, line) for frame, line in _frames(error) if frame.f_globals is names]
    node, raised = None, False
    if frames:
        name = frames[0][0].f_code.co_filename
        inside = [(frame, line) for frame, line in frames if frame.f_code.co_filename == name]
        node = _statement(source, inside[-1][1])
        raised = _frames(error)[-1][0] is inside[-1][0]
    trace = error.__dict__.get("remote_traceback")
    text = "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno][:MAX_LINES]) if node else ""
    return {
        "status": "error",
        "ename": type(error).__name__[:MAX_TEXT],
        "evalue": _text(error),
        "statement": textwrap.dedent(text)[:MAX_TEXT],
        "message": _message(error, node, raised)[:MAX_TEXT],
        "lines": (node.lineno, _end(node)) if node else (0, 0),
        "asserted": isinstance(error, AssertionError),
        "own": isinstance(trace, str),
        "own_lines": trace[-MAX_TEXT:] if isinstance(trace, str) else "",
        "hidden": False,
        "came": [],
    }


def line_that_raised(traceback: str) -> tuple[str, str]:
    """File and line of code that raised an exception, by its traceback in IPython's form or Python's.

    The file is empty for a cell. Both are where the traceback shows none, or the line of an installed library.
    """
    _, *frames = _FRAME.split(_COLOUR.sub("", traceback))
    while frames and any(place in frames[-1].partition("\n")[0] for place in _EXERCISES):
        frames.pop()
    if not frames or any(place in frames[-1].partition("\n")[0] for place in _LIBRARIES):
        return "", ""
    marked = re.findall(r"^-+> *\d+ (.*)$", frames[-1], re.MULTILINE)
    lines = marked or frames[-1].split("\n")[1:2]
    file = re.match(r'File "?(?:.*[/\\])?([^/\\\n]+?\.py)(?::\d|", line)', frames[-1])
    return file[1] if file else "", lines[-1].strip() if lines else ""


def _frames(error: BaseException) -> list[tuple[FrameType, int]]:
    found, trace = [], error.__traceback__
    while trace is not None:
        found.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return found


def _statement(source: str, line: int) -> ast.stmt | None:
    """The innermost statement at a line."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):  # magics, say
        return None
    at = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno <= line <= _end(node)]
    return min(at, key=lambda node: _end(node) - node.lineno, default=None)


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _message(error: BaseException, node: ast.stmt | None, raised: bool) -> str:
    """What the statement itself says of its failure."""
    if raised and (isinstance(node, ast.Raise) or (isinstance(node, ast.Assert) and node.msg is not None)):
        return _text(error)
    for call in (inner for inner in ast.walk(node) if isinstance(inner, ast.Call)) if node else ():
        given = [keyword.value for keyword in call.keywords if keyword.arg in _MESSAGES]
        for value in (*given, *(call.args[2:] if isinstance(error, AssertionError) else ())):
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return ""


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except Exception:
        return ""
