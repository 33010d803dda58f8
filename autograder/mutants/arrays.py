"""Changes to code on arrays and tensors (NumPy, PyTorch): the mistakes of the field, whatever the subject."""

import ast
from collections.abc import Iterator

from autograder.mutants.source import Edit, Source

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


OPERATORS = (axes, confused, layers, norm_order, results, in_place)
