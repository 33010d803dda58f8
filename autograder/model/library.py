"""The library for students, where it lies in the course's own folder and need not be installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from autograder.model.course_file import CourseFile


def library_folder(root: Path, file: CourseFile) -> Path | None:
    """The folder that ``sys.path`` needs so that the library is found there: the course's, or ``src`` in it.

    None where it is installed: then nothing else that lies in the course's folder is to be found by its name.
    """
    top = file.library.partition(".")[0]
    places = [root / "src", root] if top else []
    spec = find_spec(top) if top else None
    found = (spec.submodule_search_locations or [spec.origin or ""]) if spec else ()
    if any(Path(place or root).resolve().parent not in [one.resolve() for one in places] for place in found):
        return None
    return next((one for one in places if (one / top).is_dir() or (one / f"{top}.py").is_file()), None)
