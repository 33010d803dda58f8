"""Which checks of a test have been gone through: those that the solution's answer passes, every other must pass, too.

A loop over nothing, an iterator that ends at once, a branch, an exception that is caught: a test can end well without
having compared anything. So each statement that checks, and what a comprehension goes through, leaves a mark.
"""

from __future__ import annotations

import ast
import builtins
import zlib
from typing import Any

_CHECKS = (ast.Assert, ast.Expr, ast.If, ast.For, ast.While, ast.With, ast.Try)
_MARK = "__autograder_passed__"
_MAX_SHOWN = 100


class PassedChecks(ast.NodeTransformer):
    """Goes into the shell's ``ast_transformers``. seen: the marks that were left since it was emptied.

    source: the text that is executed next.
    """

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.source = ""
        self._texts: dict[str, str] = {}
        setattr(builtins, _MARK, self._leave)

    def _leave(self, mark: str, value: Any = None) -> Any:
        self.seen.add(mark)
        return value

    def skipped(self, marks: list[str]) -> str:
        """The first check, as text, that should have been passed and was not; empty where there is none."""
        return next((self._texts.get(mark, "a check") for mark in marks if mark not in self.seen), "")

    def visit_Module(self, node: ast.Module) -> ast.Module:
        last = node.body[-1] if node.body and isinstance(node.body[-1], ast.Expr) else None
        self.generic_visit(node)
        if last is not None:  # its value is the cell's result
            del node.body[node.body.index(last) + 1 :]
        return ast.fix_missing_locations(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                marked = [[one, ast.Expr(self._mark(one))] if self._is_check(one) else [one] for one in block]
                setattr(node, name, [one for pair in marked for one in pair])
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            node.elt = self._mark(node.elt, node.elt)
        elif isinstance(node, ast.DictComp):
            node.value = self._mark(node.value, node.value)
        return node

    @staticmethod
    def _is_check(node: ast.stmt) -> bool:
        return isinstance(node, _CHECKS) and not isinstance(getattr(node, "value", None), ast.Constant)

    def _mark(self, node: Any, *values: ast.expr) -> ast.Call:
        mark = f"{zlib.crc32(self.source.encode()):x}.{node.lineno}:{node.col_offset}"
        self._texts[mark] = "".join(self.source.split("\n")[node.lineno - 1 : node.lineno]).strip()[:_MAX_SHOWN]
        made = ast.Call(ast.Name(_MARK, ast.Load()), [ast.Constant(mark), *values], [])
        return ast.copy_location(made, node)
