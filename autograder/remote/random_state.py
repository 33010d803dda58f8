"""The state of the global random generators: what a test seeds is seeded in the student's kernel, too."""

from __future__ import annotations

import random
import sys
from typing import Any

from autograder.remote.plain import to_bytes, to_text


def _python() -> Any:
    version, numbers, gauss = random.getstate()
    return [version, list(numbers), gauss]


def _numpy() -> Any:
    module = sys.modules.get("numpy.random")
    if module is None:
        return None
    name, keys, position, has, gauss = module.get_state()
    return [name, to_text(keys.tobytes()), int(position), int(has), float(gauss)]


def _torch() -> Any:
    module = sys.modules.get("torch")
    return None if module is None else to_text(bytes(module.random.get_rng_state().tolist()))


def _set_python(state: Any) -> None:
    version, numbers, gauss = state
    random.setstate((version, tuple(numbers), gauss))


def _set_numpy(state: Any) -> None:
    import numpy as np

    name, keys, position, has, gauss = state
    np.random.set_state((name, np.frombuffer(to_bytes(keys), dtype=np.uint32), position, has, gauss))


def _set_torch(state: Any) -> None:
    module = sys.modules.get("torch")
    if module is not None:
        module.random.set_rng_state(module.tensor(list(to_bytes(state)), dtype=module.uint8))


_READ = {"random": _python, "numpy": _numpy, "torch": _torch}
_WRITE = {"random": _set_python, "numpy": _set_numpy, "torch": _set_torch}


def read() -> dict[str, Any]:
    return {name: state for name, reader in _READ.items() if (state := reader()) is not None}


def write(states: Any) -> None:
    for name, state in dict(states).items():
        _WRITE[name](state)
