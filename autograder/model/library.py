"""The library for students, where it lies in the course's own folder and need not be installed."""

from __future__ import annotations

from pathlib import Path

from autograder.model.course_file import CourseFile


def library_folder(root: Path, file: CourseFile) -> Path | None:
    """The folder that ``sys.path`` needs so that the library is found there: the course's, or ``src`` in it."""
    top = file.library.partition(".")[0]
    places = [root / "src", root] if top else []
    return next((one for one in places if (one / top).is_dir() or (one / f"{top}.py").is_file()), None)
