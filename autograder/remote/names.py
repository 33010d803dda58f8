"""Finding classes by name without running code: nothing is imported, no ``__getattr__`` is asked."""

import sys
import types
from collections.abc import Mapping
from enum import EnumType
from types import ModuleType
from typing import Any

MAIN = "__main__"

_CONTENTS: tuple[Any, ...] = ({}.keys(), {}.values(), {}.items(), [], (), {}, "", set(), range(0), b"", bytearray())
#: Types of values that builtins does not hold under their name.
_UNNAMED: dict[str, type] = {
    cls.__qualname__: cls
    for cls in (
        *(named for named in vars(types).values() if isinstance(named, type)),
        *(type(iter(content)) for content in _CONTENTS),
        *(type(view) for view in _CONTENTS[:3]),
    )
}


def find(module: Any, qualname: Any, main: Mapping[str, Any]) -> Any:
    """What stands under ``module.qualname`` in an imported module, or in ``main`` for ``__main__``; None if nothing."""
    if not isinstance(module, str) or not isinstance(qualname, str):
        return None
    if module == "builtins" and qualname in _UNNAMED:
        return _UNNAMED[qualname]
    owner = sys.modules.get(module)
    space: Any = main if module == MAIN else vars(owner) if isinstance(owner, ModuleType) else {}
    found = None
    for part in qualname.split("."):
        found = space.get(part)
        space = type.__getattribute__(found, "__dict__") if isinstance(found, type) else {}
    return found


def find_class(module: Any, qualname: Any, main: Mapping[str, Any]) -> type | None:
    found = find(module, qualname, main)
    return found if isinstance(found, type) else None


def name_of(cls: type) -> tuple[str, str]:
    """-> (module, qualified name), read past a metaclass."""
    module = type.__getattribute__(cls, "__dict__").get("__module__", cls.__module__)
    return (module if isinstance(module, str) else MAIN), type.__dict__["__qualname__"].__get__(cls)


def is_enum(cls: type) -> bool:
    return isinstance(cls, EnumType)
