"""Handles: what a kernel holds of an object that lives in the other one.

Operations go through, and what they return is data, or a handle again. What a test compares with never goes through an
operator: the other side would decide the comparison.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from autograder.remote.names import find
from autograder.remote.operations import ALONE, ARITHMETIC, COMPARISONS, IN_PLACE


def link_of(value: Any) -> "Link | None":
    """Where a handle, an object with content or a class of the other side stands; None for all else."""
    cls = type(value)
    if isinstance_of_meta(cls):
        try:
            return object.__getattribute__(value, "_remote_link")
        except AttributeError:
            return None
    if isinstance_of_meta(value):
        return type.__getattribute__(value, "__dict__").get("_remote_class_link")
    return None


def isinstance_of_meta(cls: Any) -> bool:
    return RemoteMeta in type.__getattribute__(type(cls), "__mro__") if isinstance(type(cls), type) else False


class RemoteMeta(type):
    """Marks every class that stands for one of the other side's."""


def short(value: Any) -> str:
    link = link_of(value)
    name = (link.about.get("q") if link else None) or getattr(type(value), "__name__", "object")
    return f"the student's {name}" if isinstance(value, type) or (link and link.about.get("k") == "function") else (
        f"an object of the student's class {name}")  # fmt: skip


def is_named(link: "Link", other: Any) -> bool:
    """Whether a function or class of the other side says to be one that this side has, too."""
    about = link.about
    return about.get("m") is not None and find(about["m"], about.get("q"), {}) is other


class Handle(metaclass=RemoteMeta):
    """An object of the other side. Its attributes, methods and operators are the other side's."""

    __slots__ = ("__weakref__", "_remote_link")
    _remote_claimed: type | None = None

    def __init_subclass__(cls, **_: Any) -> None:
        """Keeps what trusted classes do about their subclasses from running for those of the other side."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            cls = type(self)
            return cls._remote_claimed or cls
        if name.startswith("_remote_"):
            return object.__getattribute__(self, name)
        if name in NEVER or name.startswith(("_repr_", "_ipython_")):
            raise AttributeError(name)
        link: Link = object.__getattribute__(self, "_remote_link")
        if name.startswith("__") and name.endswith("__") and name not in REMOTE:
            if name in ("__signature__", "__text_signature__"):
                raise AttributeError(name)
            return object.__getattribute__(self, name)
        return link.connection.ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _ask(self, "setattr", name, value)

    def __delattr__(self, name: str) -> None:
        _ask(self, "delattr", name)

    def __repr__(self) -> str:
        return str(_ask(self, "__repr__"))

    def __str__(self) -> str:
        return str(_ask(self, "__str__"))

    def __format__(self, how: str) -> str:
        return str(_ask(self, "__format__", how))

    def __dir__(self) -> list[str]:
        return list(_ask(self, "__dir__"))

    def __hash__(self) -> int:
        link = object.__getattribute__(self, "_remote_link")
        if "hash" not in link.about:
            how = type.__getattribute__(type(self), "_remote_hash")
            if how == "none":
                raise TypeError(f"unhashable type: {type(self).__name__!r}")
            return object.__hash__(self)
        return hash(link.about["hash"])

    def __bool__(self) -> bool:
        special = type.__getattribute__(type(self), "_remote_special")
        return bool(_ask(self, "__bool__")) if "__bool__" in special or "__len__" in special else True

    def __del__(self) -> None:
        """Nothing: what a trusted base class does at the end is not for a handle."""

    def __copy__(self) -> Any:
        return _ask(self, "copy")

    def __deepcopy__(self, memo: Any) -> Any:
        return _ask(self, "deepcopy")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"{short(self)} cannot be pickled here")


def _ask(handle: Any, operation: str, *args: Any) -> Any:
    return object.__getattribute__(handle, "_remote_link").connection.ask(operation, handle, *args)


def refuse(handle: Any, why: str, link: "Link | None") -> None:
    """Raises RemoteRefused, and lets the connection remember it, where this side is the one that tests."""
    if link is not None and link.connection.careful:
        message = f"{short(handle)} cannot be compared here, because {why}: compare what it returns, not the object"
        link.connection.refused(message)
        raise RemoteRefused(message)


def _is_theirs(value: Any) -> bool:
    return link_of(value) is not None


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: Any) -> Any:
        link: Link = object.__getattribute__(self, "_remote_link")
        if link.connection.careful and not _is_theirs(other):
            if name in ("__eq__", "__ne__") and (other is None or other is Ellipsis or is_named(link, other)):
                return (other is None or other is Ellipsis) == (name == "__ne__")
            if link.about.get("k") == "function" and name in ("__eq__", "__ne__"):
                return name == "__ne__"
            refuse(self, "its class would decide what is equal", link)
        return link.connection.ask(name, self, other)

    compare.__name__ = name
    return compare


for _name in COMPARISONS:
    setattr(Handle, _name, _comparison(_name))


def _operator(name: str, operation: str, reflected: bool) -> Callable[..., Any]:
    def operate(self: Any, *others: Any) -> Any:
        link: Link = object.__getattribute__(self, "_remote_link")
        return link.connection.ask(operation, *((*others, self) if reflected else (self, *others)))

    operate.__name__ = name
    return operate


def _alone(name: str) -> Callable[..., Any]:
    def operate(self: Any, *args: Any, **_: Any) -> Any:
        return _ask(self, name, *args)

    operate.__name__ = name
    return operate


def _contains(self: Any, item: Any) -> bool:
    return bool(_ask(self, "__contains__", item))


def _exit(self: Any, kind: Any = None, error: Any = None, trace: Any = None) -> Any:
    """An exception of the test's is told only where the solution was told of such a one, and ends there only where the
    solution ended it. A failed assertion is never told.
    """
    connection = object.__getattribute__(self, "_remote_link").connection
    if kind is None or not connection.careful:
        return connection.ask("__exit__", self, kind, error, trace)
    told = not issubclass(kind, AssertionError) and connection.may("__exit__", f"told of {kind.__name__}")
    swallowed = connection.ask("__exit__", self, *((kind, error, None) if told else (None, None, None)))
    return bool(swallowed) and told and connection.may("__exit__", f"swallowed {kind.__name__}")


def call(self: Any, *args: Any, **kwargs: Any) -> Any:
    return object.__getattribute__(self, "_remote_link").connection.ask("__call__", self, *args, **kwargs)


def forwarders(special: list[Any]) -> dict[str, Callable[..., Any]]:
    """The special methods of a class whose objects live on the other side."""
    made: dict[str, Callable[..., Any]] = {}
    for name in special:
        plain = f"__{name[3:]}" if isinstance(name, str) and name.startswith("__r") else ""
        if name in ARITHMETIC or name in IN_PLACE:
            made[name] = _operator(name, name, reflected=False)
        elif plain in ARITHMETIC:
            made[name] = _operator(name, plain, reflected=True)
        elif name == "__contains__":
            made[name] = _contains
        elif name == "__call__":
            made[name] = call
        elif name == "__exit__":
            made[name] = _exit
        elif name in ALONE or name in ("__getitem__", "__setitem__", "__delitem__", "__round__"):
            made[name] = _alone(name)
    made.pop("__bool__", None)
    return made


#: What libraries ask a value for to read its memory, to copy or to show it; no object of the other side is asked.
NEVER = frozenset((
    "__array_interface__", "__array_struct__", "__array_function__", "__array_ufunc__", "__array_wrap__",
    "__array_finalize__", "__array_priority__", "__cuda_array_interface__", "__dlpack__", "__dlpack_device__",
    "__torch_function__", "__torch_dispatch__", "__buffer__", "__getstate__", "__setstate__", "__getnewargs__",
    "__getnewargs_ex__", "__jax_array__", "__dataframe__", "__arrow_c_stream__", "__arrow_c_array__",
    "__pytest_wrapped__", "__objclass__",
))  # fmt: skip
#: Special names of an object that are the other side's to tell.
REMOTE = frozenset((
    "__dict__", "__doc__", "__annotations__", "__slots__", "__wrapped__", "__defaults__", "__kwdefaults__",
    "__members__", "__abstractmethods__", "__self__", "__func__", "__name__", "__qualname__", "__module__",
    "__version__", "__all__", "__type_params__", "__match_args__", "__post_init__", "__isabstractmethod__",
    "__dataclass_params__", "__init__", "__new__", "__eq__", "__lt__", "__init_subclass__", "__path__", "__file__",
    "__notes__", "__cause__", "__context__", "__get__", "__set__", "__delete__",
))  # fmt: skip
#: What a class of the other side tells here.
LOCAL = frozenset((
    "__class__", "__mro__", "__bases__", "__base__", "__name__", "__qualname__", "__module__", "__subclasses__",
    "__flags__", "__instancecheck__", "__subclasscheck__", "__call__", "__new__", "__basicsize__", "__dictoffset__",
    "__mro_entries__", "__dataclass_fields__", "__signature__", "__text_signature__", "__origin__",
    "__parameters__", "__args__", "__typing_subst__", "__typing_is_unpacked_typevartuple__", "__set_name__",
    "__weakrefoffset__", "__subclasshook__", "__init_subclass__", "__reduce_ex__", "__reduce__", "__getstate__",
    "__prepare__", "__hash__", "__dir__", "__sizeof__", "__copy__", "__deepcopy__",
))  # fmt: skip
#: What data decides itself, beside comparisons, whatever a class of the other side defines.
KEPT = frozenset((
    "__hash__", "__class__", "__new__", "__init__", "__getattribute__", "__setattr__", "__delattr__",
    "__init_subclass__", "__subclasshook__", "__reduce__", "__reduce_ex__", "__getstate__", "__dir__",
    "__class_getitem__", "__sizeof__", "__doc__", "__getnewargs__", "_make", "_replace", "_asdict",
))  # fmt: skip
#: Names that modules are usually imported under.
USUAL_NAMES = {
    "np": "numpy", "pd": "pandas", "pl": "polars", "plt": "matplotlib.pyplot", "mpl": "matplotlib", "sns": "seaborn",
    "sp": "scipy", "tf": "tensorflow", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim",
    "jnp": "jax.numpy", "xr": "xarray", "nx": "networkx", "sm": "statsmodels.api", "dt": "datetime", "nt": "nose.tools",
}  # fmt: skip


@dataclass
class Link:
    """connection: the one that asks; number: the other side's; ended: that kernel is gone."""

    connection: Any
    number: int
    about: dict[str, Any] = field(default_factory=dict, repr=False)
    ended: bool = False


class RemoteRefused(BaseException):
    """An operation that would let the other side decide what a test compares. No ``except Exception`` swallows it."""


class RemoteDied(BaseException):
    """The student's kernel is gone, or does not answer as one does. No ``except Exception`` swallows it."""
