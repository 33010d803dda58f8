"""Lists, dicts, sets and their relatives."""

import io
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from autograder.remote.kinds import CannotCross, InlineKind, SharedKind, register
from autograder.remote.plain import expect, to_bytes, to_text


def _inline(cls: type, iterate: Callable[[Any], Any], make: Callable[[list[Any]], Any], tag: str = "") -> None:
    kind = InlineKind(
        tag or cls.__name__,
        lambda value, encoder: encoder.nodes(iterate(value)),
        lambda payload, decoder: make(decoder.nodes(payload)),
    )
    register(kind, cls)


def _pairs(payload: Any, decoder: Any) -> list[tuple[Any, Any]]:
    return [(decoder.node(key), decoder.node(value)) for key, value in payload]


def _write_items(value: Any, encoder: Any) -> list[Any]:
    items = OrderedDict.items(value) if isinstance(value, OrderedDict) else dict.items(value)
    return [[encoder.node(key), encoder.node(entry)] for key, entry in items]


def _fill_list(target: list[Any], payload: Any, decoder: Any) -> None:
    list.__setitem__(target, slice(None), decoder.nodes(payload))


def _fill_dict(target: Any, payload: Any, decoder: Any) -> None:
    pairs = _pairs(payload, decoder)
    clear, set_item = (OrderedDict.clear, OrderedDict.__setitem__) if isinstance(target, OrderedDict) else (
        dict.clear, dict.__setitem__)  # fmt: skip
    clear(target)
    for key, value in pairs:
        set_item(target, key, value)


def _fill_default(target: defaultdict[Any, Any], payload: Any, decoder: Any) -> None:
    target.default_factory = decoder.node(payload[0])
    _fill_dict(target, payload[1], decoder)


def _fill_set(target: set[Any], payload: Any, decoder: Any) -> None:
    entries = decoder.nodes(payload)
    set.clear(target)
    set.update(target, entries)


def _fill_deque(target: deque[Any], payload: Any, decoder: Any) -> None:
    entries = decoder.nodes(payload[1])
    deque.clear(target)
    deque.extend(target, entries)


def _shell_deque(payload: Any, _: Any) -> deque[Any]:
    return deque(maxlen=None if payload[0] is None else expect(payload[0], int))


def _fill_bytes(target: bytearray, payload: Any, _: Any) -> None:
    bytearray.__setitem__(target, slice(None), to_bytes(payload))


def _fill_namespace(target: SimpleNamespace, payload: Any, decoder: Any) -> None:
    pairs = _pairs(payload, decoder)
    target.__dict__.clear()
    target.__dict__.update({expect(key, str): value for key, value in pairs})


def _write_file(value: Any, _: Any) -> Any:
    if value.closed:
        return None
    content = value.getvalue()
    return [to_text(content) if isinstance(content, bytes) else content, value.tell()]


def _fill_file(target: Any, payload: Any, _: Any) -> None:
    if payload is None:
        target.close()
        return
    content: Any = payload[0]
    content = to_bytes(content) if isinstance(target, io.BytesIO) else expect(content, str)
    if not 0 <= expect(payload[1], int) <= 1 << 40:
        raise CannotCross("expected a position in a file")
    target.seek(0)
    target.truncate()
    target.write(content)
    target.seek(payload[1])


def _write_set(value: Any, encoder: Any) -> list[Any]:
    return encoder.nodes(set.__iter__(value))


register(SharedKind("list", lambda v, e: e.nodes(list.__iter__(v)), lambda p, d: [], _fill_list), list)
register(SharedKind("dict", _write_items, lambda p, d: {}, _fill_dict, hashes=True), dict)
register(SharedKind("set", _write_set, lambda p, d: set(), _fill_set, hashes=True), set)
register(SharedKind("bytearray", lambda v, e: to_text(v), lambda p, d: bytearray(), _fill_bytes), bytearray)
register(SharedKind("OrderedDict", _write_items, lambda p, d: OrderedDict(), _fill_dict, hashes=True), OrderedDict)
register(SharedKind("Counter", _write_items, lambda p, d: Counter(), _fill_dict, hashes=True), Counter)
register(
    SharedKind(
        "defaultdict",
        lambda v, e: [e.node(v.default_factory), _write_items(v, e)],
        lambda p, d: defaultdict(),
        _fill_default,
        hashes=True,
    ),
    defaultdict,
)
register(SharedKind("deque", lambda v, e: [v.maxlen, e.nodes(deque.__iter__(v))], _shell_deque, _fill_deque), deque)
register(
    SharedKind(
        "SimpleNamespace", lambda v, e: _write_items(v.__dict__, e), lambda p, d: SimpleNamespace(), _fill_namespace
    ),
    SimpleNamespace,
)
register(SharedKind("StringIO", _write_file, lambda p, d: io.StringIO(), _fill_file), io.StringIO)
register(SharedKind("BytesIO", _write_file, lambda p, d: io.BytesIO(), _fill_file), io.BytesIO)

_inline(tuple, tuple.__iter__, tuple)
_inline(frozenset, frozenset.__iter__, frozenset)
_inline(slice, lambda s: (s.start, s.stop, s.step), lambda parts: slice(*parts))
_inline(type({}.keys()), iter, lambda keys: dict.fromkeys(keys).keys(), "dict_keys")
_inline(type({}.values()), iter, lambda values: dict(enumerate(values)).values(), "dict_values")
_inline(type({}.items()), iter, lambda items: dict(items).items(), "dict_items")
