"""A class from the ``models.py`` beside the notebook, as the file stands now."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from course.check.base import fail, running

FILE = "models.py"


def load(name: str) -> Any:
    """The class called ``name``, read anew from ``models.py``, so that the last saved change counts.

    Raises CheckFailed where the file is missing, cannot be read, or has no such class.
    """
    models = load_models()
    if not hasattr(models, name):
        fail(FILE, f"a class called {name} is expected.", f"{FILE} defines none of this name.", "Was the file saved?")
    return getattr(models, name)


def load_models() -> ModuleType:
    importlib.invalidate_caches()
    try:
        with running(FILE, f"importing {FILE}", "Python reads the whole file, also the classes that come later."):
            if "models" in sys.modules:
                return importlib.reload(sys.modules["models"])
            return importlib.import_module("models")
    except Exception as failed:
        cause = failed.__cause__
        if isinstance(cause, ModuleNotFoundError) and cause.name == "models":
            fail(
                FILE,
                "the file must lie in the same folder as this notebook.",
                f"It is not in {Path.cwd()}.",
                "It came with the notebook. On Colab: the panel “Files” at the left has a button for uploading.",
            )
        if isinstance(cause, SyntaxError):
            line = (cause.text or "").strip()
            fail(
                FILE,
                "Python must be able to read the file.",
                f"{type(cause).__name__} in line {cause.lineno}: {cause.msg}" + (f"   ({line})" if line else ""),
                "The cause often stands one line further up: a bracket that is not closed, a colon that is missing.",
            )
        raise


def module_of(kind: Any) -> ModuleType:
    """The module that a class was written in: where its names for other classes are looked up."""
    return sys.modules[kind.__module__]
