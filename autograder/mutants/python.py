"""Changes to any Python code: operators, constants, conditions, names, arguments, loops, statements.

On arrays and tensors (NumPy, PyTorch): the mistakes of the field, whatever the subject.
"""

import ast
import itertools
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


ON_ANYTHING = (binary, comparisons, constants, slices, names, calls, statements)


_AXIS_WORDS = {"dim", "axis", "dim1", "dim2"}
#: Calls whose only positional number, or whose last one, is an axis.
_WITH_AXIS = {
    "softmax", "log_softmax", "mean", "sum", "amax", "max", "min", "norm", "cat", "concat", "concatenate", "stack",
    "unsqueeze", "size", "argmax", "flip", "repeat_interleave", "cumsum", "prod", "std", "var", "squeeze", "any", "all",
}  # fmt: skip
_SWAPPED_AXES = {"transpose", "swapaxes", "swapdims"}
#: What is taken for what.
_CONFUSED = {
    "mean": ("sum", "median"), "sum": ("mean", "max"), "max": ("min", "sum"), "amax": ("mean",), "argmax": ("argmin",),
    "softmax": ("sigmoid", "log_softmax"), "log_softmax": ("softmax", "logsigmoid"), "relu": ("gelu", "tanh"),
    "gelu": ("relu", "silu"), "ReLU": ("GELU", "Tanh"), "GELU": ("ReLU", "SiLU"), "sin": ("cos",), "cos": ("sin",),
    "exp": ("exp2", "abs"), "sqrt": ("log", "exp"), "tril": ("triu",), "triu": ("tril",), "zeros": ("ones",),
    "ones": ("zeros",), "cat": ("stack",), "concatenate": ("stack",), "view": ("repeat",), "bmm": ("mul",),
    "repeat_interleave": ("repeat",), "diagonal": ("sum",), "log": ("log2",), "LayerNorm": ("BatchNorm1d", "RMSNorm"),
    "ModuleList": ("Sequential", "list"), "masked_fill": ("masked_fill_",), "register_buffer": ("__setattr__",),
    "matmul": ("multiply",), "dot": ("multiply",), "isfinite": ("isnan",), "allclose": ("array_equal",),
}  # fmt: skip
_IN_PLACE = {"relu", "softmax", "add", "sub", "mul", "div", "clamp", "exp", "sqrt", "tanh", "transpose", "unsqueeze"}


def axes(source: Source) -> Iterator[Edit]:
    """Another axis: of a reduction, of a softmax, of a pair that is transposed."""
    for node in source.nodes:
        if isinstance(node, ast.keyword) and node.arg in _AXIS_WORDS:
            yield from _other_axes(source, node.value)
        elif isinstance(node, ast.Call):
            name = called(node)
            if name in _WITH_AXIS and node.args:
                yield from _other_axes(source, node.args[-1])
            elif name in _SWAPPED_AXES and len(node.args) == 2 and isinstance(node.func, ast.Attribute):
                value = source.of(node.func.value)
                for pair in ("0, 1", "1, 2", "-1, -2", "0, -1", "1, -1"):
                    if pair != ", ".join(source.of(argument) for argument in node.args):
                        yield source.replaced("transpose", node, f"{value}.{name}({pair})")
        elif isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
            yield source.replaced("transpose", node, source.of(node.value))


def called(node: ast.Call) -> str:
    """The last part of the name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _other_axes(source: Source, node: ast.expr) -> Iterator[Edit]:
    try:
        axis = ast.literal_eval(node)
    except ValueError:
        return
    if isinstance(axis, int) and not isinstance(axis, bool):
        for other in (-1, -2, 0, 1, 2):
            if other != axis:
                yield source.replaced("axis", node, str(other))


def confused(source: Source) -> Iterator[Edit]:
    """Another reduction, activation, layer or function; a list in place of registered layers."""
    for node in source.nodes:
        if isinstance(node, ast.Call):
            for other in _CONFUSED.get(called(node), ()):
                if isinstance(node.func, ast.Attribute):
                    owner = source.of(node.func.value)
                    text = other if other == "list" else f"{owner}.{other}"
                    yield source.replaced("confused", node.func, text)
                elif other == "list":
                    yield source.replaced("confused", node.func, other)


def layers(source: Source) -> Iterator[Edit]:
    """A bias more or less, another dropout, another epsilon, sizes of a layer exchanged, a layer left out."""
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        name, function = called(node), source.of(node.func)
        given = [*map(source.of, node.args), *map(source.of, node.keywords)]
        words = {keyword.arg for keyword in node.keywords}
        if name in ("Linear", "Conv1d", "LayerNorm") and "bias" not in words:
            yield source.replaced("bias", node, f"{function}({', '.join([*given, 'bias=False'])})")
        if name == "Linear" and len(node.args) == 2:
            for argument in node.args:
                size = source.of(argument)
                yield source.replaced("width", node, f"{function}({', '.join([size, size, *given[2:]])})")
        if name == "LayerNorm":
            kept = [text for text in given if not text.startswith("eps")]
            yield source.replaced("eps", node, f"{function}({', '.join([*kept, 'eps=0.1'])})")
            yield source.replaced("affine", node, f"{function}({', '.join([*given, 'elementwise_affine=False'])})")
        if name in ("Dropout", "dropout") and node.args:
            yield source.replaced("dropout", node.args[0 if name == "Dropout" else -1], "0.0")
            yield source.replaced("dropout", node.args[0 if name == "Dropout" else -1], "0.9")
        if name in ("Dropout", "ReLU", "GELU", "LayerNorm", "Linear") and isinstance(node.func, ast.Attribute):
            yield source.replaced("layer", node, f"{source.of(node.func.value)}.Identity()")
        if name in ("arange", "range") and len(node.args) == 1:
            size = source.of(node.args[0])
            rest = "".join(f", {text}" for text in given[1:])
            yield source.replaced("position", node, f"{function}(1, {size} + 1{rest})")
            yield source.replaced("position", node, f"{function}({size} - 1{rest})")


def norm_order(source: Source) -> Iterator[Edit]:
    """``norm(a + b)`` as ``norm(a) + b`` and the reverse: what is normalised, and when."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.BinOp):
            both, function = node.args[0], source.of(node.func)
            if isinstance(both.op, ast.Add):
                left, right = source.of(both.left), source.of(both.right)
                yield source.replaced("norm order", node, f"({function}({left}) + {right})")
                yield source.replaced("norm order", node, f"({left} + {function}({right}))")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            outer = node.right
            if isinstance(outer, ast.Call) and len(outer.args) == 1 and isinstance(outer.args[0], ast.Call):
                inner, left = outer.args[0], source.of(node.left)
                if len(inner.args) == 1:
                    function, norm, value = source.of(outer.func), source.of(inner.func), source.of(inner.args[0])
                    yield source.replaced("norm order", node, f"{norm}({left} + {function}({value}))")


def results(source: Source) -> Iterator[Edit]:
    """What a function returns: cut from the graph, in another precision, with dropout, negated, doubled."""
    torch = "torch" in source.text or "nn." in source.text or "F." in source.text
    for node in source.nodes:
        if not isinstance(node, ast.Return) or node.value is None or isinstance(node.value, ast.Tuple):
            continue
        if not isinstance(node.value, ast.Name | ast.Call | ast.BinOp):
            continue
        value = f"({source.of(node.value)})"
        endings = (".half().float()", ".int()", ".detach()", ".double()") if torch else (".astype(int)", ".tolist()")
        for ending in (*endings, " * 2", "[:1]"):
            operator = "detach" if ending == ".detach()" else "result"
            yield source.replaced(operator, node.value, value + ending)
        yield source.replaced("result", node.value, "-" + value)
        function = source.function(node)
        if torch and function is not None and function.name == "forward" and "F." in source.text:
            yield source.replaced("dropout", node.value, f"F.dropout({value}, 0.1)")
        elif torch and function is not None and function.name == "forward" and "nn." in source.text:
            yield source.replaced("dropout", node.value, f"nn.functional.dropout({value}, 0.1)")


def in_place(source: Source) -> Iterator[Edit]:
    """What came in is changed: ``a + b`` as ``a.add_(b)``, ``x.relu()`` as ``x.relu_()``."""
    torch = "torch" in source.text or "nn." in source.text
    for node in source.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name) and torch:
            verb = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}.get(type(node.op))
            if verb:
                yield source.replaced("in-place", node, f"{node.left.id}.{verb}({source.of(node.right)})")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called(node) in _IN_PLACE:
            yield source.replaced("in-place", node.func, f"{source.of(node.func.value)}.{node.func.attr}_")
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and torch:
            yield source.replaced("detach", node.value, f"{source.of(node.value)}.detach()")


ON_ARRAYS = (axes, confused, layers, norm_order, results, in_place)
