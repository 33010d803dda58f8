"""A student's function or class as its syntax tree shows it: lines, names, and parts that can be left out.

Nothing here runs the code. Questions on it, and how it is watched when it is run, are made of this.
"""

import ast
import io
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Definition = ast.FunctionDef | ast.ClassDef
#: The text of a code cell, and whether the instructor wrote it.
Source = tuple[str, bool]
#: In a variant or a watched copy the code calls this name with a line, a name and a value.
NOTE = "__note__"
#: So many parts are choices: nobody reads more.
MAX_PARTS = 8
#: What code may import and be asked about, beside the library of the checks: none of it looks anything up by a text.
HARMLESS = {"torch", "numpy", "einops", "__future__", "abc", "cmath", "collections", "copy", "dataclasses", "enum",
            "fractions", "functools", "functorch", "itertools", "math", "matplotlib", "numbers", "random", "re",
            "statistics", "time", "typing"}  # fmt: skip
#: Attributes by which it reaches other modules, but for those that arrays have, too.
_STANDARD = sys.stdlib_module_names - HARMLESS - {"array", "chunk", "select", "trace"}
#: Attributes by which it sees how it is run, reads or writes files, looks things up by a text, or reaches the checks.
_WATCHING = re.compile(
    r"f_(?:back|builtins|code|globals|locals)|(?:ag|cr|gi|tb)_\w+|get_type_hints|singledispatch\w*"
    r"|dumps?|loads?|save\w*|tofile|fromfile|\w*memmap|check|_rules|questions|hand_over"
    r"|__(?!init__|call__|len__|getitem__|class__|name__|iter__|next__|repr__)\w+__"
)
#: Functions that do so, where their argument is no literal.
_LOOK_UP = {"eval", "exec", "compile", "globals", "locals", "vars", "open", "breakpoint", "get_ipython", "getattr"}
_MAGIC = re.compile(r"(?m)^([ \t]*)[%!?].*$")
#: Calls that are no step of a computation.
_PLAIN = {"range", "len", "print", "int", "float", "enumerate", "zip", "isinstance", "list", "tuple", "super", "dict"}
_SYMBOLS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.Pow: "**"}
_MAX_LABEL = 28
#: What is in such an array is left to chance.
_EMPTY = "empty"
#: The longest text of a step that is noted under it.
MAX_STEP = 40


@dataclass(frozen=True)
class OwnCode:
    """One definition. ``source``: the text of the whole cell, whose lines are counted from 1."""

    name: str
    source: str
    node: Definition

    @property
    def lines(self) -> int:
        return (self.node.end_lineno or self.node.lineno) - self.node.lineno + 1

    @property
    def text(self) -> str:
        """What has to change so that questions on it are others."""
        lines = self.source.split("\n")[self.node.lineno - 1 : self.node.end_lineno]
        return "\n".join(line.rstrip() for line in lines)

    def line(self, number: int) -> str:
        lines = self.source.split("\n")
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    @property
    def main(self) -> ast.FunctionDef | None:
        """The function itself; of a class, its longest method but ``__init__``."""
        if isinstance(self.node, ast.FunctionDef):
            return self.node
        methods = [one for one in self.node.body if isinstance(one, ast.FunctionDef) and one.name != "__init__"]
        return max(methods, key=lambda one: (one.end_lineno or 0) - one.lineno, default=None)


@lru_cache(maxsize=8)
def _lines(source: str) -> list[bytes]:
    return [line.encode() for line in io.StringIO(source, newline=None)]


def _segment(source: str, node: Any) -> str:
    """As :func:`ast.get_source_segment`, which takes the source apart anew for each node; places are in bytes."""
    lines = _lines(source)[node.lineno - 1 : node.end_lineno]
    if not lines:
        return ""
    lines[-1] = lines[-1][: node.end_col_offset]
    lines[0] = lines[0][node.col_offset :]
    return b"".join(lines).decode(errors="replace")


def tree_of(source: str) -> ast.Module:
    """The tree of a cell; lines with a magic count as empty. Raises SyntaxError."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        try:
            return ast.parse(_MAGIC.sub(r"\1pass", source))
        except ValueError as error:  # a null byte
            raise SyntaxError(str(error)) from error


def read(source: str, name: str) -> OwnCode | None:
    """The last definition of ``name`` in a cell; None where there is none that can be read."""
    source = re.sub(r"\A(?:[ \t]*\n)+", "", source)  # as Jupyter counts lines
    try:
        body = tree_of(source).body
    except (SyntaxError, RecursionError, MemoryError):
        return None
    found = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name]
    return OwnCode(name, source, found[-1]) if found else None


def needed(sources: Sequence[Source], code: OwnCode) -> list[tuple[ast.stmt, bool]]:
    """What a fresh process must execute before a definition, and whether it is the instructor's.

    The imports, definitions and literals that it uses; of the instructor's cells every assignment that it uses.
    """
    nodes, bound = list[tuple[ast.stmt, bool]](), dict[str, ast.stmt]()
    for source, instructors in sources:
        try:
            body = tree_of(source).body
        except (SyntaxError, RecursionError, MemoryError):
            continue
        nodes += [(node, instructors) for node in body]
        bound |= {key: node for node in body for key in _defined(node, instructors)}
    bound.pop(code.name, None)
    wanted = _globals(code.node)
    found = {id(node) for node, _ in nodes if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"}
    while wanted:
        node = bound.pop(wanted.pop(), None)
        if node is not None:
            found.add(id(node))
            wanted += _globals(node)
    return [(node, instructors) for node, instructors in nodes if id(node) in found]


def _globals(node: ast.stmt) -> list[str]:
    """The names that a statement reads and, in a definition, does not set itself."""
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    own = {one.id for one in names if isinstance(one.ctx, ast.Store)} if isinstance(node, Definition) else set()
    own |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    return [one.id for one in names if isinstance(one.ctx, ast.Load) and one.id not in own]


def _defined(node: ast.stmt, instructors: bool) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [name for name, _ in _imported(node)]
    if not isinstance(node, ast.Assign):
        return []
    try:
        ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return names_set(node) if instructors else []
    return names_set(node)


def watching(nodes: Sequence[ast.AST], given: Sequence[ast.stmt] = (), library: str = "") -> str:
    """The first word with which code could find out that it is watched; empty where there is none.

    given: the instructor's statements that it uses. library: where the checks are, which it may import from as well.
    """
    imported = dict(pair for node in given for pair in _imported(node))
    every = [one for top in nodes for one in ast.walk(top)]
    literal = {id(node.func) for node in every if isinstance(node, ast.Call) and _attributes(node)}
    for node in every:
        paths = [path for _, path in _imported(node)]
        words = _attributes(node)
        if isinstance(node, ast.Name):
            if node.id in _LOOK_UP and id(node) not in literal:
                return node.id
            paths, words = [imported[node.id]] if node.id in imported else [], [node.id] if node.id[:2] == "__" else []
        for root, *others in (path.split(".") for path in paths):
            if root not in HARMLESS | {library}:
                return root or "."
            words = words + others
        if found := next((one for one in words if _WATCHING.fullmatch(one) or {one, one.strip("_")} & _STANDARD), ""):
            return found
    return ""


def _attributes(node: ast.AST) -> list[str]:
    """The names that it looks up in an object."""
    match node:
        case ast.Attribute(attr=name):
            return [name]
        case ast.Call(ast.Name("getattr"), [_, ast.Constant(str(name)), *_]):
            return [name]
        case ast.MatchClass(kwd_attrs=names):
            return names
    return []


def _imported(node: ast.AST) -> list[tuple[str, str]]:
    """What an import binds, each with its path."""
    if isinstance(node, ast.Import):
        return [(alias.asname or alias.name.partition(".")[0], alias.name) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(alias.asname or alias.name, f"{node.module or ''}.{alias.name}") for alias in node.names]
    return []


# --- watched copies and variants --------------------------------------------------------------------------------------


def watched(code: OwnCode, without: int | None = None) -> ast.Module:
    """The definition alone, whose steps, assignments and returns are noted; one of its parts may be left out."""
    copy = read(code.source, code.name)
    assert copy is not None
    main, target = copy.main, None if without is None else _removable(copy)[without][0]
    noted = _Noted(code.source).visit(copy.node)
    if target is not None:
        noted = _Leave(target).visit(noted)
    if main is not None:
        names = [argument.arg for argument in (*main.args.posonlyargs, *main.args.args) if argument.arg != "self"]
        start = 1 if ast.get_docstring(main) is not None else 0
        main.body[start:start] = [_note(main.lineno, name) for name in names]
    return ast.fix_missing_locations(ast.Module([noted], []))


class _Noted(ast.NodeTransformer):
    def __init__(self, source: str) -> None:
        self._source = source

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name != "__init__":
            body = [self.visit(statement) for statement in node.body]
            node.body = [one for some in body for one in (some if isinstance(some, list) else [some])]
        return node

    def _as_it_is(self, node: ast.AST) -> ast.AST:
        return node

    visit_Lambda = visit_JoinedStr = visit_Raise = _as_it_is

    def _step(self, node: ast.expr) -> ast.AST:
        text = _segment(self._source, node)
        wanted = (
            _EMPTY not in text and left(node) is not None and node.lineno == node.end_lineno and len(text) <= MAX_STEP
        )
        self.generic_visit(node)
        return _noting(node, " ".join(text.split()), node) if wanted else node

    visit_BinOp = visit_Call = _step

    def _after(self, node: ast.stmt) -> ast.AST | list[ast.AST]:
        value = getattr(node, "value", None)
        if value is None or (isinstance(value, ast.Call) and _EMPTY in ast.unparse(value.func)):
            return node
        self.generic_visit(node)
        return [node, *(_note(node.lineno, name) for name in names_set(node))]

    visit_Assign = visit_AugAssign = visit_AnnAssign = _after

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is not None:
            self.generic_visit(node)
            node.value = _noting(node, "return", node.value)
        return node


def _noting(place: ast.stmt | ast.expr, name: str, value: ast.expr) -> ast.expr:
    arguments: list[ast.expr] = [ast.Constant(place.lineno), ast.Constant(name), value]
    return ast.copy_location(ast.Call(ast.Name(NOTE, ast.Load()), arguments, []), place)


def _note(line: int, name: str) -> ast.stmt:
    statement = ast.parse(f"{NOTE}({line}, {name!r}, {name})").body[0]
    for node in ast.walk(statement):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = line
    return statement


def names_set(node: ast.stmt) -> list[str]:
    """The plain names that an assignment sets, in order."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    flat = [
        one for target in targets for one in (target.elts if isinstance(target, ast.Tuple | ast.List) else [target])
    ]
    return list(dict.fromkeys(one.id for one in flat if isinstance(one, ast.Name)))


class _Leave(ast.NodeTransformer):
    """Takes one part out: a call gives what it was called on, ``a + b`` gives a, a statement does nothing."""

    def __init__(self, target: ast.AST) -> None:
        self._target = target

    def visit(self, node: ast.AST) -> Any:
        if node is not self._target:
            return self.generic_visit(node)
        if isinstance(node, ast.stmt):
            return ast.copy_location(ast.Pass(), node)
        return left(node)


def left(node: ast.AST) -> ast.expr | None:
    """What is left of an expression when its operation is left out; None where it is no such part."""
    if isinstance(node, ast.BinOp):
        return node.left if type(node.op) in _SYMBOLS else None
    if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id in _PLAIN):
        return None
    if _is_method(node):
        return node.func.value  # type: ignore[attr-defined]
    given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg in ("input", "a", "x"))]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "where":
        given = given[1:]  # what is kept where the condition holds
    return given[0] if given and not isinstance(given[0], ast.Starred) else None


def _is_method(node: ast.Call) -> bool:
    """Whether it is called on a value, and not found in a module or in ``self``."""
    if not isinstance(node.func, ast.Attribute):
        return False
    value = node.func.value
    while isinstance(value, ast.Attribute):
        value = value.value
    return not isinstance(value, ast.Name) or value.id not in _MODULES | {"self"}


_MODULES = {"torch", "nn", "F", "np", "numpy", "math", "functional", "einops"}


def parts(code: OwnCode) -> dict[str, int]:
    """What can be left out, in the order of the text: "line 9: .softmax(dim=-1)" -> its number for :func:`watched`."""
    labels = [label for _, label in _removable(code)]
    return {label: number for number, label in enumerate(labels) if labels.count(label) == 1}


def parts_near(code: OwnCode, line: int) -> list[tuple[str, bool]]:
    """The parts that can stand among the choices about ``line``, and whether each must: those of the line itself."""
    labels = list(parts(code))
    inside = [number for number, label in enumerate(labels) if line_of(label) == line]
    if not inside:
        return []
    first, last = max(0, inside[-1] - MAX_PARTS + 1), inside[0] + MAX_PARTS
    return [(label, line_of(label) == line) for label in labels[first:last]]


def line_of(label: str) -> int:
    """The line that a choice such as "line 9: .softmax(dim=-1)" begins with."""
    return int(label.partition(":")[0].split()[1])


def _removable(code: OwnCode) -> list[tuple[ast.AST, str]]:
    found: list[tuple[tuple[int, int], ast.AST, str]] = []
    for function in _functions(code.node):
        inner = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Expr)}
        for statement in function.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.FunctionDef | ast.Raise | ast.Lambda) or id(node) in inner:
                    continue
                label = _label(code, node)
                if label:
                    place = getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)
                    found.append((place, node, label))
    once = {id(node): (place, node, label) for place, node, label in found}
    return [(node, label) for _, node, label in sorted(once.values(), key=lambda one: one[0])]


def _functions(node: Definition) -> Iterator[ast.FunctionDef]:
    for one in ast.walk(node):
        if isinstance(one, ast.FunctionDef) and one.name != "__init__":
            yield one


def _label(code: OwnCode, node: ast.AST) -> str:
    if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return _short(f"line {node.lineno}: ", _segment(code.source, node))
    if left(node) is None:
        return ""
    if isinstance(node, ast.BinOp):
        right = _segment(code.source, node.right)
        return _short(f"line {node.right.lineno}: {_SYMBOLS[type(node.op)]} ", right)
    assert isinstance(node, ast.Call)
    line = f"line {node.func.end_lineno}: "
    if _is_method(node):
        name = f".{node.func.attr}("  # type: ignore[attr-defined]
        given = [*node.args, *node.keywords]
        inside = ", ".join(_segment(code.source, one) for one in given)
        return _short(line + name, inside, ")")
    return line + " ".join(_segment(code.source, node.func).split()) + "(…)"


def _short(before: str, text: str, after: str = "") -> str:
    text = " ".join(text.split())
    return before + (text if len(text) <= _MAX_LABEL else "…") + after
