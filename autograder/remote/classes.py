"""Classes of the other side: real classes here, so that ``isinstance``, ``type`` and ``except`` work."""

import dataclasses
import types
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from autograder.remote.describe import crosses_by_name, read_signature
from autograder.remote.exceptions import make_class as make_exception
from autograder.remote.handle import (
    KEPT,
    LOCAL,
    Handle,
    Link,
    RemoteMeta,
    RemoteRefused,
    call,
    forwarders,
    is_named,
    isinstance_of_meta,
    link_of,
    short,
)  # fmt: skip
from autograder.remote.kinds import CannotCross, kind_of, kind_of_base
from autograder.remote.names import MAIN, find_class
from autograder.remote.operations import COMPARISONS

__all__ = ["is_remote_class", "link_of", "make", "short"]

is_remote_class = isinstance_of_meta


def _class_link(cls: Any) -> Link | None:
    return type.__getattribute__(cls, "__dict__").get("_remote_class_link")


#: Packages whose exceptions tell a test runner what to do, as ``unittest.SkipTest`` does: nobody raises them from afar.
_STEERING = frozenset(("unittest", "pytest", "_pytest", "nose", "doctest", "bdb", "IPython", "ipykernel", "autograder"))


class RemoteClass(RemoteMeta):
    """The type of classes that live on the other side. To call one makes its object there."""

    def __new__(meta, name: str, bases: tuple[type, ...], space: dict[str, Any], **kwargs: Any) -> Any:
        if "_remote_class_link" not in space and any(_class_link(base) is not None for base in bases):
            raise RemoteRefused(f"a test cannot derive {name} from {short(bases[0])}: it is in another process")
        # past what a metaclass of a trusted base class does: it would run on the word of the other side
        return type.__new__(meta, name, bases, space)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _ask(cls, "__call__", *args, **kwargs)

    def __getattribute__(cls, name: str) -> Any:
        link = _class_link(cls)
        if name in LOCAL or name.startswith("_remote_") or link is None or link.connection.reading:
            return type.__getattribute__(cls, name)
        if name.startswith(("__array", "__torch")):
            raise AttributeError(name)
        return _ask(cls, "getattr", name)

    def __setattr__(cls, name: str, value: Any) -> None:
        link = _class_link(cls)
        if link is None or link.connection.reading or name.startswith("_abc_"):
            type.__setattr__(cls, name, value)
        else:
            _ask(cls, "setattr", name, value)

    def __delattr__(cls, name: str) -> None:
        _ask(cls, "delattr", name)

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        asked = link_of(instance) is not None or not _about(cls).get("plain", True)
        return asked and _by_its_word(cls, "isinstance", instance)

    def __subclasscheck__(cls, other: Any) -> bool:
        if type.__subclasscheck__(cls, other):
            return True
        asked = link_of(other) is not None and not _about(cls).get("plain", True)
        return asked and _by_its_word(cls, "issubclass", other)

    def __eq__(cls, other: Any) -> bool:
        link = _class_link(cls)
        if cls is other or not isinstance(other, type) or link is None:
            return cls is other
        return not crosses_by_name(other) and is_named(link, other)  # data's own classes cross as themselves

    def __hash__(cls) -> int:
        return type.__hash__(cls)

    def __bool__(cls) -> bool:
        return True

    def __repr__(cls) -> str:
        return str(_ask(cls, "__repr__"))

    def __dir__(cls) -> list[str]:
        return list(_ask(cls, "__dir__"))

    def __iter__(cls) -> Iterator[Any]:
        return iter(_ask(cls, "__iter__"))

    def __len__(cls) -> int:
        return int(_ask(cls, "__len__"))

    def __getitem__(cls, key: Any) -> Any:
        return _ask(cls, "__getitem__", key)

    def __contains__(cls, item: Any) -> bool:
        return bool(_ask(cls, "__contains__", item))


def _about(cls: type) -> dict[str, Any]:
    link = _class_link(cls)
    return {} if link is None else link.about


def _ask(cls: Any, operation: str, *args: Any, last: bool = False, **kwargs: Any) -> Any:
    link = _class_link(cls)
    if link is None:
        raise TypeError(f"{type.__repr__(cls)} is no class of the other side")
    return link.connection.ask(operation, *((*args, cls) if last else (cls, *args)), **kwargs)


def _by_its_word(cls: type, operation: str, value: Any) -> bool:
    """Who inherits from whom is known here; what a class says beyond that counts where the solution's says so, too."""
    link = _class_link(cls)
    told = link is not None and bool(_ask(cls, operation, value, last=True))
    return told and link is not None and bool(link.connection.may(operation, "by its own word"))


class RemoteExceptionClass(RemoteMeta):
    """The type of exception classes of the other side; they can be raised and caught here."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _ask(cls, "__call__", *args, **kwargs)


def make(link: Link, decoder: Any) -> Any:
    """The handle or class for a description."""
    kind = link.about.get("k")
    if kind == "class":
        return _make_class(link, decoder)
    if kind == "function":
        link.about["signature"] = read_signature(link.about.get("sig"), decoder)
        return _bare(RemoteFunction, link)
    if kind != "object":
        raise CannotCross("expected the description of a class, a function or an object")
    cls = decoder.node(link.about["class"])
    if not isinstance(cls, type):
        raise CannotCross("expected a class")
    return _bare(cls if issubclass(cls, Handle) else _plain_handle(cls, decoder), link)


def _bare(cls: type, link: Link) -> Any:
    handle: Any = object.__new__(cls)
    object.__setattr__(handle, "_remote_link", link)
    return handle


def _space(link: Link, name: str, module: str) -> dict[str, Any]:
    return {"__module__": module, "_remote_class_link": link, "__qualname__": link.about.get("q") or name}


def _make_class(link: Link, decoder: Any) -> type:
    about = link.about
    module, qualname = str(about["m"]), str(about["q"])
    name = qualname.rpartition(".")[2][:200] or "object"
    bases = tuple(decoder.node(base) for base in about["bases"])
    if not all(isinstance(base, type) for base in bases):
        raise CannotCross("expected base classes")
    real = find_class(module, qualname, {}) if module != MAIN else None
    signature = read_signature(about.get("sig"), decoder)
    space = _space(link, name, module) | ({"__signature__": signature} if signature else {})
    if about.get("exception"):
        known = real is not None and issubclass(real, BaseException) and not _steers(real)
        return real if known and real is not None else _exception(name, module, bases, space)
    if any(_is_data(base) for base in bases):
        safe = real is not None and any(real.__eq__ is base.__eq__ for base in real.__mro__[1:] if kind_of(base))
        return real if safe and real is not None else _content_class(link, name, bases, space)
    return _handle_class(link, name, bases, real, space)


def _steers(cls: type) -> bool:
    """By where the class that was found comes from: many modules have a second name for it."""
    return cls.__module__.partition(".")[0] in _STEERING


def _is_data(cls: type) -> bool:
    return kind_of(cls) is not None or issubclass(cls, float) or kind_of_base(cls) is not None


def _exception(name: str, module: str, bases: tuple[type, ...], space: dict[str, Any]) -> type:
    parents = tuple(base for base in bases if issubclass(base, BaseException)) or (Exception,)
    return make_exception(name, module, parents, _metaclass(RemoteExceptionClass, parents), space)


def _metaclass(wanted: type, parents: tuple[type, ...]) -> Any:
    """``wanted``, mixed with the metaclasses of the parents."""
    metas = {wanted, *(type(parent) for parent in parents)}
    least = [one for one in metas if not any(other is not one and issubclass(other, one) for other in metas)]
    least.sort(key=lambda one: not issubclass(one, RemoteMeta))
    return least[0] if len(least) == 1 else type(wanted.__name__, tuple(least), {})


def _handle_class(link: Link, name: str, bases: tuple[type, ...], real: type | None, space: dict[str, Any]) -> type:
    about = link.about
    space |= forwarders(about["special"]) | {
        "_remote_special": tuple(about["special"]), "_remote_hash": about.get("hash"), "_remote_claimed": None,
    }  # fmt: skip
    if isinstance(about.get("fields"), list):
        space["__dataclass_fields__"] = _fields(about["fields"])
    wanted = (real,) if real is not None and not _is_data(real) else bases
    theirs = tuple(base for base in wanted if issubclass(base, Handle))
    ours = tuple(base for base in wanted if not issubclass(base, Handle) and not _is_data(base) and base is not object)
    inherited = ours if all(_holds_nothing(base) for base in ours) else ()
    claimed = next((base for base in ours), None)
    for parents in ((*theirs, *((Handle,) if not theirs else ()), *inherited), theirs or (Handle,), (Handle,)):
        try:
            meta = _metaclass(RemoteClass, parents)
            made: type = RemoteClass.__new__(meta, name, parents, dict(space))
            type.__setattr__(made, "__abstractmethods__", frozenset())
            object.__new__(made)
            type.__setattr__(made, "_remote_claimed", None if claimed is None or issubclass(made, claimed) else claimed)
            return made
        except Exception:
            continue
    raise CannotCross(f"no class can stand for {name}")


def _holds_nothing(cls: type) -> bool:
    """Whether objects of a class are a ``__dict__`` and nothing else: memory that C code reads would be empty here."""
    return cls.__basicsize__ <= object.__basicsize__ + 16 and cls.__itemsize__ == 0


def _fields(names: list[Any]) -> dict[str, Any]:
    made = dataclasses.make_dataclass("_Fields", [str(name) for name in names])
    return {field.name: field for field in dataclasses.fields(made)}


def _content_class(link: Link, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> type:
    """A class whose objects hold their content here; the methods that data has not are the other side's."""
    about = link.about
    base: Any = next(base for base in bases if _is_data(base))
    if isinstance(about.get("tuple"), list) and base is tuple:
        base = namedtuple(name, [str(field) for field in about["tuple"]])  # type: ignore[misc,no-redef]
    for method in about.get("own", []):
        if (
            hasattr(base, method)
            and method not in KEPT
            and method not in COMPARISONS
            and callable(getattr(base, method))
        ):
            space[method] = _override(str(method), getattr(base, method))
    if "__missing__" in about.get("own", []):
        space["__missing__"] = _missing
    space["__getattr__"] = _content_attribute
    return RemoteClass.__new__(_metaclass(RemoteClass, (base,)), name, (base,), space)


def _override(name: str, inherited: Callable[..., Any]) -> Callable[..., Any]:
    told = name in ("__repr__", "__str__")

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        link = link_of(self)
        if link is None or link.ended or not (told or link.connection.may_ask("method", self, name)):
            return inherited(self, *args, **kwargs)
        return link.connection.ask("method", self, name, *args, **kwargs)

    method.__name__ = name
    return method


def _missing(self: Any, key: Any) -> Any:
    link = link_of(self)
    if link is None:
        raise KeyError(key)
    return link.connection.ask("method", self, "__missing__", key)


def _content_attribute(self: Any, name: str) -> Any:
    link = link_of(self)
    special = name.startswith("__") and name.endswith("__")
    if link is None or special or name.startswith(("_repr_", "_ipython_", "_remote")):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    return link.connection.ask("getattr", self, name)


def _plain_handle(cls: type, decoder: Any) -> type:
    """A handle for an object whose class is known here by name."""
    space = {"_remote_special": (), "_remote_hash": "object", "_remote_claimed": None if _is_data(cls) else cls}
    return RemoteMeta(cls.__name__, (Handle,), space)


class RemoteFunction(Handle):
    """A function or method of the other side."""

    __slots__ = ()
    _remote_special = ("__call__",)
    _remote_hash = "object"

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__signature__", "__name__", "__qualname__", "__doc__", "__module__"):
            about = object.__getattribute__(self, "_remote_link").about
            if name == "__class__":
                return find_class(about["type"][0], about["type"][1], {}) or types.FunctionType
            if name == "__signature__" and about.get("signature") is None:
                raise AttributeError(name)
            found = about.get({"__qualname__": "q", "__module__": "m"}.get(name, name.strip("_")))
            if name in ("__signature__", "__doc__"):
                object.__getattribute__(self, "_remote_link").connection.was_read(name, found)
            return found
        if name in ("__code__", "__globals__", "__closure__", "__builtins__"):
            return object.__getattribute__(self, name)
        return super().__getattribute__(name)

    __call__ = call

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __hash__(self) -> int:
        return object.__hash__(self)
