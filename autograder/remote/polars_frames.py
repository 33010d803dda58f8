"""Frames and series of polars, where it is installed."""

from __future__ import annotations

import sys
from typing import Any

from autograder.remote.frames import library
from autograder.remote.kinds import CannotCross, InlineKind, Kind, register, register_finder
from autograder.remote.plain import expect


def _write(value: Any, encoder: Any) -> Any:
    return [[one.name, _type(one.dtype), encoder.nodes(one.to_list())] for one in value.get_columns()]


def _type(dtype: Any) -> Any:
    inner = getattr(dtype, "inner", None)
    name = type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__
    if name == "List" and inner is not None:
        return ["List", _type(inner)]
    if name == "Datetime":
        return ["Datetime", dtype.time_unit, dtype.time_zone]
    if name == "Duration":
        return ["Duration", dtype.time_unit]
    if name not in _SIMPLE:
        raise CannotCross(f"a column of {dtype} cannot be handed over")
    return name


_SIMPLE = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "Boolean",
           "String", "Date", "Time", "Null", "Categorical", "Binary")  # fmt: skip


def _read_type(data: Any, depth: int = 0) -> Any:
    pl = library("polars")
    if isinstance(data, str) and data in _SIMPLE:
        return getattr(pl, data)
    if isinstance(data, list) and data[0] == "List" and depth < 10:
        return pl.List(_read_type(data[1], depth + 1))
    if isinstance(data, list) and data[0] in ("Datetime", "Duration"):
        return getattr(pl, data[0])(*[one if one is None else expect(one, str) for one in data[1:]])
    raise CannotCross("expected a type of polars")


def _read_series(payload: Any, decoder: Any) -> Any:
    name, dtype, values = payload
    return library("polars").Series(expect(name, str), decoder.nodes(values), dtype=_read_type(dtype))


FRAME = InlineKind(
    "polars DataFrame",
    _write,
    lambda p, d: library("polars").DataFrame([_read_series(one, d) for one in p]),
)
SERIES = InlineKind("polars Series", lambda v, e: [v.name, _type(v.dtype), e.nodes(v.to_list())], _read_series)
register(FRAME)
register(SERIES)


def _find(cls: type) -> Kind | None:
    module = sys.modules.get("polars")
    if module is None or not cls.__module__.startswith("polars"):
        return None
    known: dict[type, Kind] = {module.DataFrame: FRAME, module.Series: SERIES}
    return known.get(cls)


register_finder(_find)
