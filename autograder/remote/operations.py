"""What one side can ask the other to do with an object: Python's own operations, by name."""

import copy
import operator
from collections.abc import Callable
from typing import Any


def _special(name: str) -> Callable[..., Any]:
    def operation(value: Any, *args: Any) -> Any:
        return getattr(type(value), name)(value, *args)

    return operation


def _call(function: Any, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def _method(value: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    return getattr(value, name)(*args, **kwargs)


def _array(value: Any, *args: Any) -> Any:
    import numpy as np

    return np.asarray(value.__array__(), *args)


#: Operators of two operands: dunder -> function. Each has a reflected form, ``__radd__`` and so on.
ARITHMETIC = {
    f"__{name.strip('_')}__": getattr(operator, name)
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "matmul",
        "lshift",
        "rshift",
        "and_",
        "or_",
        "xor",
    )
} | {"__divmod__": divmod}
IN_PLACE = {
    name: getattr(operator, name) for name in (f"__i{plain[2:]}" for plain in ARITHMETIC if plain != "__divmod__")
}
COMPARISONS = {f"__{name}__": getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
#: Operations that hand no value of the asking side to the object.
ALONE: dict[str, Callable[..., Any]] = {
    "__len__": len, "__iter__": iter, "__next__": next, "__reversed__": reversed, "__bool__": bool, "__int__": int,
    "__float__": float, "__complex__": complex, "__index__": operator.index, "__abs__": abs, "__neg__": operator.neg,
    "__pos__": operator.pos, "__invert__": operator.invert, "__bytes__": bytes, "__fspath__": _special("__fspath__"),
    "__enter__": _special("__enter__"), "__length_hint__": operator.length_hint, "__array__": _array,
    "__trunc__": _special("__trunc__"), "__floor__": _special("__floor__"), "__ceil__": _special("__ceil__"),
}  # fmt: skip
WITH_ARGUMENTS: dict[str, Callable[..., Any]] = {
    "__call__": _call, "__getitem__": operator.getitem, "__setitem__": operator.setitem,
    "__delitem__": operator.delitem, "__exit__": _special("__exit__"), "__round__": round,
    "__contains__": operator.contains,
}  # fmt: skip
EVERY_OBJECT: dict[str, Callable[..., Any]] = {
    "__repr__": repr, "__str__": str, "__format__": format, "__hash__": hash, "__dir__": dir, "getattr": getattr,
    "setattr": setattr, "delattr": delattr, "isinstance": isinstance, "issubclass": issubclass, "copy": copy.copy,
    "deepcopy": copy.deepcopy, "method": _method,
}  # fmt: skip
#: Names that a class is asked for: which of them it has decides what can be done with its objects elsewhere.
SPECIAL = (
    *ARITHMETIC, *(f"__r{name[2:]}" for name in ARITHMETIC), *IN_PLACE, *ALONE, *WITH_ARGUMENTS,
)  # fmt: skip
OPERATIONS: dict[str, Callable[..., Any]] = (
    ARITHMETIC | IN_PLACE | COMPARISONS | ALONE | WITH_ARGUMENTS | EVERY_OBJECT
)  # fmt: skip
