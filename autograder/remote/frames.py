"""Frames, series and indexes of pandas, where it is installed."""

import importlib
import re
import sys
from typing import Any

from autograder.remote.arrays import read_array, write_array
from autograder.remote.kinds import CannotCross, InlineKind, Kind, SharedKind, register, register_finder
from autograder.remote.plain import expect

_EXTENSION = re.compile(
    r"(U?Int|Float)\d{1,2}|boolean|string|str|(date|timedelta)[\w\[\], /+:-]{0,60}|category|period\[\w{1,8}\]"
)


def library(name: str) -> Any:
    """Raises CannotCross where the library is not installed."""
    try:
        return sys.modules.get(name) or importlib.import_module(name)
    except ImportError:
        raise CannotCross(f"a value of {name} came, but {name} is not installed here") from None


def _is_plain(values: Any) -> bool:
    return type(values).__name__ == "NumpyExtensionArray"


def _write_values(values: Any, encoder: Any) -> Any:
    """One column: NumPy's own types as an array, those of pandas by name and as objects."""
    np, pd = library("numpy"), library("pandas")
    dtype = getattr(values.dtype, "numpy_dtype", values.dtype) if _is_plain(values) else values.dtype
    if isinstance(dtype, np.dtype):
        return {"array": write_array(np.asarray(values), encoder)}
    if isinstance(dtype, pd.CategoricalDtype):
        codes = write_array(np.asarray(values.codes), encoder)
        return {"codes": codes, "categories": _write_index(dtype.categories, encoder), "ordered": bool(dtype.ordered)}
    if not _EXTENSION.fullmatch(str(dtype)):
        raise CannotCross(f"a column of {dtype} cannot be handed over")
    objects = np.array([None if pd.isna(one) else one for one in values], dtype=object)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return {"array": write_array(np.asarray(values.asi8), encoder), "dtype": str(dtype)}
    return {"objects": write_array(objects, encoder), "dtype": str(dtype)}


def _read_values(data: Any, decoder: Any) -> Any:
    pd = library("pandas")
    if "codes" in data:
        dtype = pd.CategoricalDtype(_read_index(data["categories"], decoder), ordered=data["ordered"] is True)
        return pd.Categorical.from_codes(read_array(data["codes"], decoder), dtype=dtype)
    if "dtype" not in data:
        return read_array(data["array"], decoder)
    if not _EXTENSION.fullmatch(expect(data["dtype"], str)):
        raise CannotCross("expected a type of pandas")
    if "array" in data:
        dtype = pd.api.types.pandas_dtype(data["dtype"])
        stamps = pd.DatetimeIndex(read_array(data["array"], decoder).astype(f"datetime64[{dtype.unit}]"), tz="UTC")
        return stamps.tz_convert(dtype.tz).array
    return pd.array(list(read_array(data["objects"], decoder)), dtype=data["dtype"])


def _write_index(index: Any, encoder: Any) -> Any:
    pd = library("pandas")
    if isinstance(index, pd.RangeIndex):
        return {"range": [index.start, index.stop, index.step], "name": encoder.node(index.name)}
    if isinstance(index, pd.MultiIndex):
        levels = [_write_index(level, encoder) for level in index.levels]
        codes = [[int(code) for code in level] for level in index.codes]
        return {"levels": levels, "codes": codes, "names": encoder.nodes(index.names)}
    frequency = getattr(index, "freqstr", None) if isinstance(index, pd.DatetimeIndex | pd.TimedeltaIndex) else None
    return {"values": _write_values(index.array, encoder), "name": encoder.node(index.name), "freq": frequency}


def _read_index(data: Any, decoder: Any) -> Any:
    pd = library("pandas")
    if "range" in data:
        return pd.RangeIndex(*[expect(one, int) for one in data["range"]], name=decoder.node(data["name"]))
    if "levels" in data:
        levels = [_read_index(level, decoder) for level in data["levels"]]
        return pd.MultiIndex(levels=levels, codes=data["codes"], names=decoder.nodes(data["names"]))
    values = _read_values(data["values"], decoder)
    dtype = None if "array" not in data["values"] or "dtype" in data["values"] else values.dtype
    index = pd.Index(values, name=decoder.node(data["name"]), dtype=dtype)
    if data["freq"] is not None:
        index.freq = expect(data["freq"], str)
    return index


def _write_series(value: Any, encoder: Any) -> Any:
    return [_write_values(value.array, encoder), _write_index(value.index, encoder), encoder.node(value.name)]


def _read_series(payload: Any, decoder: Any) -> Any:
    values, index, name = payload
    read = _read_values(values, decoder)
    return library("pandas").Series(read, index=_read_index(index, decoder), name=decoder.node(name), dtype=read.dtype)


def _write_frame(value: Any, encoder: Any) -> Any:
    columns = [_write_values(value.iloc[:, position].array, encoder) for position in range(value.shape[1])]
    return [columns, _write_index(value.index, encoder), _write_index(value.columns, encoder)]


def _read_frame(payload: Any, decoder: Any) -> Any:
    pd = library("pandas")
    columns, index, names = payload
    rows = _read_index(index, decoder)
    read = [_read_values(column, decoder) for column in columns]
    made = pd.DataFrame({position: pd.Series(one, index=rows, dtype=one.dtype) for position, one in enumerate(read)},
                        index=rows)  # fmt: skip
    made.columns = _read_index(names, decoder)
    return made


def _fill(read: Any) -> Any:
    def fill(target: Any, payload: Any, decoder: Any) -> None:
        target._update_inplace(read(payload, decoder))
        if hasattr(target, "_name"):
            target.name = decoder.node(payload[2])

    return fill


FRAME = SharedKind("DataFrame", _write_frame, _read_frame, _fill(_read_frame), whole=True)
SERIES = SharedKind("Series", _write_series, _read_series, _fill(_read_series), whole=True)
INDEX = InlineKind("Index", _write_index, _read_index)
TIMESTAMP = InlineKind(
    "Timestamp",
    lambda v, e: [v.isoformat(), v.unit, None if v.tz is None else str(v.tz)],
    lambda p, d: _timestamp(p[0], p[1], p[2]),
)
TIMEDELTA = InlineKind(
    "Timedelta",
    lambda v, e: [int(v._value), v.unit],
    lambda p, d: library("pandas").Timedelta(expect(p[0], int), unit=expect(p[1], str)).as_unit(p[1]),
)
MISSING = InlineKind(
    "pandas missing",
    lambda v, e: type(v).__name__,
    lambda p, d: getattr(library("pandas"), "NA" if p == "NAType" else "NaT"),
)


def _timestamp(text: Any, unit: str, zone: str | None) -> Any:
    made = library("pandas").Timestamp(text)
    return (made if zone is None else made.tz_convert(zone)).as_unit(unit)


for _kind in (FRAME, SERIES, INDEX, TIMESTAMP, TIMEDELTA, MISSING):
    register(_kind)


def _find(cls: type) -> Kind | None:
    module = sys.modules.get("pandas")
    if module is None or not cls.__module__.startswith("pandas"):
        return None
    if issubclass(cls, module.Index):
        return INDEX
    known: dict[type, Kind] = {
        module.DataFrame: FRAME,
        module.Series: SERIES,
        module.Timestamp: TIMESTAMP,
        module.Timedelta: TIMEDELTA,
        type(module.NA): MISSING,
        type(module.NaT): MISSING,
    }
    return known.get(cls)


register_finder(_find)
