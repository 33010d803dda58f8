"""A converted notebook and the files that belong to it, written into the course's source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

from autograder.convert.otter import Converted, convert
from autograder.errors import GradingError, said
from autograder.files.atomic import write_file
from autograder.model.course import Course


@dataclass(frozen=True)
class Written:
    path: Path
    converted: Converted
    copied: tuple[str, ...]
    notes: tuple[str, ...]


def convert_into(course: Course, path: Path, assignment: str | None) -> Written:
    """Write the notebook at ``path``, converted, into ``source/<assignment>/``.

    Raises GradingError, and writes nothing, where it cannot be read or converted, or would replace another file.
    """
    converted = _converted(path)
    name = assignment or converted.name or re.sub(r"[^\w-]+", "_", path.stem, flags=re.A)
    if not re.fullmatch(r"\w[\w-]*", name, flags=re.A):
        raise GradingError(f"{name!r} is no name of an assignment: use letters, digits, _ and -")
    folder = course.source(name)
    target = folder / f"{path.stem}.ipynb"
    if target.exists():
        raise GradingError(f"{target} is there already; nothing was written: move it, or name another --assignment")
    copied, notes = {}, []
    for one in converted.files:
        file = path.parent / one
        if ".." in Path(one).parts or Path(one).is_absolute() or not file.is_file():
            notes.append(f"files: {one} is no file beside the notebook; put it into {folder} yourself")
        elif (folder / one).exists():
            notes.append(f"files: {folder / one} is there already and was left as it was")
        else:
            copied[one] = file.read_bytes()
    for one, data in copied.items():
        write_file(folder / one, data)
    write_file(target, nbformat.writes(converted.notebook).encode())
    return Written(target, converted, tuple(copied), (*converted.notes, *notes))


def _converted(path: Path) -> Converted:
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except OSError as error:
        raise GradingError(said(error)) from error
    except (UnicodeDecodeError, nbformat.reader.NotJSONError, nbformat.ValidationError, AttributeError) as error:
        raise GradingError(f"{path} is no notebook: expected the .ipynb that 'otter assign' takes") from error
    try:
        return convert(notebook)
    except GradingError as error:
        raise GradingError(f"{path}: {error}") from error
