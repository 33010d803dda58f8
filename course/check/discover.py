"""Finding the visible checks of an assignment: by hand, in a module with a function of its name, or made of a pack."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from course.check.generated import generated
from course.check.limits import limited


def checks(package: str, path: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """name -> check, each with a time limit; ``calls`` and modules whose name begins with an underscore are no checks.

    package, path: ``__name__`` and ``__path__`` of the assignment's package. All modules are imported at once: one
    that was imported later would take its function's place in the package.
    """
    names = [module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_")]
    modules = {name: import_module(f"{package}.{name}") for name in names}
    by_hand = {name: getattr(module, name) for name, module in modules.items() if name != "calls"}
    return {name: limited(check) for name, check in {**generated(package), **by_hand}.items()}
