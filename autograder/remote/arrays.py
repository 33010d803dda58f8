"""NumPy's arrays, scalars, types and generators, without importing NumPy where nothing else did."""

import math
import re
import sys
from typing import Any

from autograder.remote.kinds import CannotCross, InlineKind, Kind, SharedKind, register, register_finder
from autograder.remote.plain import expect, to_bytes, to_text

_SIMPLE = re.compile(r"[<>|=][biufcmMSUV]\d{1,9}(\[(\d{1,6})?[a-zA-Z]{1,4}\])?")
_SUBCLASSES = ("recarray", "matrix")
_MAX_ITEM_SIZE = 1 << 26
_MAX_EMPTY = 1000
_MAX_BYTES = 16 << 20


def numpy() -> Any:
    """Raises CannotCross where NumPy is not installed."""
    try:
        import numpy
    except ImportError:
        raise CannotCross("an array came, but NumPy is not installed here") from None
    return numpy


def write_dtype(dtype: Any) -> Any:
    if dtype.hasobject:
        if dtype.names:
            raise CannotCross("an array of records that hold objects cannot be handed over")
        return "O"
    if dtype.subdtype:
        return {"of": write_dtype(dtype.subdtype[0]), "shape": list(dtype.subdtype[1])}
    if dtype.names is None:
        if not _SIMPLE.fullmatch(dtype.str):
            raise CannotCross(f"an array of {dtype} cannot be handed over")
        return dtype.str
    parts = [[name, write_dtype(dtype.fields[name][0]), *dtype.fields[name][1:]] for name in dtype.names]
    return {"fields": parts, "size": dtype.itemsize}


def read_dtype(data: Any, depth: int = 0) -> Any:
    np = numpy()
    if depth > 20:
        raise CannotCross("a type of records is nested too deep")
    if isinstance(data, str):
        if data != "O" and not _SIMPLE.fullmatch(data):
            raise CannotCross(f"expected a type of NumPy's, but got {data[:40]!r}")
        dtype = np.dtype(data)
    elif "of" in data:
        dtype = np.dtype((read_dtype(data["of"], depth + 1), tuple(_sizes(data["shape"]))))
    else:
        fields, size = data["fields"], expect(data["size"], int)
        made = {
            "names": [expect(field[0], str) for field in fields],
            "formats": [read_dtype(field[1], depth + 1) for field in fields],
            "offsets": [expect(field[2], int) for field in fields],
            "titles": [expect(field[3], str) if field[3:] else None for field in fields],
        }
        dtype = np.dtype(made | {"itemsize": size})
    if dtype.itemsize > _MAX_ITEM_SIZE or (dtype.hasobject and (depth or data != "O")):
        raise CannotCross("a type of NumPy's is too large")
    return dtype


def _sizes(shape: Any) -> list[int]:
    if not isinstance(shape, list) or len(shape) > 64 or any(type(size) is not int or size < 0 for size in shape):
        raise CannotCross("expected the shape of an array")
    return shape


def write_array(value: Any, encoder: Any) -> list[Any]:
    np = numpy()
    if value.nbytes > _MAX_BYTES:
        raise CannotCross(f"an array of {value.nbytes:,} bytes is too large to be handed over")
    dtype, plain = write_dtype(value.dtype), value.view(np.ndarray) if type(value) is not np.ndarray else value
    content = encoder.nodes(plain.ravel().tolist()) if dtype == "O" else to_text(np.ascontiguousarray(plain).tobytes())
    fortran = bool(value.ndim > 1 and plain.flags.f_contiguous and not plain.flags.c_contiguous)
    return [dtype, list(value.shape), content, fortran, bool(value.flags.writeable)]


def _make_array(payload: Any) -> Any:
    """The array with its numbers; one of objects is still empty."""
    np = numpy()
    dtype, shape = read_dtype(payload[0]), _sizes(payload[1])
    count = math.prod(shape)
    if dtype.hasobject:
        if len(payload[2]) != count:
            raise CannotCross("expected as many objects as the array's shape says")
        return np.empty(shape, dtype=object)
    content = to_bytes(payload[2])
    if len(content) != count * dtype.itemsize or (not dtype.itemsize and count > _MAX_EMPTY):
        raise CannotCross("expected as many bytes as the array's shape says")
    flat = np.frombuffer(content, dtype=dtype) if content else np.zeros(0 if dtype.itemsize else count, dtype)
    return np.array(flat.reshape(shape), order="F" if payload[3] is True else "C")


def _fill_array(target: Any, payload: Any, decoder: Any) -> None:
    np = numpy()
    new = _make_array(payload)
    if new.dtype.hasobject:
        flat = new.reshape(-1)
        for index, value in enumerate(decoder.nodes(payload[2])):
            flat[index] = value
        new = flat.reshape(new.shape)
    plain = target.view(np.ndarray)
    if plain.shape != new.shape or plain.dtype != new.dtype:
        raise CannotCross(f"an array of shape {plain.shape} became one of shape {new.shape} in place")
    if not plain.flags.writeable:
        target.flags.writeable = True
        plain = target.view(np.ndarray)
    plain[...] = new
    target.flags.writeable = payload[4] is not False


def read_array(payload: Any, decoder: Any) -> Any:
    """A whole array at once, objects included."""
    array = _make_array(payload)
    if array.dtype.hasobject:
        _fill_array(array, payload, decoder)
    return array


def _shell_array(payload: Any, _: Any) -> Any:
    return _make_array(payload)


def _write_subclass(value: Any, encoder: Any) -> list[Any]:
    return [type(value).__name__, write_array(value, encoder)]


def _shell_subclass(payload: Any, _: Any) -> Any:
    if payload[0] not in _SUBCLASSES:
        raise CannotCross(f"expected a kind of array, but got {str(payload[0])[:40]!r}")
    return _make_array(payload[1]).view(getattr(numpy(), payload[0]))


def _write_masked(value: Any, encoder: Any) -> list[Any]:
    import numpy.ma as ma

    hard = bool(value.hardmask)
    content, mask = write_array(value.data, encoder), write_array(ma.getmaskarray(value), encoder)
    return [content, mask, encoder.node(value.fill_value), hard]


def _read_masked(payload: Any, decoder: Any) -> Any:
    data, mask, fill, hard = payload
    ma = numpy().ma
    return ma.MaskedArray(
        read_array(data, decoder), mask=read_array(mask, decoder), fill_value=decoder.node(fill), hard_mask=hard is True
    )


def _write_scalar(value: Any, _: Any) -> list[Any]:
    dtype = write_dtype(value.dtype)
    return [dtype, to_text(numpy().asarray(value, dtype=value.dtype).tobytes())]


def _read_scalar(payload: Any, _: Any) -> Any:
    array = _make_array([payload[0], [], payload[1], False])
    if array.dtype.hasobject:
        raise CannotCross("expected a number")
    return array[()]


ARRAY = SharedKind("ndarray", write_array, _shell_array, _fill_array)
SUBCLASS = SharedKind(
    "ndarray subclass", _write_subclass, _shell_subclass, lambda target, payload, d: _fill_array(target, payload[1], d)
)
MASKED = InlineKind("masked array", _write_masked, _read_masked)
SCALAR = InlineKind("numpy scalar", _write_scalar, _read_scalar)
DTYPE = InlineKind("dtype", lambda value, _: write_dtype(value), lambda payload, _: read_dtype(payload))
for _kind in (ARRAY, SUBCLASS, MASKED, SCALAR, DTYPE):
    register(_kind)


def _find(cls: type) -> Kind | None:
    np = sys.modules.get("numpy")
    if np is None or not cls.__module__.startswith("numpy"):
        return None
    if cls is np.ndarray:
        return ARRAY
    if cls.__name__ in _SUBCLASSES and cls in (np.recarray, np.matrix):
        return SUBCLASS
    if cls is np.ma.MaskedArray:
        return MASKED
    if issubclass(cls, np.dtype):
        return DTYPE
    return SCALAR if issubclass(cls, np.generic) else None


register_finder(_find)
