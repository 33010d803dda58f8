"""Answers, taken out of a kernel's folder by the trusted side: plain files only, no link anywhere, bounded in size."""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 16 << 20  # one cell's answers together; the judge reads less of each file, as its case asks for
MAX_FILES = 64
MAX_OF_SUBMISSION = 64 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\.safetensors")
_SLUG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Non-blocking, because a pipe that stands in a file's place would be waited on for ever.
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def collect_answers(out: Path, slug: str, answers: Path, most: int = MAX_BYTES) -> list[str]:
    """Copy ``<out>/answers/<slug>/*.safetensors`` to ``<answers>/<slug>/``.

    out: the kernel's folder for answers, itself trusted; nothing beneath it is.
    most: bytes that are taken altogether.
    Returns notes on what was not taken. A submission that handed over nothing is no error.
    Raises ValueError for a slug that is no name, OSError where ``answers`` cannot be written.
    """
    if not _SLUG.fullmatch(slug):
        raise ValueError(f"{slug!r} is not the name of a reference")
    notes: list[str] = []
    with contextlib.ExitStack() as opened:
        folder = _descend(out, ["answers", *slug.split("/")], opened)
        if folder is None:
            return [f"{slug}: no answers"]
        left = most
        for name in _names(folder, notes):
            content = _read(folder, name, left)
            if content is None:
                notes.append(f"{slug}/{name}: not a plain file, or too large together with the others")
                continue
            left -= len(content)
            target = answers / slug / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return notes


def _descend(root: Path, parts: list[str], opened: contextlib.ExitStack) -> int | None:
    """A descriptor of the folder; None where a part is missing, a link or no folder."""
    folder = os.open(root, _FOLDER)
    opened.callback(os.close, folder)
    for part in parts:
        try:
            folder = os.open(part, _FOLDER, dir_fd=folder)
        except OSError:
            return None
        opened.callback(os.close, folder)
    return folder


def _names(folder: int, notes: list[str]) -> Iterator[str]:
    """The names that answers may have, in order; a folder with very many is not read to its end."""
    names: list[str] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= MAX_FILES:
                notes.append(f"more than {MAX_FILES} files: the others were not taken")
                break
            if _NAME.fullmatch(entry.name):
                names.append(entry.name)
    yield from sorted(names)


def _read(folder: int, name: str, most: int) -> bytes | None:
    """The content of a plain file that has no other name; None for anything else, or more than ``most`` bytes."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except OSError:
        return None
    state = os.fstat(descriptor)
    if not stat.S_ISREG(state.st_mode) or state.st_nlink != 1 or state.st_size > most:
        os.close(descriptor)
        return None
    with open(descriptor, "rb") as file:
        content = file.read(most + 1)
    return content if len(content) <= most else None
