"""Changes to any Python code: operators, constants, conditions, names, arguments, loops, statements."""

import ast
import itertools
from collections.abc import Iterator

from autograder.mutants.source import Edit, Source

_BINARY: dict[type[ast.operator], tuple[str, ...]] = {
    ast.Add: ("-", "*"), ast.Sub: ("+",), ast.Mult: ("/", "+"), ast.Div: ("*", "-"), ast.FloorDiv: ("*",),
    ast.Mod: ("//",), ast.Pow: ("*",), ast.MatMult: ("*",), ast.BitAnd: ("|",), ast.BitOr: ("&",),
}  # fmt: skip
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Eq: ("!=", ">="), ast.NotEq: ("==", ">"), ast.Lt: ("<=", ">"), ast.LtE: ("<", ">="), ast.Gt: (">=", "<"),
    ast.GtE: (">", "<="), ast.Is: ("is not",), ast.IsNot: ("is",), ast.In: ("not in",), ast.NotIn: ("in",),
}  # fmt: skip


def binary(source: Source) -> Iterator[Edit]:
    """Another operator; operands swapped; one of two terms dropped."""
    for node in source.nodes:
        if not isinstance(node, ast.BinOp) or type(node.op) not in _BINARY:
            continue
        left, right = _closed(source, node.left), _closed(source, node.right)
        for sign in _BINARY[type(node.op)]:
            yield source.replaced("operator", node, f"({left} {sign} {right})")
        if not isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
            yield source.replaced("operands", node, f"({right} {_SIGNS[type(node.op)]} {left})")
        yield source.replaced("term", node, left)
        yield source.replaced("term", node, right)


def _closed(source: Source, node: ast.expr) -> str:
    text = source.of(node)
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.List | ast.Dict)
    return text if simple else f"({text})"


def comparisons(source: Source) -> Iterator[Edit]:
    """Another comparison; ``and`` for ``or``; a condition turned round, always or never true."""
    for node in source.nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = source.of(node.left), source.of(node.comparators[0])
            for sign in _COMPARISONS[type(node.ops[0])]:
                yield source.replaced("comparison", node, f"({left} {sign} {right})")
        elif isinstance(node, ast.BoolOp):
            sign = " and " if isinstance(node.op, ast.Or) else " or "
            yield source.replaced("boolean", node, "(" + sign.join(source.of(one) for one in node.values) + ")")
            yield source.replaced("boolean", node, source.of(node.values[0]))
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield source.replaced("condition", node.test, f"not ({source.of(node.test)})")
            if not isinstance(node, ast.While):
                yield source.replaced("condition", node.test, "True")
                yield source.replaced("condition", node.test, "False")
        elif isinstance(node, ast.UnaryOp):
            yield source.replaced("sign", node, _closed(source, node.operand))


def constants(source: Source) -> Iterator[Edit]:
    """Other numbers, the other truth value, other texts; an entry of a list dropped, two of them swapped."""
    for node in source.nodes:
        if isinstance(node, ast.Constant):
            for other in _others(node.value):
                yield source.replaced("constant", node, other)
        elif isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
            for index in range(len(node.elts) - 1):
                first, second = node.elts[index], node.elts[index + 1]
                gap = source.data[source.span(first)[1] : source.span(second)[0]].decode()
                yield source.between("order", first, second, source.of(second) + gap + source.of(first))
            yield source.between("entry", node.elts[-2], node.elts[-1], source.of(node.elts[-2]))
            yield source.between("entry", node.elts[0], node.elts[1], source.of(node.elts[1]))


def _others(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield str(not value)
    elif isinstance(value, int):
        yield from (str(value + 1), str(value - 1) if value else "-1")
        if abs(value) > 2:
            yield str(2 * value)
    elif isinstance(value, float):
        yield from (repr(2 * value + 0.5 * (value == 0)), "0.0" if value else "1.0")
        if 0 < value < 1e-3:
            yield repr(max(value * 1e6, 1e-3))
    elif isinstance(value, str) and value:
        yield repr(value + "x")


def slices(source: Source) -> Iterator[Edit]:
    """Off by one in a slice; a step or an index dropped."""
    for node in source.nodes:
        if isinstance(node, ast.Slice):
            lower, upper = (source.of(end) if end else "" for end in (node.lower, node.upper))
            step = f":{source.of(node.step)}" if node.step else ""
            if node.upper:
                yield source.replaced("slice", node, f"{lower}:{upper} - 1{step}")
                yield source.replaced("slice", node, f"{lower}:{step}")
            if node.lower or node.upper:
                yield source.replaced("slice", node, f"{lower + ' + ' if lower else ''}1:{upper}{step}")
            if node.step:
                yield source.replaced("slice", node, f"{lower}:{upper}")
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield source.replaced("index", node, source.of(node.value))


def names(source: Source) -> Iterator[Edit]:
    """A local variable, or an attribute of ``self``, where another of the same function or class should be."""
    for node in source.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            function = source.function(node)
            known = source.locals_of(function) if function is not None else []
            if node.id in known:
                for other in _neighbours(known, node.id, 3):
                    yield source.replaced("name", node, other)
        elif _of_self(node) and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
            owner = source.owner(node)
            known = _attributes(owner) if owner is not None else []
            for other in _neighbours(known, node.attr, 2):  # type: ignore[attr-defined]
                yield source.replaced("attribute", node, f"self.{other}")


def _of_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _attributes(owner: ast.ClassDef) -> list[str]:
    stored = [node for node in ast.walk(owner) if _of_self(node) and isinstance(node.ctx, ast.Store)]  # type: ignore[attr-defined]
    return list(dict.fromkeys(node.attr for node in stored))  # type: ignore[attr-defined]


def _neighbours(known: list[str], name: str, most: int) -> list[str]:
    """The names nearest to this one: those that are confused."""
    if name not in known:
        return []
    place = known.index(name)
    others = sorted((abs(index - place), index) for index in range(len(known)) if index != place)
    return [known[index] for _, index in others[:most]]


def calls(source: Source) -> Iterator[Edit]:
    """Arguments swapped or dropped, keywords dropped, a call left out, two nested calls exchanged."""
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        arguments = [argument for argument in node.args if not isinstance(argument, ast.Starred | ast.GeneratorExp)]
        for first, second in itertools.pairwise(arguments):
            gap = source.data[source.span(first)[1] : source.span(second)[0]].decode()
            yield source.between("arguments", first, second, source.of(second) + gap + source.of(first))
        if len(arguments) > 1:
            yield source.between("argument", arguments[-2], arguments[-1], source.of(arguments[-2]))
        yield from _without_keywords(source, node)
        if isinstance(node.func, ast.Attribute):
            value = source.of(node.func.value)
            yield source.replaced("call", node, value)
        if node.args and not isinstance(node.args[0], ast.GeneratorExp | ast.Starred):
            yield source.replaced("call", node, f"({source.of(node.args[0])})")
            inner = node.args[0]
            if isinstance(inner, ast.Call) and len(inner.args) == 1 and len(node.args) == 1 and not node.keywords:
                function, other, value = (source.of(part) for part in (node.func, inner.func, inner.args[0]))
                yield source.replaced("nesting", node, f"{other}({function}({value}))")


def _without_keywords(source: Source, node: ast.Call) -> Iterator[Edit]:
    for dropped in node.keywords:
        kept = [source.of(argument) for argument in node.args]
        kept += [source.of(keyword) for keyword in node.keywords if keyword is not dropped]
        yield source.replaced("keyword", node, f"{source.of(node.func)}({', '.join(kept)})")


def statements(source: Source) -> Iterator[Edit]:
    """A statement left out; an assignment that changes in place; a loop that skips, reverses or stops."""
    for node in source.nodes:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Assert):
            yield source.replaced("statement", node, "pass")
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.BinOp):
            target, value = node.targets[0], node.value
            if ast.unparse(value.left) == ast.unparse(target) and type(value.op) in _SIGNS:
                text = f"{source.of(target)} {_SIGNS[type(value.op)]}= {source.of(value.right)}"
                yield source.replaced("in-place", node, text)
        if isinstance(node, ast.For):
            for text in ("list({})[1:]", "list({})[:-1]", "list({})[::-1]", "list({})[:1]"):
                yield source.replaced("loop", node.iter, text.format(source.of(node.iter)))
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            each = node.generators[0]
            for text in ("list({})[1:]", "list({})[:-1]", "list({})[::-1]"):
                yield source.replaced("loop", each.iter, text.format(source.of(each.iter)))
            for test in each.ifs:
                yield source.replaced("condition", test, "True")
                yield source.replaced("condition", test, f"not ({source.of(test)})")
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            yield source.replaced("entry", node.value, source.of(node.value.elts[0]))


OPERATORS = (binary, comparisons, constants, slices, names, calls, statements)
