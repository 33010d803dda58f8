"""What several test files need and takes long to make: made once in a run, by whichever worker comes first.

It is to be copied, not to be changed.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

#: The variable with the folder that all workers of a run share; ``tests/conftest.py`` sets it and removes the folder.
FOLDER = "COURSE_TESTS_FOLDER"
#: Asked for its newest revision, alembic imports all of nbgrader: two seconds for each gradebook that is made.
ALEMBIC = """#!/bin/sh
[ "$3" = heads ] || exec "{alembic}" "$@"
[ -s "$0.heads" ] || {{ "{alembic}" "$@" > "$0.$$" && mv "$0.$$" "$0.heads"; }} || exit 1
cat "$0.heads"
"""


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder ``name``, which ``make`` has made: it is given a path that does not exist yet.

    Whoever comes first may have a gradebook elsewhere; what is made for all has its own.
    """
    place = Path(os.environ[FOLDER], name)
    with FileLock(f"{place}.lock"):
        if not place.exists():
            unfinished = place.with_name(f"{name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            with pytest.MonkeyPatch.context() as environment:
                environment.delenv("NBGRADER_DB_URL", raising=False)
                make(unfinished)
            unfinished.rename(place)
    return place


def put_alembic_first(folder: Path) -> None:
    """Put a program on the path that asks alembic for its newest revision once, and repeats what it said."""
    alembic, script = shutil.which("alembic"), folder / "bin" / "alembic"
    if alembic and os.name == "posix":
        script.parent.mkdir(exist_ok=True)
        if not script.exists():
            script.write_text(ALEMBIC.format(alembic=alembic))
            script.chmod(0o755)
        os.environ["PATH"] = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
