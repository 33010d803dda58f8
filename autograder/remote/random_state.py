"""The global random generators: what a test seeds is seeded in the student's kernel, too.

The state of a generator tells what was drawn from it before. So it is told only as a seed has left it; where the test
has drawn since, the other side goes on with numbers of its own.
"""

import functools
import random
import sys
from collections.abc import Callable
from typing import Any

from autograder.remote.plain import to_bytes, to_text

#: Name of a generator -> its state as the last seed left it, and how often it was seeded.
_seeded: dict[str, tuple[Any, int]] = {}


def _watch(name: str, module: Any, function: str, state: Callable[[], Any]) -> None:
    """Remember what each call of a module's function that seeds a generator leaves."""
    seed = getattr(module, function)
    if hasattr(seed, "__wrapped__"):
        return

    @functools.wraps(seed)
    def remembered(*args: Any, **kwargs: Any) -> Any:
        given = seed(*args, **kwargs)
        _seeded[name] = state(), _seeded.get(name, (None, 0))[1] + 1
        return given

    setattr(module, function, remembered)


def _python() -> Any:
    version, numbers, gauss = random.getstate()
    return [version, list(numbers), gauss]


def _numpy() -> Any:
    name, keys, position, has, gauss = sys.modules["numpy.random"].get_state()
    return [name, to_text(keys.tobytes()), int(position), int(has), float(gauss)]


def _torch() -> Any:
    return to_text(bytes(sys.modules["torch"].random.get_rng_state().tolist()))


def _set_python(state: Any) -> None:
    version, numbers, gauss = state
    random.setstate((version, tuple(numbers), gauss))


def _set_numpy(state: Any) -> None:
    import numpy as np

    name, keys, position, has, gauss = state
    np.random.set_state((name, np.frombuffer(to_bytes(keys), dtype=np.uint32), position, has, gauss))


def _set_torch(state: Any) -> None:
    module = sys.modules["torch"]
    module.random.set_rng_state(module.tensor(list(to_bytes(state)), dtype=module.uint8))


#: Name -> its module, what seeds it, how its state is read and written.
_GENERATORS: dict[str, tuple[str, str, Callable[[], Any], Callable[[Any], None]]] = {
    "random": ("random", "seed", _python, _set_python),
    "numpy": ("numpy.random", "seed", _numpy, _set_numpy),
    "torch": ("torch", "manual_seed", _torch, _set_torch),
}


class Told:
    """What the other side was told of this side's generators."""

    def __init__(self) -> None:
        self._states = self._read()
        self._seeds = {name: count for name, (_, count) in _seeded.items()}
        self._streams = 0

    def to_tell(self) -> dict[str, list[Any]]:
        """Name -> ``["state", ...]`` of one that was seeded, or ``["seed", number]`` of one that was drawn from."""
        states, told = self._read(), dict[str, list[Any]]()
        for name, state in states.items():
            fresh, count = _seeded.get(name, (None, 0))
            if count != self._seeds.get(name, 0) and state == fresh:
                told[name] = ["state", state]
            elif state != self._states.get(name, state) or count != self._seeds.get(name, 0):
                self._streams += 1
                told[name] = ["seed", self._streams]
            self._seeds[name] = count
        self._states = states
        return told

    @staticmethod
    def _read() -> dict[str, Any]:
        found = {}
        for name, (module, seed, read, _) in _GENERATORS.items():
            if module in sys.modules:
                _watch(name, sys.modules[module], seed, read)
                found[name] = read()
        return found


def write(told: Any) -> None:
    for name, (kind, value) in dict(told).items():
        module, seed, _, write_state = _GENERATORS[name]
        if kind == "state":
            if module in sys.modules or module != "torch":
                write_state(value)
        elif module in sys.modules:
            getattr(sys.modules[module], seed)(value)
