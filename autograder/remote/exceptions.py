"""Exceptions cross by their type, what they were made of, and their text."""

from typing import Any

from autograder.remote.kinds import CannotCross, InlineKind, register
from autograder.remote.plain import expect

_MAX_TEXT = 10_000
#: Where the text of an exception is kept whose class only the other side has.
TEXT = "_remote_text"
TRACE = "remote_traceback"


def text_of(error: BaseException) -> str:
    try:
        return str(error)[:_MAX_TEXT]
    except BaseException as failed:  # a __str__ of the student's
        return f"(its __str__ raised {type(failed).__name__})"


def _write(error: Any, encoder: Any) -> list[Any]:
    state = {name: value for name, value in vars(error).items() if isinstance(name, str) and name not in (TEXT, TRACE)}
    args = BaseException.args.__get__(error)  # type: ignore[attr-defined]
    cause = error.__cause__ if isinstance(error.__cause__, BaseException) else None
    return [
        encoder.node(type(error)), encoder.nodes(args), [[name, encoder.node(value)] for name, value in state.items()],
        text_of(error), encoder.node(cause),
    ]  # fmt: skip


def builtin_base(cls: type) -> type[BaseException]:
    """The nearest built-in exception that a class derives from."""
    return next(base for base in cls.__mro__ if base.__module__ == "builtins" and issubclass(base, BaseException))


def _read(payload: Any, decoder: Any) -> BaseException:
    written, args, state, text, cause = payload
    cls = decoder.node(written)
    if not (isinstance(cls, type) and issubclass(cls, BaseException)):
        raise CannotCross("expected the class of an exception")
    values = decoder.nodes(args)
    base = builtin_base(cls)
    try:
        error = base.__new__(cls, *values)
        base.__init__(error, *values)
    except Exception:  # not made of what its class asks for, as where a student's __init__ calls no other
        error = BaseException.__new__(cls, *values)
    attributes = {expect(name, str): decoder.node(value) for name, value in state}
    for name in [name for name in attributes if name.startswith("__") and name != "__notes__"]:
        del attributes[name]
    error.__dict__.update(attributes | {TEXT: expect(text, str)})
    reason = decoder.node(cause)
    error.__cause__ = reason if isinstance(reason, BaseException) else None
    error.__suppress_context__ = False
    return error


register(InlineKind("exception", _write, _read))


def _told_text(error: BaseException) -> str:
    text = error.__dict__.get(TEXT)
    return text if isinstance(text, str) else BaseException.__str__(error)


def make_class(name: str, module: str, bases: tuple[type, ...], meta: type, space: dict[str, Any]) -> type:
    """An exception class that stands for one of the other side's: its text is the text that came along."""
    made: type = meta.__new__(meta, name, bases, space | {"__module__": module, "__str__": _told_text})
    return made
