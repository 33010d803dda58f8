"""How often each check of a test has been gone through: as often as with the solution's answer, or a person looks.

A loop over nothing, an iterator that ends at once, a branch, an exception that is caught: a test can end well without
having compared anything. So each statement that checks, what a comprehension goes through, and what a lambda returns
leaves a mark.
"""

import ast
import builtins
import zlib
from collections import Counter
from typing import Any

_CHECKS = (ast.Assert, ast.Expr, ast.If, ast.For, ast.While, ast.With, ast.Try)
_MARK = "__autograder_passed__"
_MAX_SHOWN = 100


class PassedChecks(ast.NodeTransformer):
    """Goes into the shell's ``ast_transformers``. seen: how often each mark was left since it was emptied.

    source: the text that is executed next. asleep: while the student's code calls the test's.
    """

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.source, self.asleep = "", False
        setattr(builtins, _MARK, self._leave)

    def _leave(self, mark: str, value: Any = None) -> Any:
        if self.asleep:  # how often the student's code calls is its own affair; whether it does at all, is not
            self.seen[f"{mark}, called"] = 1
        else:
            self.seen[mark] += 1
        return value

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
        elif isinstance(node, ast.Lambda):
            node.body = self._mark(node.body, node.body)
        return node

    @staticmethod
    def _is_check(node: ast.stmt) -> bool:
        return isinstance(node, _CHECKS) and not isinstance(getattr(node, "value", None), ast.Constant)

    def _mark(self, node: Any, *values: ast.expr) -> ast.Call:
        text = "".join(self.source.split("\n")[node.lineno - 1 : node.lineno]).strip()[:_MAX_SHOWN]
        mark = f"{zlib.crc32(self.source.encode()):x}.{node.lineno}:{node.col_offset} {text}"
        made = ast.Call(ast.Name(_MARK, ast.Load()), [ast.Constant(mark), *values], [])
        return ast.copy_location(made, node)
