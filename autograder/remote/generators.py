"""Random generators that are passed as arguments: by their state."""

from __future__ import annotations

import random
import sys
from typing import Any

from autograder.remote.arrays import numpy
from autograder.remote.kinds import CannotCross, Kind, SharedKind, register, register_finder
from autograder.remote.plain import expect, to_bytes, to_text

_BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def _fill_random(target: random.Random, payload: Any, _: Any) -> None:
    version, numbers, gauss = payload
    if len(numbers) != 625 or sum(number == 0 for number in numbers) > 312:
        raise CannotCross("expected the state of a random generator")
    target.setstate((version, tuple(numbers), gauss))


def _plain_state(state: Any) -> Any:
    if isinstance(state, dict):
        return {name: _plain_state(value) for name, value in state.items()}
    if hasattr(state, "tobytes") and hasattr(state, "dtype") and state.shape:
        return {"array": to_text(state.tobytes()), "dtype": state.dtype.str}
    return state if isinstance(state, str) else hex(int(state))


def _read_state(data: Any, depth: int = 0) -> Any:
    if isinstance(data, dict) and "array" in data:
        if data["dtype"] not in ("<u4", "<u8"):
            raise CannotCross("expected the state of a random generator")
        return numpy().frombuffer(to_bytes(data["array"]), dtype=data["dtype"]).copy()
    if isinstance(data, dict) and depth < 3:
        return {expect(name, str): _read_state(value, depth + 1) for name, value in data.items()}
    return int(data, 16) if expect(data, str).startswith("0x") else data


def _bits(payload: Any) -> Any:
    if payload["bit_generator"] not in _BIT_GENERATORS:
        raise CannotCross("expected a random generator of NumPy's")
    return getattr(numpy().random, payload["bit_generator"])(0)


def _write_numpy(value: Any, _: Any) -> Any:
    bits = value.bit_generator if hasattr(value, "bit_generator") else value._bit_generator
    if type(bits).__name__ not in _BIT_GENERATORS:
        raise CannotCross(f"a random generator on {type(bits).__name__} cannot be handed over")
    state = bits.state
    extra = value.get_state(legacy=False) if not hasattr(value, "bit_generator") else {}
    gauss = [int(extra["has_gauss"]), float(extra["gauss"])] if extra else None
    return {"bit_generator": state["bit_generator"], "state": _plain_state(state), "gauss": gauss}


def _fill_numpy(target: Any, payload: Any, _: Any) -> None:
    state = _read_state(payload["state"])
    if hasattr(target, "bit_generator"):
        target.bit_generator.state = state
        return
    has, gauss = payload["gauss"]
    target.set_state(state | {"has_gauss": expect(has, int), "gauss": expect(gauss, float)})


register(
    SharedKind("Random", lambda v, e: list(v.getstate()), lambda p, d: random.Random(), _fill_random), random.Random
)
GENERATOR = SharedKind("numpy generator", _write_numpy, lambda p, d: numpy().random.Generator(_bits(p)), _fill_numpy)
STATE = SharedKind("numpy RandomState", _write_numpy, lambda p, d: numpy().random.RandomState(_bits(p)), _fill_numpy)
register(GENERATOR)
register(STATE)


def _find(cls: type) -> Kind | None:
    module = sys.modules.get("numpy.random")
    return None if module is None else {module.Generator: GENERATOR, module.RandomState: STATE}.get(cls)


register_finder(_find)
