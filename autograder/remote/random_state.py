"""The state of the global random generators: what a test seeds is seeded in the student's kernel, too."""

from __future__ import annotations

import functools
import random
import sys
from collections import Counter
from typing import Any

from autograder.remote.plain import to_bytes, to_text

#: Name of a generator -> how often it was seeded here: the same seed again leaves the state as it was last told, while
#: the other kernel's has gone on.
_seeds: Counter[str] = Counter()


def _watch(name: str, module: Any, function: str) -> None:
    """Count the calls of a module's function that seeds a generator."""
    seed = getattr(module, function)
    if hasattr(seed, "__wrapped__"):
        return

    @functools.wraps(seed)
    def counted(*args: Any, **kwargs: Any) -> Any:
        _seeds[name] += 1
        return seed(*args, **kwargs)

    setattr(module, function, counted)


def _python() -> Any:
    _watch("random", random, "seed")
    version, numbers, gauss = random.getstate()
    return [version, list(numbers), gauss, _seeds["random"]]


def _numpy() -> Any:
    module = sys.modules.get("numpy.random")
    if module is None:
        return None
    _watch("numpy", module, "seed")
    name, keys, position, has, gauss = module.get_state()
    return [name, to_text(keys.tobytes()), int(position), int(has), float(gauss), _seeds["numpy"]]


def _torch() -> Any:
    module = sys.modules.get("torch")
    if module is None:
        return None
    _watch("torch", module, "manual_seed")
    return [to_text(bytes(module.random.get_rng_state().tolist())), _seeds["torch"]]


def _set_python(state: Any) -> None:
    version, numbers, gauss, _ = state
    random.setstate((version, tuple(numbers), gauss))


def _set_numpy(state: Any) -> None:
    import numpy as np

    name, keys, position, has, gauss, _ = state
    np.random.set_state((name, np.frombuffer(to_bytes(keys), dtype=np.uint32), position, has, gauss))


def _set_torch(state: Any) -> None:
    module = sys.modules.get("torch")
    if module is not None:
        module.random.set_rng_state(module.tensor(list(to_bytes(state[0])), dtype=module.uint8))


_READ = {"random": _python, "numpy": _numpy, "torch": _torch}
_WRITE = {"random": _set_python, "numpy": _set_numpy, "torch": _set_torch}


def read() -> dict[str, Any]:
    return {name: state for name, reader in _READ.items() if (state := reader()) is not None}


def write(states: Any) -> None:
    for name, state in dict(states).items():
        _WRITE[name](state)
