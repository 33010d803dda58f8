"""The stored files of an assignment's exercises, in two archives: what kernels get, and what they never get.

Of each exercise ``inputs.zip`` has ``<exercise>/inputs/inputs.json`` and ``inputs.safetensors`` beside it;
``expected.zip`` has ``<exercise>/expected.safetensors`` and, where its mistakes are known by their numbers,
``<exercise>/mistakes.safetensors``.
"""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.errors import GradingError

INPUTS_ARCHIVE, EXPECTED_ARCHIVE = ARCHIVES = "inputs.zip", "expected.zip"
#: Begins the names of what kernels get.
INPUTS = "inputs/"
ABOUT, ARRAYS = f"{INPUTS}inputs.json", f"{INPUTS}inputs.safetensors"
#: The right answers, and what the solution hands over with each mistake patched into it.
EXPECTED, MISTAKES = "expected.safetensors", "mistakes.safetensors"
NAMES = ABOUT, ARRAYS, EXPECTED, MISTAKES
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest moment that an archive can hold

#: Name of a file -> content, of one exercise.
Files = dict[str, bytes]


def read_files(folder: Path, exercise: str, beginning: str = "") -> Files:
    """The stored files of an exercise whose names begin so; none where nothing is stored.

    folder: ``exercises/<assignment>``. Raises GradingError for an archive that cannot be read.
    """
    names = [name for name in NAMES if name.startswith(beginning)]
    found: Files = {}
    for path in (folder / INPUTS_ARCHIVE, *(() if beginning == INPUTS else (folder / EXPECTED_ARCHIVE,))):
        if path.is_file():
            found |= _read(path, exercise, names)
    return found


def _read(path: Path, exercise: str, names: Sequence[str]) -> Files:
    try:
        with zipfile.ZipFile(path) as archive:
            there = set(archive.namelist())
            return {name: archive.read(f"{exercise}/{name}") for name in names if f"{exercise}/{name}" in there}
    except (OSError, zipfile.BadZipFile) as error:
        raise GradingError(f"{path} cannot be read: {error}; run 'autograder references {path.parent.name}'") from error


def stored_exercises(folder: Path) -> list[str]:
    """The names of the exercises that have expected answers in ``folder``."""
    path = folder / EXPECTED_ARCHIVE
    if not path.is_file():
        return []
    with zipfile.ZipFile(path) as archive:
        return sorted({name.partition("/")[0] for name in archive.namelist()})


def write_archives(folder: Path, exercises: Mapping[str, Files]) -> None:
    """Write both archives, byte for byte the same for the same files."""
    for path, inputs in ((folder / INPUTS_ARCHIVE, True), (folder / EXPECTED_ARCHIVE, False)):
        members = {
            f"{exercise}/{name}": data
            for exercise, files in exercises.items()
            for name, data in files.items()
            if name.startswith(INPUTS) is inputs
        }
        path.write_bytes(archive_of(members))


def inputs_among(files: Files) -> Files:
    """What kernels get of an exercise's files, by the names that they find there."""
    return {name.removeprefix(INPUTS): data for name, data in files.items() if name.startswith(INPUTS)}


def lay_out(files: Files, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def archive_of(members: Mapping[str, bytes]) -> bytes:
    """A zip archive, byte for byte the same for the same members. Arrays of random numbers cannot be compressed."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), members[name])
    return data.getvalue()
