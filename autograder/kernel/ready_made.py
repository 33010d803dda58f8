"""Notes which ready-made parts run while a hidden cell calls the student's code, wherever that code has them from.

As long as it calls, the functions of listed parts have other code, which notes the part and then does what they did.
Functions of torch that are not written in Python are seen by a mode of torch's. What a part is made of is not noted.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from fnmatch import filter
from functools import lru_cache, partial
from types import CodeType, FunctionType
from typing import Any, cast


class ReadyMade:
    """``ran``: the names of the parts' functions that have run since this was entered.

    listed: a module and the name of a function or class in it; a star stands for any text. Imports none of them.
    """

    def __init__(self, listed: Iterable[str]) -> None:
        self.ran: set[str] = set()
        self._parts = _parts(tuple(listed), len(sys.modules))
        self._kept: dict[FunctionType, FunctionType] = {}
        self._beneath, self._mode, self._without_mode = 0, cast(Any, nullcontext()), cast(Any, nullcontext)

    def __enter__(self) -> "ReadyMade":
        compiled = {}  # torch's name of a function, which is that of its operator, too -> the part's
        for name, part in self._parts.items():
            for key, function in _functions(name, part):
                if function not in self._kept:
                    kept = self._kept[function] = _copy(function)
                    function.__code__ = _calling(partial(self._run, key, kept), kept.__code__)
                    vars(function).setdefault("__wrapped__", kept)  # whoever asks what it takes is told the same
            if not isinstance(part, type | FunctionType):
                compiled[part.__name__] = name
        if torch := sys.modules.get("torch"):
            self._mode, self._without_mode = _mode(torch, compiled, self._note), torch._C.DisableTorchFunction
        self._mode.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for function, kept in self._kept.items():
            function.__code__ = kept.__code__
            if vars(function).get("__wrapped__") is kept:
                del vars(function)["__wrapped__"]
        with suppress(RuntimeError):  # the student's code ended the mode
            self._mode.__exit__(None, None, None)

    def _note(self, name: str) -> None:
        if not self._beneath:
            self.ran.add(name)

    def _run(self, name: str, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Without torch's mode, under which some modules of torch would take another path."""
        self._note(name)
        self._beneath += 1
        try:
            with self._without_mode():
                return function(*args, **kwargs)
        finally:
            self._beneath -= 1


@lru_cache(maxsize=1)
def _parts(listed: tuple[str, ...], imported: int) -> dict[str, Any]:
    """Name -> function or class of what is imported; of those that a star stands for, what the module itself makes.

    imported: how many modules are, so that all are looked at again when there are more.
    """
    found = {}
    for owner, _, last in (one.rpartition(".") for one in listed):
        for module in filter(list(sys.modules), owner):
            space = getattr(sys.modules[module], "__dict__", {})
            for name in filter(list(space), last):
                own = name == last or getattr(space[name], "__module__", None) in (module, None)
                if own and callable(space[name]) and hasattr(space[name], "__name__"):
                    found[f"{module}.{name}"] = space[name]
    return found


def _functions(name: str, part: Any) -> Iterator[tuple[str, FunctionType]]:
    """The function itself; of a class its methods, without those by which an object is made."""
    found = {name: part}
    if isinstance(part, type):
        found = {f"{name}.{key}": one for key, one in vars(part).items() if key == "__call__" or key[:1] != "_"}
    for key, one in found.items():
        function = getattr(one, "__func__", getattr(one, "fget", one))
        if isinstance(function, FunctionType):
            yield key, function


def _copy(function: FunctionType) -> FunctionType:
    of = function
    copy = FunctionType(of.__code__, of.__globals__, of.__name__, of.__defaults__, of.__closure__)
    copy.__kwdefaults__ = of.__kwdefaults__
    return copy


def _calling(instead: Any, old: CodeType) -> CodeType:
    """Code that calls ``instead`` with whatever it is given, and says that it stands where the old code does."""
    new = _template(old.co_freevars)
    place = {name: getattr(old, name) for name in ("co_filename", "co_firstlineno", "co_name", "co_qualname")}
    return new.replace(co_consts=tuple(instead if one == "instead" else one for one in new.co_consts), **place)


@lru_cache
def _template(free: tuple[str, ...]) -> CodeType:
    """free: names of a surrounding function; a function's code is exchanged for one with as many of them."""
    names, space = ", ".join(free), dict[str, Any]()
    text = f"def around({names}):\n def part(*args, **kwargs):\n  call = 'instead'\n  return call(*args, **kwargs)\n"
    exec(f"{text}  ({names})\n return part", space)
    code: CodeType = space["around"](*free).__code__
    return code


def _mode(torch: Any, compiled: Mapping[str, str], note: Callable[[str], None]) -> Any:
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if name := compiled.get(getattr(function, "__name__", "").partition(".")[0]):
                note(name)
            return function(*args, **kwargs or {})

    return Mode()
