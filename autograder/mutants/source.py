"""The text of a solution with its syntax tree: where a node stands, what may be changed, and changed texts."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from autograder.model.cells import tree_of

#: What holds a statement list of its own: names in it are local.
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Edit:
    """One change: the bytes ``start`` to ``end`` of the text become ``text``. ``operator`` says what kind it is."""

    operator: str
    start: int
    end: int
    text: str


class Source:
    """A solution's text. ``scope``: the lines (first, last) that may be changed; default all of them.

    Raises SyntaxError where the text is no Python.
    """

    def __init__(self, text: str, scope: tuple[int, int] | None = None) -> None:
        self.text, self.data = text, text.encode()
        self.tree = tree_of(text)
        self._starts = [0]
        for line in self.data.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._scope = scope or (1, len(self._starts))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """The first byte of a node and the one behind its last."""
        first = self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        return first, self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def of(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def replaced(self, operator: str, node: ast.AST, text: str) -> Edit:
        return Edit(operator, *self.span(node), text)

    def between(self, operator: str, first: ast.AST, last: ast.AST, text: str) -> Edit:
        """The edit from the start of one node to the end of another."""
        return Edit(operator, self.span(first)[0], self.span(last)[1], text)

    def applied(self, edit: Edit) -> str:
        return (self.data[: edit.start] + edit.text.encode() + self.data[edit.end :]).decode()

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node that may be changed, outer ones first: no docstring, annotation, import or decorator."""
        return [node for node in self._walk(self.tree) if self._in_scope(node)]

    def _in_scope(self, node: ast.AST) -> bool:
        return hasattr(node, "lineno") and self._scope[0] <= node.lineno <= self._scope[1]

    def _walk(self, node: ast.AST) -> Iterator[ast.AST]:
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_inert(child):
                    yield from self._walk(child)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function(self, node: ast.AST) -> Function | None:
        return next((around for around in self.above(node) if isinstance(around, FUNCTIONS)), None)

    def owner(self, node: ast.AST) -> ast.ClassDef | None:
        return next((around for around in self.above(node) if isinstance(around, ast.ClassDef)), None)

    def locals_of(self, function: Function) -> list[str]:
        """Arguments and assigned names of a function, in order; ``self`` and ``_``, which nobody reads, left out."""
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        stored = [
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        names = dict.fromkeys([argument.arg for argument in arguments] + stored)
        return [name for name in names if name not in ("self", "_")]

    def statement(self, offset: int) -> tuple[int, int]:
        """The bytes of the innermost statement around a place; of a function, a class or a loop its first line."""
        best = (0, len(self.data))
        for node in ast.walk(self.tree):
            if isinstance(node, ast.stmt):
                start, end = self.span(node)
                body = getattr(node, "body", None)
                if body:
                    end = self.span(body[0])[0]
                if start <= offset < max(end, start + 1) and end - start <= best[1] - best[0]:
                    best = (start, end)
        return best

    def is_message(self, edit: Edit) -> bool:
        """True where only the text of an error or of a failed assertion is changed."""
        for node in ast.walk(self.tree):
            told: ast.AST | None = None
            if isinstance(node, ast.Assert):
                told = node.msg
            elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                told = node.exc.args[0]
            if told is not None:
                start, end = self.span(told)
                if start <= edit.start and edit.end <= end:
                    return True
        return False


def _is_inert(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal):
        return True
    if not isinstance(node, ast.Expr):
        return False
    value = node.value
    docstring = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return docstring or (isinstance(value, ast.Call) and ast.unparse(value.func) == "super().__init__")
