"""What is told about an object that stays where it is, so that a handle can behave like it."""

import builtins
import dataclasses
import functools
import inspect
import types
from typing import Any

from autograder.remote.kinds import kind_of, kind_of_base
from autograder.remote.names import name_of
from autograder.remote.operations import SPECIAL

FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    functools._lru_cache_wrapper,
)
#: Built-in classes that cross by name beside those of data.
_BY_NAME = {object, bool, float, type(None)}
_MAX_DOC = 20_000


def crosses_by_name(cls: type) -> bool:
    """Whether a class is named instead of described: classes of data, built-in exceptions, object."""
    if cls.__module__ == "builtins":
        exception = issubclass(cls, BaseException) and getattr(builtins, cls.__name__, None) is cls
        return exception or cls in _BY_NAME or kind_of(cls) is not None
    return kind_of(cls) is not None


def about_class(cls: type, encoder: Any) -> dict[str, Any]:
    module, qualname = name_of(cls)
    base = kind_of_base(cls)
    return {
        "k": "class",
        "m": module,
        "q": qualname,
        "exception": issubclass(cls, BaseException),
        "bases": [encoder.node(parent) for parent in cls.__bases__ if parent is not object],
        "special": [name for name in SPECIAL if _has(cls, name)],
        "hash": "object" if cls.__hash__ is object.__hash__ else "none" if cls.__hash__ is None else "own",
        "own": sorted(_own(cls, base[0])) if base else [],
        "fields": [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else None,
        "tuple": list(getattr(cls, "_fields", [])) if issubclass(cls, tuple) and _has(cls, "_fields") else None,
        "plain": type(cls) is type,
        "sig": signature(cls, encoder),
        "doc": _doc(cls),
    }


def _has(cls: type, name: str) -> bool:
    return any(base.__dict__.get(name) is not None for base in cls.__mro__)


def _own(cls: type, base: type) -> set[str]:
    """The names that a class defines above the kind of data that it derives from."""
    above = cls.__mro__[: cls.__mro__.index(base)]
    return {name for one in above for name in one.__dict__ if isinstance(name, str)}


def _doc(value: Any) -> str | None:
    doc = getattr(value, "__doc__", None)
    return doc[:_MAX_DOC] if isinstance(doc, str) else None


def is_function(value: Any) -> bool:
    return isinstance(value, FUNCTIONS)


def about_object(value: Any, encoder: Any) -> dict[str, Any]:
    about: dict[str, Any] = {"k": "object", "class": encoder.node(type(value))}
    if isinstance(value, types.ModuleType):
        about["module"] = value.__name__
    if type(value).__hash__ not in (None, object.__hash__):
        try:
            about["hash"] = hash(value)
        except Exception:
            about["hash"] = None
    return about


def about_function(function: Any, encoder: Any) -> dict[str, Any]:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return {
        "k": "function",
        "m": module if isinstance(module, str) else None,
        "q": name if isinstance(name, str) else None,
        "type": list(name_of(type(function))),
        "name": getattr(function, "__name__", None),
        "doc": _doc(function),
        "sig": signature(function, encoder),
    }


def signature(value: Any, encoder: Any) -> Any:
    """[[name, kind, [default] or [], annotation], …] and the annotation of the result; None where there is none."""
    try:
        found = inspect.signature(value)
    except Exception:
        return None
    parameters = [
        [one.name, int(one.kind), _default(one.default, encoder), _annotation(one.annotation, encoder)]
        for one in found.parameters.values()
    ]
    return [parameters, _annotation(found.return_annotation, encoder)]


def _default(default: Any, encoder: Any) -> list[Any]:
    """A test's defaults stay here: they may be what it expects."""
    if default is inspect.Parameter.empty:
        return []
    return [encoder.node(None if encoder.side.careful else default)]


def _annotation(annotation: Any, encoder: Any) -> list[Any]:
    if annotation is inspect.Signature.empty:
        return []
    if isinstance(annotation, str) or (isinstance(annotation, type) and crosses_by_name(annotation)):
        return [encoder.node(annotation)]
    return [encoder.node(inspect.formatannotation(annotation))]


def read_signature(data: Any, decoder: Any) -> inspect.Signature | None:
    if data is None:
        return None
    empty = inspect.Parameter.empty
    parameters = [
        inspect.Parameter(
            name, list(inspect._ParameterKind)[kind],
            default=decoder.node(default[0]) if default else empty,
            annotation=decoder.node(annotation[0]) if annotation else empty,
        )
        for name, kind, default, annotation in data[0]
    ]  # fmt: skip
    return inspect.Signature(parameters, return_annotation=decoder.node(data[1][0]) if data[1] else empty)
