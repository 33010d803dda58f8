"""Calls of a solution's functions and methods, recorded while the exercise's own cells run, and variations of them."""

import copy
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np

#: Of one function so many calls are kept: those with different arguments.
MAX_CALLS = 24
MAX_BYTES = 4 << 20


@dataclass
class Call:
    """One call. name: ``function`` or ``Class.method``. made: the arguments of ``Class``; None for a function.

    size: bytes of the arguments, and of the weights of the module whose method it is.
    """

    name: str
    arguments: dict[str, Any]
    made: dict[str, Any] | None = None
    source: str = "as called"
    size: int = 0


@dataclass
class Recorder:
    """Keeps the calls of code that was compiled from the files ``names``, in the order in which they came."""

    names: tuple[str, ...]
    classes: frozenset[str]
    calls: list[Call] = field(default_factory=list)
    _made: dict[int, tuple[Any, str, dict[str, Any]]] = field(default_factory=dict)
    _owners: list[tuple[Call, Any]] = field(default_factory=list)
    _seen: dict[str, set[bytes]] = field(default_factory=dict)

    @contextmanager
    def recording(self) -> Iterator[None]:
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            for call, one in self._owners:  # only now: what __init__ makes is not there when it is called
                call.size += _weight(one)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not frame.f_code.co_filename.endswith(self.names):
            return
        name = frame.f_code.co_qualname
        if "<" in name:
            return
        sys.setprofile(None)
        try:
            self._keep(name, frame)
        finally:
            sys.setprofile(self._profile)

    def _keep(self, name: str, frame: FrameType) -> None:
        code = frame.f_code
        words = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if code.co_flags & 0b1100:  # *args or **kwargs: the solution's own functions rarely have them
            return
        given = {word: frame.f_locals[word] for word in words}
        owner, _, method = name.rpartition(".")
        if not owner:
            self._add(Call(name, given))
        elif owner in self.classes and words:
            one = given.pop(words[0])
            if method == "__init__":
                if id(one) not in self._made:
                    self._made[id(one)] = (one, type(one).__qualname__, _copied(given) or {})
                    self._add(Call(f"{type(one).__qualname__}.__init__", {}, given), one)
            elif id(one) in self._made:
                _, kind, made = self._made[id(one)]
                self._add(Call(f"{kind}.{method}", given, made), one)

    def _add(self, call: Call, one: Any = None) -> None:
        seen = self._seen.setdefault(call.name, set())
        if len(seen) >= MAX_CALLS:
            return
        try:
            data = pickle.dumps((call.arguments, call.made))
        except Exception:  # a stand-in of the checks, a lambda: such a call cannot be made again
            return
        if len(data) > MAX_BYTES or data in seen:
            return
        seen.add(data)
        arguments, made = copy.deepcopy((call.arguments, call.made))
        self.calls.append(Call(call.name, arguments, made, call.source, len(data)))
        self._owners.append((self.calls[-1], one))


def _copied(given: dict[str, Any]) -> dict[str, Any] | None:
    try:
        copied: dict[str, Any] = copy.deepcopy(given)
        return copied
    except Exception:
        return None


def _weight(one: Any) -> int:
    """Bytes of a module's weights; 0 of anything else."""
    try:
        return sum(weight.numel() * weight.element_size() for weight in one.parameters())
    except Exception:
        return 0


#: Lengths that an axis is cut to or repeated up to, besides its double.
LENGTHS = (1, 3)


def variations(call: Call) -> Iterator[Call]:
    """The call itself, then others like it. The solution decides which of them make sense: where it stops, none."""
    yield call
    for name, change in _VALUES.items():
        yield _with(call, name, partial(_changed, change=change))
    for length in sorted(_lengths(call)):
        for other in sorted({*LENGTHS, 2 * length} - {length}):
            yield _with(call, f"length {length} → {other}", partial(_resized, length=length, other=other))
    if not _lengths(call):
        for number in (1, 2, 3, 7):
            yield _with(call, f"whole numbers → {number}", partial(_numbered, number=number))


def _changed(leaf: Any, change: Callable[[Any], Any]) -> Any:
    return change(leaf) if _is_real(leaf) else leaf


def _numbered(leaf: Any, number: int) -> Any:
    return number if type(leaf) is int else leaf


def _with(call: Call, source: str, change: Callable[[Any], Any]) -> Call:
    arguments, made = _mapped(copy.deepcopy((call.arguments, call.made)), change)
    return Call(call.name, arguments, made, source, call.size)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with every leaf changed."""
    if isinstance(value, dict):
        return {key: _mapped(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_mapped(each, change) for each in value])
    if hasattr(value, "__dict__") and not _is_array(value) and not callable(value):
        try:
            made = copy.copy(value)
            for name, each in vars(value).items():
                object.__setattr__(made, name, _mapped(each, change))
            return made
        except Exception:
            return value
    return change(value)


def _is_array(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(value, np.ndarray) or (torch is not None and isinstance(value, torch.Tensor))


def _is_real(value: Any) -> bool:
    """A float array that is no mask of zeros and ones."""
    if not _is_array(value) or "float" not in str(value.dtype):
        return False
    numbers = np.asarray(value.detach() if hasattr(value, "detach") else value)
    return not bool(np.isin(numbers, (0.0, 1.0)).all())


def _double(value: Any) -> Any:
    return value.double() if hasattr(value, "double") else value.astype(np.float64)


def _single(value: Any) -> Any:
    return value.float() if hasattr(value, "float") else value.astype(np.float32)


_VALUES: dict[str, Callable[[Any], Any]] = {
    "100 times larger": lambda value: value * 100,
    "10,000 times larger": lambda value: value * 1e4,
    "100 times smaller": lambda value: value / 100,
    "negative": lambda value: -value,
    "backwards": lambda value: value.flip(-1) if hasattr(value, "flip") else value[..., ::-1].copy(),
    "one batch entry twice": lambda value: value * 0 + value[:1],
    "double precision": _double,
    "single precision": _single,
}


def _lengths(call: Call) -> set[int]:
    found: set[int] = set()

    def note(leaf: Any) -> Any:
        if _is_array(leaf):
            found.update(int(length) for length in leaf.shape)
        return leaf

    _mapped((call.arguments, call.made), note)
    return {length for length in found if 1 < length <= 64}


def _resized(leaf: Any, length: int, other: int) -> Any:
    """Every axis of this length with the other one: cut, or repeated; and every whole number of that value changed."""
    if type(leaf) is int:
        return other if leaf == length else leaf
    if not _is_array(leaf):
        return leaf
    for axis, size in enumerate(leaf.shape):
        if size == length:
            places = np.arange(other) % length
            leaf = (
                leaf.index_select(axis, _index(leaf, places))
                if hasattr(leaf, "index_select")
                else leaf.take(places, axis)
            )
    return leaf


def _index(leaf: Any, places: np.ndarray) -> Any:
    return sys.modules["torch"].as_tensor(places, device=leaf.device)


def described(call: Call) -> str:
    """The call in one line: names, shapes, and values where they are few."""
    made = f"{call.name.partition('.')[0]}({_words(call.made)})." if call.made is not None else ""
    name = call.name.rpartition(".")[2]
    inner = f"{made}{name}({_words(call.arguments)})" if name != "__init__" else made.rstrip(".")
    return inner + ("" if call.source == "as called" else f" [{call.source}]")


def shapes(call: Call) -> str:
    """The function, the shapes of all arrays that it is given, and the other values."""

    def short(leaf: Any) -> Any:
        return f"{tuple(leaf.shape)} {leaf.dtype}" if _is_array(leaf) else leaf

    return f"{call.name} {_mapped((call.arguments, call.made), short)}"


def _words(given: dict[str, Any] | None) -> str:
    return ", ".join(f"{name}={_word(value)}" for name, value in (given or {}).items())


def _word(value: Any) -> str:
    if _is_array(value):
        numbers = np.asarray(value.detach() if hasattr(value, "detach") else value)
        if numbers.size <= 6:
            return str(np.round(numbers, 3).tolist())
        return f"{'×'.join(map(str, numbers.shape))} {numbers.dtype}"
    if isinstance(value, SimpleNamespace) or hasattr(value, "__dataclass_fields__"):
        return f"{type(value).__name__}(…)"
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
