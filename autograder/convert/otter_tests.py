"""Otter's test cells as the asserts of a graded cell of nbgrader, with the points that otter gives each."""

import ast
import math
import re
from dataclasses import dataclass
from typing import Any

import yaml
from nbformat import NotebookNode

from autograder.convert.otter_solutions import without_ignored
from autograder.errors import GradingError

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
