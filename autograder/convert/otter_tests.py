"""Otter's cells as nbgrader's: test cells as the asserts of a graded cell, with their points; solutions as regions."""

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from nbformat import NotebookNode

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


_CONFIG = re.compile(r"\A\s*(?:\w\s*=\s*)?(\"{3}|\"|')\s*#\s*BEGIN\s*TEST\s*CONFIG\n(.*?)^\1;?\s*#\s*END\s*TEST\s*CONFIG[^\n]*\n?", re.S | re.M | re.I)  # noqa: E501  # fmt: skip
_HIDDEN = re.compile(r"\A\s*#[^\n]*\bhidden\b[^\n]*\n?", re.I)
#: Calls whose output says nothing: they raise or they do not.
_ASSERTS = re.compile(r"(?:^|[._])assert")


@dataclass(frozen=True)
class OtterTest:
    """One test case. ``points`` is None where the question's points are shared; ``notes``: what otter does besides."""

    source: str
    hidden: bool
    points: float | None
    notes: tuple[str, ...] = ()


def read_test(cell: NotebookNode, ok_format: bool) -> OtterTest:
    """Raises GradingError where the test cannot be read, or the notebook does not say what it expects."""
    source = cell.source
    config: dict[str, Any] = {}
    hidden = bool(_HIDDEN.match(source))
    if hidden:
        source = _HIDDEN.sub("", source)
    if found := _CONFIG.match(source):
        config = _config(found[2])
        source = source[found.end() :]
    source = without_ignored(source)
    notes = ["its success_message is shown nowhere"] if config.get("success_message") else []
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise GradingError(f"is no Python: {error.msg}") from error
    hidden = bool(config.get("hidden", hidden))
    if ok_format:
        # a line that stands in hidden and in visible tests would be a leak
        source = _as_asserts(source, tree, cell.outputs, notes, "output" if hidden else "printed")
    else:
        source = _called(source, tree, notes)
    if message := config.get("failure_message"):
        source = _with_message(source, str(message))
    return OtterTest(source, hidden, config.get("points"), tuple(notes))


def _config(text: str) -> dict[str, Any]:
    try:
        config = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise GradingError(f"has a config that is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(config, dict) or not _is_points(config.get("points")):
        raise GradingError(f"has a config without a number of points: {' '.join(text.split())[:80]!r}")
    return config


def _is_points(given: Any) -> bool:
    return given is None or (isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < math.inf)


def resolve_points(points: Any, tests: list[OtterTest]) -> list[float]:
    """Points of each test, by otter's rules: what is left of the question's points is shared by those without any."""
    own = [test.points for test in tests]
    values = points if isinstance(points, list) else [points.get("each", 1) if isinstance(points, dict) else points]
    if not all(map(_is_points, values)):
        raise GradingError(f"has points that are no number: {points!r}")
    if isinstance(points, dict):
        points = points.get("each", 1) * len(tests)
    if isinstance(points, list):
        if len(points) != len(tests):
            raise GradingError(f"has {len(points)} points for {len(tests)} tests")
        own, points = list(points), None
    open_ones, given = own.count(None), sum(one for one in own if one is not None)
    if points is None:
        points = given or (1 if open_ones else 0)
    if given > points:
        raise GradingError(f"has {points:g} points, but its tests have {given:g} together")
    share = (points - given) / open_ones if open_ones else 0
    return [plain(share if one is None else one) for one in own]


def plain(points: float) -> float:
    """The number without a needless ``.0``."""
    return int(points) if float(points).is_integer() else float(points)


def _as_asserts(source: str, tree: ast.Module, outputs: list[NotebookNode], notes: list[str], name: str) -> str:
    """A test whose stored output is what otter expects, as an assert."""
    printed, shown = _stored(outputs)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        return source if not printed else _printing(source, printed, name)
    expression = ast.get_source_segment(source, last.value) or ""
    before = "\n".join(source.split("\n")[: last.lineno - 1])
    if not shown and not printed:
        if not isinstance(last.value, ast.Call):
            raise GradingError("has no stored output, from which otter takes what it expects: run the notebook first")
        if not _ASSERTS.search(ast.unparse(last.value.func)):
            notes.append("it has no stored output, so it only has to run without an error")
        return source
    if not shown:
        return _printing(source, printed, name)
    if printed:
        code = f"{before}\nshown = {expression}" if before else f"shown = {expression}"
        return f"{_printing(code, printed, name)}\n{_assertion('shown', ast.Name('shown'), shown)}"
    return f"{before}\n{_assertion(expression, last.value, shown)}".lstrip("\n")


def _stored(outputs: list[NotebookNode]) -> tuple[str, str]:
    """What the cell printed, and what its last line showed."""
    printed = shown = ""
    for output in outputs:
        if output.output_type == "error":
            raise GradingError(f"ended with {output.ename} when the notebook was run: mend it first")
        if output.output_type == "stream" and output.name == "stdout":
            printed += output.text
        elif output.output_type == "execute_result":
            shown += output.data.get("text/plain", "")
    return printed, shown


def _assertion(expression: str, node: ast.expr, shown: str) -> str:
    """An assert for what Jupyter showed: a Python literal is compared as a value, anything else as text."""
    if isinstance(node, ast.Compare | ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        if shown in ("True", "np.True_"):
            return f"assert {expression}"
        if shown in ("False", "np.False_"):
            return f"assert not ({expression})"
    simple = isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.Constant)
    value = expression if simple else f"({expression})"
    try:
        literal = ast.unparse(ast.parse(shown.strip(), mode="eval").body) if _is_literal(shown) else None
    except SyntaxError:
        literal = None
    if literal == "None":
        return f"assert {value} is None"
    return f"assert {value} == {literal}" if literal else f"assert repr({expression}) == {shown!r}"


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _printing(source: str, printed: str, name: str) -> str:
    body = "\n".join(f"    {line}" if line.strip() else line for line in source.split("\n"))
    return (
        "from contextlib import redirect_stdout\nfrom io import StringIO\n"
        f"with redirect_stdout(StringIO()) as {name}:\n{body}\nassert {name}.getvalue() == {printed!r}"
    )


def _called(source: str, tree: ast.Module, notes: list[str]) -> str:
    """A test in functions, with the calls that otter makes: each parameter is the name of that student's value."""
    calls = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names = [one.arg for one in node.args.args[: len(node.args.args) - len(node.args.defaults)]]
            if "env" in names:
                notes.append("its 'env' is globals()")
            calls.append(f"{node.name}({', '.join('globals()' if name == 'env' else name for name in names)})")
    return "\n".join([source, *calls])


def _with_message(source: str, message: str) -> str:
    """The message behind every assert that has none."""
    lines = source.split("\n")
    bare = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert) and node.msg is None]
    for node in sorted(bare, key=lambda node: (node.end_lineno, node.end_col_offset), reverse=True):
        assert node.end_lineno is not None
        line = lines[node.end_lineno - 1].encode()
        lines[node.end_lineno - 1] = (
            line[: node.end_col_offset].decode() + f", {message!r}" + line[node.end_col_offset :].decode()
        )
    return "\n".join(lines)
