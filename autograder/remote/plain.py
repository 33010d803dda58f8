"""Numbers, text, dates and the like: values without parts."""

import base64
import datetime
import re
import uuid
import zoneinfo
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import PosixPath, PurePosixPath, PureWindowsPath
from typing import Any

from autograder.remote.kinds import CannotCross, InlineKind, register

_MAX_PATTERN = 10_000


def expect(value: Any, *types: type) -> Any:
    """The value, of exactly one of these types. Raises CannotCross."""
    if type(value) not in types:
        raise CannotCross(f"expected {types[0].__name__}, but got {type(value).__name__}")
    return value


def to_text(data: bytes | memoryview) -> str:
    return base64.b64encode(data).decode("ascii")


def to_bytes(text: Any) -> bytes:
    return base64.b64decode(expect(text, str), validate=True)


def _plain(
    cls: type, encode: Callable[[Any], Any], decode: Callable[[Any], Any], *, tag: str = "", checked: type | None = None
) -> None:
    """A kind whose payload is one plain value, of the type ``checked``."""

    def read(payload: Any, _: Any) -> Any:
        return decode(expect(payload, checked) if checked else payload)

    register(InlineKind(tag or cls.__name__.lower(), lambda value, _: encode(value), read), cls)


def _ints(payload: Any, count: int) -> list[int]:
    if not isinstance(payload, list) or len(payload) != count:
        raise CannotCross(f"expected {count} numbers")
    return [expect(number, int) for number in payload]


def _zone(value: Any) -> Any:
    zone = value.tzinfo
    if zone is None:
        return None
    if isinstance(zone, zoneinfo.ZoneInfo) and zone.key:
        return zone.key
    offset = zone.utcoffset(value if isinstance(value, datetime.datetime) else None)
    name = zone.tzname(None) if type(zone) is datetime.timezone else zone
    return [offset // datetime.timedelta(microseconds=1), str(name)]


def _read_zone(payload: Any) -> Any:
    if payload is None:
        return None
    if isinstance(payload, str):
        return zoneinfo.ZoneInfo(payload)
    offset = datetime.timedelta(microseconds=expect(payload[0], int))
    plain = datetime.timezone(offset)
    return plain if plain.tzname(None) == payload[1] else datetime.timezone(offset, expect(payload[1], str))


def _pattern(payload: Any) -> re.Pattern[Any]:
    text, flags, binary = payload
    if len(expect(text, str)) > _MAX_PATTERN:
        raise CannotCross(f"a pattern of more than {_MAX_PATTERN} characters is too long")
    return re.compile(text.encode("latin-1") if binary else text, expect(flags, int) & ~re.DEBUG.value)


def _write_pattern(value: re.Pattern[Any]) -> Any:
    binary = isinstance(value.pattern, bytes)
    return [value.pattern.decode("latin-1") if binary else value.pattern, value.flags, binary]


def _timedelta(payload: Any) -> datetime.timedelta:
    days, seconds, microseconds = _ints(payload, 3)
    return datetime.timedelta(days, seconds, microseconds)


def _datetime(payload: Any) -> datetime.datetime:
    *parts, fold, zone = payload
    made = datetime.datetime(*_ints(parts, 7))  # type: ignore[arg-type]
    return made.replace(tzinfo=_read_zone(zone), fold=expect(fold, int))


def _time(payload: Any) -> datetime.time:
    *parts, fold, zone = payload
    made = datetime.time(*_ints(parts, 4))  # type: ignore[arg-type]
    return made.replace(tzinfo=_read_zone(zone), fold=expect(fold, int))


_plain(int, hex, lambda text: int(text, 16), checked=str)
_plain(str, lambda text: to_text(text.encode("utf-32-le", "surrogatepass")),
       lambda text: to_bytes(text).decode("utf-32-le", "surrogatepass"))  # fmt: skip
_plain(complex, lambda z: [z.real, z.imag], lambda parts: complex(*[expect(part, float) for part in parts]))
_plain(float, float.__pos__, float, checked=float)
_plain(bytes, to_text, to_bytes)
_plain(type(...), lambda _: 0, lambda _: ..., tag="ellipsis")
_plain(type(NotImplemented), lambda _: 0, lambda _: NotImplemented, tag="not implemented")
_plain(range, lambda r: [hex(r.start), hex(r.stop), hex(r.step)],
       lambda parts: range(*[int(expect(part, str), 16) for part in parts]))  # fmt: skip
_plain(Decimal, str, Decimal, checked=str)
_plain(Fraction, lambda f: [hex(f.numerator), hex(f.denominator)],
       lambda parts: Fraction(*[int(expect(part, str), 16) for part in parts]))  # fmt: skip
_plain(uuid.UUID, str, uuid.UUID, checked=str)
_plain(datetime.date, lambda d: [d.year, d.month, d.day], lambda parts: datetime.date(*_ints(parts, 3)))
_plain(datetime.timedelta, lambda d: [d.days, d.seconds, d.microseconds], _timedelta)
_plain(datetime.datetime, lambda d: [d.year, d.month, d.day, d.hour, d.minute, d.second, d.microsecond,
                                      d.fold, _zone(d)],
       _datetime)  # fmt: skip
_plain(datetime.time, lambda t: [t.hour, t.minute, t.second, t.microsecond, t.fold, _zone(t)], _time)
_plain(
    datetime.timezone, lambda z: [z.utcoffset(None) // datetime.timedelta(microseconds=1), z.tzname(None)], _read_zone
)
_plain(zoneinfo.ZoneInfo, lambda z: z.key, _read_zone, checked=str)
_plain(re.Pattern, _write_pattern, _pattern)
for _path in (PurePosixPath, PureWindowsPath, PosixPath):
    _plain(_path, str, _path, checked=str)

#: Every class whose values are plain here; a name of the other side that claims to be one of these is no handle.
