"""What several test files need and takes long to make: made once in a run, by whichever worker comes first.

It is to be copied, not to be changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

#: The variable with the folder that all workers of a run share; ``tests/conftest.py`` sets it and removes the folder.
FOLDER = "COURSE_TESTS_FOLDER"


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder ``name``, which ``make`` has made: it is given a path that does not exist yet."""
    place = Path(os.environ[FOLDER], name)
    with FileLock(f"{place}.lock"):
        if not place.exists():
            unfinished = place.with_name(f"{name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            make(unfinished)
            unfinished.rename(place)
    return place
