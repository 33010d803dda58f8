"""The feedback pages of a class, as files to hand out."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.files.atomic import write_file, writing

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest moment that a zip can hold

#: Student -> the names of their pages, and what is in them.
Pages = Mapping[str, Mapping[str, bytes]]


@dataclass(frozen=True)
class Packed:
    """``files``: path in the zip -> content; ``left_out``: student -> why they are not in it."""

    files: Mapping[str, bytes]
    left_out: Mapping[str, str]


def pages_of(written: Mapping[str, Sequence[Path]]) -> dict[str, dict[str, bytes]]:
    """Read the pages that ``write_feedback`` wrote."""
    return {student: {path.name: path.read_bytes() for path in paths} for student, paths in written.items()}


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """The same bytes for the same files; the whole zip or none. Raises GradingError."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in sorted(files):
            about = zipfile.ZipInfo(name, _EPOCH)
            about.external_attr = 0o100644 << 16
            archive.writestr(about, files[name], zipfile.ZIP_DEFLATED)
    write_file(path, made.getvalue())


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files, all of them side by side, into ``folder``; files of an earlier time go."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if old.name not in files and old.is_file():
                old.unlink()
    for name, data in files.items():
        write_file(folder / name, data)
