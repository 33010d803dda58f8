"""A class from the ``models.py`` beside the notebook, as the file stands now."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from course.check.base import fail
from course.check.encoder_lab._models_file import FILE, left_out, read_models, unread


def load(name: str) -> Any:
    """The class called ``name``, read anew from ``models.py``, so that the last saved change counts.

    Raises CheckFailed where the file is missing, or the class is not there or cannot be read. Where another class
    cannot be read, it says so.
    """
    try:
        models = read_models()
    except OSError:
        fail(
            FILE,
            "the file must lie in the same folder as this notebook.",
            f"It is not in {Path.cwd()}.",
            "It came with the notebook. On Colab: the panel “Files” at the left has a button for uploading.",
        )
    missing = unread(models)
    if name in missing:
        look = "The cause often stands one line further up: a bracket that is not closed, a colon that is missing."
        fail(FILE, f"Python must be able to read class {name}.", f"{missing[name]}.", look)
    others = " ".join(f"{why}." for why in dict.fromkeys(missing.values()))
    if name not in vars(models):
        came = f"{FILE} defines none of this name. {others}".strip()
        fail(FILE, f"a class called {name} is expected.", came, "Is it spelt so? Was the file saved?")
    if others:
        print(f"{others} The rest of {FILE} is used here, but Python itself cannot import the file.")
    for sentence in left_out(models):
        print(f"{sentence}.")
    return getattr(models, name)


def module_of(student_class: Any) -> ModuleType:
    """The module that a class was written in: where its names for other classes are looked up."""
    return sys.modules[student_class.__module__]
