"""nbgrader without the extensions of Jupyter's server that its package loads: nearly half of its import, which every
command waits for and has no use for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_EXTENSIONS = [
    f"nbgrader.server_extensions.{name}"
    for name in ("assignment_list", "course_list", "validate_assignment", "formgrader")
]


def import_nbgrader() -> None:
    """Import it so. Does nothing where nbgrader has been imported already."""
    leave_out_extensions()
    import_module("nbgrader")


def leave_out_extensions() -> None:
    """Have whoever imports nbgrader next in this process do without its extensions; an extension that is imported by
    its own name is the real one. Does nothing where nbgrader has been imported already."""
    if "nbgrader" not in sys.modules and not any(isinstance(one, _Finder) for one in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "nbgrader":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, real: Loader) -> None:
        self._real = real

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self._real
        try:
            with _stand_ins():
                self._real.exec_module(module)
        except ImportError:  # another version, which takes more of them: then whole
            self._real.exec_module(module)


@contextmanager
def _stand_ins() -> Iterator[None]:
    sys.modules.update({name: _stand_in(name) for name in _EXTENSIONS})
    try:
        yield
    finally:
        for name in _EXTENSIONS:
            del sys.modules[name]


def _stand_in(name: str) -> ModuleType:
    module = ModuleType(name)

    def load_jupyter_server_extension(app: Any) -> None:
        import_module(name).load_jupyter_server_extension(app)

    vars(module)["load_jupyter_server_extension"] = load_jupyter_server_extension
    return module
