"""nbgrader without the extensions of Jupyter's server that its package loads: a fifth of its import, which every
command waits for and has no use for."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_EXTENSIONS = [
    f"nbgrader.server_extensions.{name}"
    for name in ("assignment_list", "course_list", "validate_assignment", "formgrader")
]


def import_nbgrader() -> None:
    """Whoever imports an extension later gets the real one. Does nothing where nbgrader has been imported already."""
    if "nbgrader" in sys.modules:
        return
    sys.modules.update({name: _stand_in(name) for name in _EXTENSIONS})
    try:
        import_module("nbgrader")
    except ImportError:  # another version, which takes more of them: then it is imported where it is needed, whole
        sys.modules.pop("nbgrader", None)
    finally:
        for name in _EXTENSIONS:
            del sys.modules[name]


def _stand_in(name: str) -> ModuleType:
    module = ModuleType(name)

    def load_jupyter_server_extension(app: Any) -> None:
        import_module(name).load_jupyter_server_extension(app)

    vars(module)["load_jupyter_server_extension"] = load_jupyter_server_extension
    return module
