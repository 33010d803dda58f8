"""What the student's code may do with an object of the test's that it was given.

Objects of the test's own classes, its functions, iterators and data are served. Of a library's objects nothing is, but
for functions and NumPy's objects, where they compute with numbers, and for mocks: a method of a library may evaluate a
text as code.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from inspect import getattr_static
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodDescriptorType, MethodType, ModuleType
from typing import Any
from unittest.mock import NonCallableMock

from autograder.remote.handle import link_of
from autograder.remote.kinds import kind_of
from autograder.remote.names import MAIN
from autograder.remote.objects import is_behaviour
from autograder.remote.operations import OPERATIONS, SPECIAL

_NEVER = ("__dir__", "isinstance", "issubclass", "copy", "deepcopy", "delattr")
_NAMING = ("getattr", "setattr", "method")
#: Where functions come from that compute with numbers and do nothing else.
_COMPUTING = ("math", "cmath", "operator", "_operator", "statistics", "random", "numpy", "torch", "scipy")
_BUILTINS = ("abs", "all", "any", "divmod", "len", "max", "min", "pow", "round", "sorted", "sum")
_TEXTS = (str, bytes, bytearray)
_MISSING = object()


def require_served(operation: str, args: list[Any], kwargs: Mapping[str, Any], namespace: Mapping[str, Any]) -> None:
    """Raises TypeError or AttributeError, as Python does where an object has no such thing."""
    if operation not in OPERATIONS or operation in _NEVER or not args:
        raise TypeError(f"{operation} cannot be asked of an object of the test")
    target, given = args[0], [*args[1:], *kwargs.values()]
    if operation in _NAMING:
        name = args[1]
        special = operation == "method" and name in SPECIAL  # of a class that derives from data
        if (
            not isinstance(name, str)
            or (name.startswith("_") and not special)
            or not _has(target, name, operation, given[-1])
        ):
            raise AttributeError(f"{type(target).__name__!r} object has no attribute {str(name)[:80]!r} for other code")
        if operation == "method":
            require_served("__call__", [getattr(target, name), *args[2:]], kwargs, namespace)
    elif not (_is_tests_own(target, namespace) or (_computes(target, operation) and not any(map(_may_be_code, given)))):
        raise TypeError(f"an object of {type(target).__name__} takes part in no computation of other code")


def _is_tests_own(value: Any, namespace: Mapping[str, Any]) -> bool:
    if isinstance(value, MethodType):
        return _is_tests_own(value.__func__, namespace)
    if isinstance(value, FunctionType):
        return value.__globals__ is namespace or _is_own(value.__module__)
    if isinstance(value, BuiltinFunctionType | MethodDescriptorType):  # list.append, str.upper, len
        owner = value.__objclass__ if isinstance(value, MethodDescriptorType) else type(value.__self__)
        return owner.__module__ == "builtins" and (owner is not ModuleType or value.__name__ in _BUILTINS)
    if isinstance(value, type):
        return _is_own(value.__module__)
    own = _is_own(type(value).__module__) or link_of(value) is not None or isinstance(value, NonCallableMock)
    return (
        own or kind_of(type(value)) is not None or isinstance(value, GeneratorType | BaseException) or _iterates(value)
    )


def _iterates(value: Any) -> bool:
    return type(value).__module__ in ("builtins", "itertools") and hasattr(type(value), "__next__")


def _has(target: Any, name: str, operation: str, value: Any) -> bool:
    """Whether this attribute can be read, called or set: of a class of the test's, of its objects, or of data."""
    if isinstance(target, NonCallableMock):
        child = getattr(target, name, None)
        return operation != "setattr" and isinstance(child, NonCallableMock)
    cls = target if isinstance(target, type) else type(target)
    if isinstance(target, ModuleType | FunctionType | MethodType | BuiltinFunctionType | GeneratorType):
        return False
    if kind_of(cls) is not None or issubclass(cls, BaseException):
        return operation != "setattr"
    if _is_numpys(cls):
        return operation != "setattr"
    owner = next((base for base in cls.__mro__ if name in base.__dict__), None)
    own = _is_own(cls.__module__) and (owner is None or _is_own(owner.__module__))
    if operation != "setattr":
        return own
    behaves = is_behaviour(getattr_static(cls, name, _MISSING)) or callable(value)
    return own and not isinstance(target, type) and not behaves


def _is_own(module: Any) -> bool:
    """The notebook, or a file of the assignment: nothing of a student's lies beside the tester's."""
    file = getattr(sys.modules.get(module), "__file__", None) if isinstance(module, str) else None
    return module == MAIN or (isinstance(file, str) and os.path.dirname(os.path.abspath(file)) == os.getcwd())


def _computes(target: Any, operation: str) -> bool:
    """A library's function, or an object of NumPy's, that can be asked to compute with numbers."""
    if _is_numpys(type(target)):
        return True
    module = (getattr(target, "__module__", None) or type(target).__module__).partition(".")[0]
    known = isinstance(target, BuiltinFunctionType | FunctionType | MethodType)
    return operation == "__call__" and known and module in _COMPUTING


def _is_numpys(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in ("numpy", "random")  # random generators among them


def _may_be_code(value: Any, depth: int = 5) -> bool:
    """Whether it is, or holds, a text or a function."""
    numpys = _is_numpys(type(value))
    if isinstance(value, _TEXTS) or link_of(value) is not None or (callable(value) and not numpys) or not depth:
        return True
    return any(_may_be_code(one, depth - 1) for one in _inside(value))


def _inside(value: Any) -> Iterator[Any]:
    if type(value) is dict:
        yield from (*value, *value.values())
    elif type(value) in (list, tuple, set, frozenset):
        yield from value
    elif getattr(getattr(value, "dtype", None), "kind", "f") in "OSU":
        yield ""
